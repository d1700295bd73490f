"""Random histories hold everything hard that a scenario can, and some hold nothing of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import cache
from typing import Final

import pytest

from harness import formats
from harness.model.canonical import MapValue, Value
from harness.scenario.definition import Scenario, Step
from harness.scenario.dump import dump
from harness.scenario.load import loads
from tests.builders.random_story import story_of_seed
from tests.builders.table_story import Story

SEEDS: Final = range(300)
LEAST: Final = 8
"""Of three hundred histories; with fewer a planted defect might never meet the hard thing."""
story = cache(story_of_seed)


def columns(one: Story) -> Iterator[tuple[str, str]]:
    """Yield every name that a column or part ever had, with its type."""
    return ((each.name, str(each.type)) for truth in one.history for each in truth.schema.walk())


@cache
def values(seed: int) -> tuple[Value, ...]:
    """Return all plain values that were ever written, those in parts too."""
    versions = {id(row): row for truth in story(seed).history for row in truth.rows.values()}
    whole = (value for row in versions.values() for value in row.values.values())
    return tuple(each for value in whole for each in leaves(value))


def leaves(value: Value) -> Iterator[Value]:
    match value:
        case dict():
            parts: Iterable[Value] = value.values()
        case tuple():
            parts = value
        case MapValue():
            parts = [each for pair in value.pairs for each in pair]
        case _:
            parts = ()
            yield value
    for part in parts:
        yield from leaves(part)


def typed(*types: str) -> Callable[[int], bool]:
    return lambda seed: any(type_.startswith(types) for _, type_ in columns(story(seed)))


def called(fits: Callable[[str], bool]) -> Callable[[int], bool]:
    return lambda seed: any(fits(name) for name, _ in columns(story(seed)))


def found(fits: Callable[[Value], bool]) -> Callable[[int], bool]:
    return lambda seed: any(map(fits, values(seed)))


def explicit(seed: int) -> bool:
    return any(getattr(each, "rows", ()) for each in story(seed).operations)


def renamed_in_case(seed: int) -> bool:
    names = {name for name, _ in columns(story(seed))}
    return len({name.casefold() for name in names}) < len(names)


def partitions(number: int) -> Callable[[int], bool]:
    return lambda seed: len(story(seed).disk.table.partition_by) == number


ENDS_OF_NUMBERS: Final = (-(2**63), 2**63 - 1, -(2**31), 2**31 - 1)
HARD: Final[dict[str, Callable[[int], bool]]] = {
    "boolean": typed("boolean"),
    "date": typed("date"),
    "small integers": typed("tinyint", "smallint"),
    "all digits of a decimal": found(
        lambda v: isinstance(v, Decimal) and len(v.as_tuple().digits) == 38
    ),
    "microseconds": found(lambda v: bool(getattr(v, "microsecond", 0) % 1000)),
    "negative numbers": found(lambda v: type(v) is int and v < 0),
    "the ends of whole numbers": found(lambda v: v in ENDS_OF_NUMBERS),
    "NaN": found(lambda v: isinstance(v, float) and math.isnan(v)),
    "-0.0": found(lambda v: v == 0 and str(v) == "-0.0"),
    "infinity": found(lambda v: isinstance(v, float) and math.isinf(v)),
    "an empty text": found(lambda v: isinstance(v, str | bytes) and not v),
    "a text beyond ASCII": found(lambda v: isinstance(v, str) and not v.isascii()),
    "NULL of its own": found(lambda v: v is None),
    "explicit rows": explicit,
    "names that differ only in case": renamed_in_case,
    "names beyond ASCII": called(lambda name: not name.isascii()),
    "keywords as names": called(lambda name: name in {"select", "order", "timestamp"}),
    "very long names": called(lambda name: len(name) > 100),
    "struct in array in map": typed("map<string, array<struct<"),
    "one partition column": partitions(1),
    "two partition columns": partitions(2),
}


@pytest.mark.parametrize("what", HARD)
def test_enough_histories_have_each_hard_thing(what: str) -> None:
    assert sum(map(HARD[what], SEEDS)) >= LEAST


def test_most_histories_have_something_hard_and_many_are_plain() -> None:
    named = called(lambda name: not name.isascii() or len(name) > 100)
    wide = typed("decimal(38", "array<struct", "array<double", "map<string, array", "map<string, d")
    hard = (explicit, named, wide, renamed_in_case, partitions(2))
    plain = [seed for seed in SEEDS if not any(each(seed) for each in hard)]
    assert len(SEEDS) // 6 < len(plain) < len(SEEDS) // 2


@pytest.mark.parametrize("seed", SEEDS[:60])
def test_every_history_is_a_scenario_that_a_file_can_hold(seed: int) -> None:
    one = story(seed)
    steps = tuple(map(Step, one.operations))
    capitals = any(name != name.lower() for name, _ in columns(one))
    scenario = Scenario(
        "family/told", one.disk.table, steps, formats=("iceberg",) if capitals else ()
    )
    again = loads(dump(scenario), "family/told.yaml", formats.keeping_case())
    assert len(again.steps) == len(steps)

"""What holds for every history, over some made by chance."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import pytest

from harness.core.records import FindingKind
from harness.judge.difference import DifferenceKind
from harness.model.canonical import MapValue, Value, same, text_of
from harness.model.conversion import cast_text
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from harness.model.truth import row_values
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_disk import instant_of
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, diagnosed, places

WAYS = [
    ("id", ColumnMapping.ID),
    ("name", ColumnMapping.NAME),
    ("position", ColumnMapping.POSITION),
]
SEEDS = range(80)

story = cache(story_of_seed)


def texts(rows: Iterable[tuple[Value, ...]]) -> list[tuple[str, ...]]:
    return sorted(tuple(map(text_of, row)) for row in rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_predicted_answers_are_those_of_a_simulated_reader(seed: int) -> None:
    one = story(seed)
    files = [file.fact() for file in one.disk.files]
    steps = {instant_of(step): step for step in range(len(one.history))}
    for by, way in WAYS:
        for logs in ("merged", "ignored"):
            kind = Logs.MERGED if logs == "merged" else Logs.IGNORED
            predicted = Simulation(one.history, files, steps).rows(ReadStrategy(way, kind))
            assert texts([each.values for each in predicted]) == texts(one.read(by, logs=logs).rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_wrong_value_is_in_exactly_one_finding_and_no_right_one_is(seed: int) -> None:
    one = story(seed)
    for by, _ in WAYS:
        reply = one.read(by, logs="ignored")
        explained = [
            (place.key, place.column.replace("[", ".").partition(".")[0], place.column)
            for finding in diagnosed(one, reply)
            for place in finding.places
        ]
        assert [each for each, times in Counter(explained).items() if times > 1] == []
        cells = {(key, column) for key, column, _ in explained if key and column}
        assert cells == set(wrong_cells(one, reply))


def wrong_cells(one: Story, reply: Reply) -> Iterator[tuple[str, str]]:
    """Tell the wrong cells by looking at each row, its key taken from the files."""
    keys = [key for base, _ in one.disk.slices(10**6).values() for key in base.records]
    for key, found in zip(keys, reply.rows, strict=True):
        if key in one.truth.rows:
            expected = row_values(one.truth.rows[key], one.truth.schema)
            for name, left, right in zip(reply.names, expected, found, strict=True):
                if not same(left, right):
                    yield text_of(key), name


@pytest.mark.parametrize("seed", SEEDS)
def test_names_fit_what_the_truth_knows_of_the_values(seed: int) -> None:
    one = story(seed)
    dropped = {f.id for truth in one.history for f in truth.schema.walk()} - {
        f.id for f in one.truth.schema.walk()
    }
    for by, _ in WAYS:
        for finding in diagnosed(one, one.read(by, logs="ignored")):
            for place in finding.places:
                origin = place.origin
                if finding.kind is FindingKind.RESURRECTED:
                    assert origin is not None
                    assert origin.field_id in dropped
                if finding.kind in {FindingKind.MISALIGNED, FindingKind.STALE}:
                    assert origin is not None
                    assert origin.key == place.key
                    assert holds(one, origin.field_id, place.key, place.actual)


def holds(one: Story, field_id: int, key: str, found: Value) -> bool:
    """Look the value up in the truth: a version of that field of that row shows it."""
    shown = {text_of(None)} if found is None else set()
    for truth in one.history:
        for row in truth.rows.values():
            if text_of(row.key) == key:
                for field, value in zip(
                    truth.schema.fields, row_values(row, truth.schema), strict=True
                ):
                    ids = {each.id for each in field.walk()}
                    shown |= set(parts(value)) if field_id in ids else set()
    text = text_of(found)
    # A date under a timestamp, a number under a char.
    return bool({text, text.removesuffix(" 00:00:00"), text.rstrip()} & shown)


def parts(value: Value) -> Iterator[str]:
    yield text_of(value)
    match value:
        case datetime.datetime():
            yield cast_text(value)  # a time under a text
            inner: Iterable[Value] = ()
        case dict():
            inner = value.values()
        case tuple():
            inner = value
        case MapValue():
            inner = [pair for _, pair in value.pairs]
        case _:
            inner = ()
    for each in inner:
        yield from parts(each)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stale_snapshot_is_never_called_anything_else(seed: int) -> None:
    one = story(seed)
    kinds = {finding.kind for finding in diagnosed(one, one.read("id", logs="ignored"))}
    assert kinds <= {FindingKind.STALE, FindingKind.GHOST_ROW}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_without_places_is_the_expected_one(seed: int) -> None:
    one = story(seed)
    for by, _ in WAYS:
        reply = one.read(by)
        right = texts(tuple(row_values(row, one.truth.schema) for row in one.truth.rows.values()))
        wrong = [
            place for place in places(one, reply) if place.kind is not DifferenceKind.COLUMN_TYPE
        ]
        assert (texts(reply.rows) == right) == (wrong == [])

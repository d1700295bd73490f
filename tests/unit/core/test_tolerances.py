"""Differences that are not errors: what is declared is evened out, and nothing beyond it."""

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import formats
from harness.artifacts import distributions
from harness.core import open_cases, tolerances
from harness.core.errors import ScenarioProblem
from harness.core.open_cases import OpenCondition, load
from harness.core.tolerances import (
    Declared,
    Normalised,
    Tally,
    declared_for,
    merged,
    product,
    products,
)
from harness.engines.hive import values as hive_values
from harness.engines.trino import values as trino_values
from harness.engines.trino.values import WireType
from harness.model.canonical import Value, same, single
from harness.model.datatypes import parse_type

ZONED = WireType("timestamp with time zone", numbers=(3,))
MICROS = WireType("timestamp with time zone", numbers=(6,))
ALL = [(name, declaration) for name in products() for declaration in declared_for(name).values()]


def by_hive(raw: Value, kind: str, declared: Declared) -> Value:
    return hive_values.canonical(raw, parse_type(kind), Tally(declared))


def by_trino(raw: Value, declared: Declared) -> Value:
    return trino_values.value_of(raw, WireType("real"), Tally(declared))


READ: dict[str, Callable[[Declared], bool]] = {
    "nested-text": lambda declared: by_hive("[1]", "array<int>", declared) == (1,),
    "decimal-zeros": lambda declared: (
        str(by_hive(Decimal("1.1"), "decimal(5, 2)", declared)) == "1.10"
    ),
    "float-text": lambda declared: by_trino(0.1, declared) == single(0.1),
    "timestamp-digits": lambda declared: (
        trino_values.canonical(WireType("timestamp", numbers=(9,)), Tally(declared)) == "timestamp"
    ),
    "timestamp-in-utc": lambda declared: (
        trino_values.canonical(ZONED, Tally(declared)) == "timestamp"
    ),
    "timestamptz-in-utc": lambda declared: (
        trino_values.canonical(MICROS, Tally(declared)) == "timestamp"
    ),
}
"""What each declaration makes right where an answer is read."""
JUDGED = {
    *("timestamp-milliseconds", "kind-of-type", "bounded-text", "timestamp-zone", "one-timestamp"),
    *("lower-case-names", "avro-integers"),
}
"""Those that are applied where an answer is judged: see test_judging_differences."""


@pytest.mark.parametrize(
    ("name", "declaration"), ALL, ids=lambda declaration: getattr(declaration, "name", declaration)
)
def test_every_declaration_is_needed_says_its_reason_and_its_source(
    name: str, declaration: tolerances.Declaration
) -> None:
    assert declaration.name in JUDGED or READ[declaration.name](declared_for(name))
    assert declaration.name in JUDGED or not READ[declaration.name]({})
    of = declaration
    assert all((of.what, of.form, of.to, of.limit, of.reason, of.source, of.types))


def test_nothing_is_tested_that_is_not_declared() -> None:
    assert READ.keys() | JUDGED == {declaration.name for _, declaration in ALL}


def test_every_product_that_has_declarations_is_one_that_reads() -> None:
    every = map(distributions.load, distributions.names())
    readers = {product(distribution.name) for distribution in every if distribution.is_asked}
    assert set(products()) <= readers
    assert declared_for("engine-1{path=fetch}") == {}


def formats_of(reader: str, declaration: str) -> list[str]:
    every = formats.names()
    return [f for f in every if declaration in tolerances.declared_for_format(reader, f)]


def test_what_is_reported_of_one_formats_tables_holds_for_no_other_ones() -> None:
    assert formats_of("spark-3.5.8", "timestamp-zone") == ["iceberg"]
    assert formats_of("spark-3.5.8", "bounded-text") == list(formats.names())
    assert formats_of("datafusion-54.1.0", "one-timestamp") == ["hive-parquet"]
    of_metastore = [name for name in formats.names() if name.startswith("hive-")]
    assert sorted(formats_of("spark-3.5.8", "one-timestamp")) == sorted(of_metastore)


def test_what_is_not_declared_for_a_type_stays_as_it_came_and_is_not_counted() -> None:
    tally = Tally(declared_for("hive"))
    assert tally.normalise("float-text", "double", 0.1, single(0.1)) == 0.1
    assert tally.normalise("no-such", "float", 0.1, single(0.1)) == 0.1
    assert tally.applied() == ()
    tally = Tally(declared_for("trino"))
    for sent in (0.5, 0.1, 0.2):
        tally.normalise("float-text", "float", sent, single(sent))
    assert tally.applied() == (Normalised("float-text", 2),), "only what differs is counted"


def test_what_was_applied_to_parts_is_added_up_by_name() -> None:
    one, two = (Normalised("b", 1), Normalised("a", 2)), (Normalised("b", 3),)
    assert merged(one, two, ()) == (Normalised("a", 2), Normalised("b", 4))


@given(st.integers(-(10**9), 10**9), st.integers(0, 6))
def test_zeros_are_given_back_to_a_decimal_and_no_other_digit_is_changed(
    digits: int, scale: int
) -> None:
    value, kind = Decimal(digits).scaleb(-scale), f"decimal(20, {scale})"
    sent = Decimal(f"{value.normalize():f}")
    assert same(by_hive(sent, kind, declared_for("hive")), value)
    assert same(by_hive(f"[{sent}]", f"array<{kind}>", declared_for("hive")), (value,))
    finer = value + Decimal(1).scaleb(-scale - 1)
    assert by_hive(finer, kind, declared_for("hive")) == finer != value


WITH_ZONE = {"moments": "timestamptz"}


@pytest.mark.parametrize(
    ("format_name", "settings", "kind"),
    [
        *((name, {}, ZONED) for name in ("", "iceberg", "hive-parquet", "hudi-cow")),
        *((name, {}, MICROS) for name in ("", "iceberg", "delta", "hive-parquet", "hudi-cow")),
        ("iceberg", WITH_ZONE, ZONED),
        ("iceberg", {"moments": "timestamp"}, MICROS),
        ("delta", WITH_ZONE, MICROS),
    ],
)
def test_a_timestamp_with_a_zone_is_taken_for_a_moment_only_where_a_format_has_just_that_type(
    format_name: str, settings: Mapping[str, str], kind: WireType
) -> None:
    tally = Tally(tolerances.declared_for_format("trino", format_name, settings))
    text = "2024-01-02 03:04:05.678 UTC"
    assert trino_values.canonical(kind, tally) == ""
    assert trino_values.value_of(text, kind, tally) == text


@pytest.mark.parametrize(
    ("format_name", "settings", "kind"), [("delta", {}, ZONED), ("iceberg", WITH_ZONE, MICROS)]
)
def test_a_moment_with_its_zone_is_the_moment_in_utc_and_one_of_another_zone_stays_a_text(
    format_name: str, settings: Mapping[str, str], kind: WireType
) -> None:
    tally = Tally(tolerances.declared_for_format("trino", format_name, settings))
    assert trino_values.canonical(kind, tally) == "timestamp"
    shown = trino_values.value_of("2024-01-02 03:04:05.678 UTC", kind, tally)
    assert shown == datetime.datetime(2024, 1, 2, 3, 4, 5, 678_000)  # noqa: DTZ001 - no zone
    for zone in ("Europe/Berlin", "+01:00"):
        text = f"2024-01-02 04:04:05.678 {zone}"
        assert trino_values.value_of(text, kind, tally) == text


LINE = """\
- name: a-name
  formats: [iceberg]
  condition: parts-newer-than-file
  what: what is left open
  specification: a paragraph
  silent: why it settles nothing
  seen: who answers so
"""
FORMATS = tuple(formats.names())


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioProblem) as raised:
        load(text, "open_cases.yaml", FORMATS)
    return str(raised.value).splitlines()


def test_a_line_has_all_that_identifies_an_open_answer() -> None:
    (case,) = load(LINE, "open_cases.yaml", FORMATS)
    assert case.text == "a-name: what is left open. a paragraph: why it settles nothing"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[iceberg]", "[iceberk]", "open_cases.yaml:2: there is no format 'iceberk'; allowed: "),
        ("[iceberg]", "[]", "open_cases.yaml:2: no format is named; name one at least"),
        ("parts-newer-than-file", "any-answer", "open_cases.yaml:3: "),
        (
            "a paragraph",
            '" "',
            "open_cases.yaml:5: 'specification' is empty; it must say something",
        ),
        ("  silent: why it settles nothing\n", "", "open_cases.yaml:"),
        ("  seen: who", "  reader: pyiceberg\n  seen: who", "open_cases.yaml:7: "),
    ],
    ids=["format", "no format", "condition", "empty", "left out", "a reader's name"],
)
def test_what_is_not_as_it_must_be_is_reported_with_its_line(
    old: str, new: str, problem: str
) -> None:
    assert old in LINE
    lines = problems(LINE.replace(old, new))
    assert [line.startswith(problem) for line in lines] == [True]


def test_a_name_stands_once() -> None:
    assert problems(LINE + LINE) == [
        "open_cases.yaml:8: 'a-name' is there already; each name stands once"
    ]


def test_each_shipped_line_is_of_a_format_that_there_is_and_each_condition_has_one() -> None:
    shipped = [(name, case) for name in FORMATS for case in open_cases.of_format(name)]
    assert shipped
    for name, case in shipped:
        assert set(case.formats) <= set(FORMATS)
        assert name in case.formats
    assert {case.condition for _, case in shipped} == set(OpenCondition)

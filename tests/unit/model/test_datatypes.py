import pytest
from hypothesis import given, settings

from harness.model.canonical import Value
from harness.model.datatypes import ALIASES, FORMS, PRIMITIVES, DataType, TypeTextError, parse_type
from harness.model.file_facts import ColumnStatistics, StatisticsSource, bound
from harness.model.query import Comparison, Condition
from tests.builders.random_scenarios import TYPES


@settings(max_examples=40)
@given(TYPES)
def test_every_type_is_read_back_from_its_text(type_: DataType) -> None:
    assert parse_type(str(type_)) == type_


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("number", "'number' is not a type; allowed: boolean, tinyint"),
        ("", "is not a type"),
        ("int int", "nothing may follow 'int'"),
        ("decimal(2, 3)", "0 <= scale <= precision <= 38"),
        ("decimal(a, 3)", "a number expected"),
        ("char(0)", "allowed is 1 to 255"),
        ("varchar(65536)", "allowed is 1 to 65535"),
        ("decimal", "'decimal' is not a whole type; write \"decimal(10, 2)\""),
        ("bigint", "'bigint' is not a type here; write long"),
        ("numeric(10, 2)", 'write "decimal(10, 2)"'),
        ("VARCHAR(20)", "'VARCHAR' is not a type here; write varchar(20)"),
        ("struct<>", "a child's name expected"),
        ("struct<a: int, a: long>", "names each child once"),
        ("struct<a: int", "',' or '>' expected, found 'the end'"),
        ("map<int>", "',' expected"),
        ("int;", "';' has no place in one"),
    ],
)
def test_what_is_no_type_is_refused_and_what_is_allowed_is_reported(
    text: str, problem: str
) -> None:
    with pytest.raises(TypeTextError) as wrong:
        parse_type(text)
    assert problem in str(wrong.value)


def test_what_is_written_instead_of_an_alias_is_a_type() -> None:
    written = [*ALIASES.values(), *FORMS.values()]
    assert written
    assert all(parse_type(text.strip('"')) for text in written)
    assert not set(ALIASES) & {*PRIMITIVES, *FORMS}


def bounds(
    least: Value = None, greatest: Value = None, *, nulls: int | None = 0, rows: int = 2
) -> ColumnStatistics:
    return ColumnStatistics(
        StatisticsSource.PARQUET, "f", "x", rows, nulls, bound(least), bound(greatest)
    )


def on(test: Comparison, literal: str = "", type_: str = "int") -> Condition:
    return Condition("x", test, literal, type_)


@pytest.mark.parametrize(
    ("stored", "condition", "excluded"),
    [
        (bounds(1, 3), on(Comparison.EQUAL, "2"), False),
        (bounds(1, 3), on(Comparison.EQUAL, "4"), True),
        (bounds(1, None), on(Comparison.EQUAL, "4"), False),
        (bounds(1, 3), on(Comparison.AT_LEAST, "3"), False),
        (bounds(1, 3), on(Comparison.AT_LEAST, "4"), True),
        (bounds(1, 3), on(Comparison.NULL), True),
        (bounds(1, 3, nulls=None), on(Comparison.NULL), False),
        (bounds(nulls=2), on(Comparison.NOT_NULL), True),
        (bounds(nulls=2), on(Comparison.EQUAL, "2"), True),
        (bounds(nulls=0, rows=0), on(Comparison.NOT_NULL), False),
        (bounds("1", "3"), on(Comparison.EQUAL, "4"), False),
        (bounds(float("nan"), float("nan")), on(Comparison.EQUAL, "2.0", "double"), False),
        (bounds("ab", "ab"), on(Comparison.EQUAL, "ab  ", "char(4)"), False),
        (bounds("ab", "ab"), on(Comparison.EQUAL, "abc ", "char(4)"), True),
    ],
)
def test_what_statistics_exclude(
    stored: ColumnStatistics, condition: Condition, *, excluded: bool
) -> None:
    assert stored.excludes(condition) == excluded


def test_statistics_are_reported_in_a_line() -> None:
    assert str(bounds(1, 3)) == "the Parquet footer on x in 2 rows of f: 1 to 3, 0 NULL"
    assert str(bounds(nulls=None)).endswith("f: not stored to not stored, NULLs not counted")

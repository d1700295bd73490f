"""What stored statistics exclude."""

from __future__ import annotations

import pytest

from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, StatisticsSource, bound
from harness.model.query import Comparison, Condition


def told(
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
        (told(1, 3), on(Comparison.EQUAL, "2"), False),
        (told(1, 3), on(Comparison.EQUAL, "4"), True),
        (told(1, None), on(Comparison.EQUAL, "4"), False),
        (told(1, 3), on(Comparison.AT_LEAST, "3"), False),
        (told(1, 3), on(Comparison.AT_LEAST, "4"), True),
        (told(1, 3), on(Comparison.NULL), True),
        (told(1, 3, nulls=None), on(Comparison.NULL), False),
        (told(nulls=2), on(Comparison.NOT_NULL), True),
        (told(nulls=2), on(Comparison.EQUAL, "2"), True),
        (told(nulls=0, rows=0), on(Comparison.NOT_NULL), False),
        (told("1", "3"), on(Comparison.EQUAL, "4"), False),
        (told(float("nan"), float("nan")), on(Comparison.EQUAL, "2.0", "double"), False),
        (told("ab", "ab"), on(Comparison.EQUAL, "ab  ", "char(4)"), False),
        (told("ab", "ab"), on(Comparison.EQUAL, "abc ", "char(4)"), True),
    ],
)
def test_what_statistics_exclude(
    stored: ColumnStatistics, condition: Condition, *, excluded: bool
) -> None:
    assert stored.excludes(condition) == excluded


def test_statistics_are_said_in_a_line() -> None:
    assert str(told(1, 3)) == "the Parquet footer on x in 2 rows of f: 1 to 3, 0 NULL"
    assert str(told(nulls=None)).endswith("f: not stored to not stored, NULLs not counted")

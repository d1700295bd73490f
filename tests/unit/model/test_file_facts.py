"""What stored statistics exclude."""

from __future__ import annotations

import pytest

from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, StatisticsSource, bound
from harness.model.query import Comparison, Condition


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

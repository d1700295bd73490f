"""Conditions whose literal every engine compares alike, for the values that a table has.

The value is that of the row that has lain longest in a file that nobody rewrote.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Final

from harness.model.canonical import Look, Value, look_of
from harness.model.conversion import cast_text
from harness.model.datatypes import DataType, Decimal, Text
from harness.model.query import Comparison, Condition, at
from harness.model.truth import Group, Row, Truth, row_values

TIMES: Final = {"timestamp", "timestamp_ntz"}
INTEGERS: Final = {"tinyint", "smallint", "int", "long"}
COMPARABLE: Final = {"boolean", "float", "double", "string", "date", *INTEGERS, *TIMES}
"""Types whose literals mean the same everywhere, beside decimals and bounded texts: every
session is in UTC."""
_MILLISECOND: Final = 1000
"""Microseconds; some engines have no finer times, so no literal is."""


class NoQuestionError(Exception):
    """There is nothing to ask: no such column, or no value to compare with; the message says so."""


def condition(truth: Truth, path: str, type_: DataType) -> Condition:
    """Return the equality with the first value that has a literal, or else whether there is one."""
    values = [value for value in by_age(truth, path) if value is not None]
    if not values:
        return Condition(path, Comparison.NULL)
    literals = (literal_of(value, type_) for value in values)
    literal = next((literal for literal in literals if literal is not None), None)
    if literal is None:
        return Condition(path, Comparison.NOT_NULL)
    return Condition(path, Comparison.EQUAL, literal, str(type_))


def of_same_row(truth: Truth, first: Condition, path: str, type_: DataType) -> Condition:
    """Return the condition on a second column that the oldest row meets which meets the first."""
    pairs = zip(by_age(truth, first.path), by_age(truth, path), strict=True)
    values = [value for one, value in pairs if first.holds(one)]
    return _of_value(path, values[0], type_) if values else condition(truth, path, type_)


def _of_value(path: str, value: Value, type_: DataType) -> Condition:
    literal = None if value is None else literal_of(value, type_)
    if literal is None:
        return Condition(path, Comparison.NULL if value is None else Comparison.NOT_NULL)
    return Condition(path, Comparison.EQUAL, literal, str(type_))


def of_partition(truth: Truth, path: str, type_: DataType, number: int) -> Condition:
    """Return the condition that takes one partition, counted from 1, the oldest first.

    Raises:
        NoQuestionError: there are not so many.

    """
    values = distinct(truth, path)
    if number > len(values):
        raise NoQuestionError(f"{path} has {len(values)} values")
    return _of_value(path, values[number - 1], type_)


def since(truth: Truth, path: str, type_: DataType) -> Condition:
    """Return the condition that leaves out the older half of a column's values.

    Raises:
        NoQuestionError: no value has a literal.

    """
    values = {value for value in by_age(truth, path) if value is not None}
    literals = [text for value in values if (text := literal_of(value, type_)) is not None]
    if not literals:
        raise NoQuestionError(f"{path} has no value that can be compared with")
    literal = sorted(literals)[len(literals) // 2]
    return Condition(path, Comparison.AT_LEAST, literal, str(type_))


def distinct(truth: Truth, path: str) -> list[Value]:
    """Return the values of a column, each once, NULL too, those in the oldest files first."""
    found: dict[Look, Value] = {}
    for value in by_age(truth, path):
        found.setdefault(look_of(value), value)
    return list(found.values())


def by_age(truth: Truth, path: str) -> Iterator[Value]:
    """Yield the values of a column, those of the rows in the oldest files first."""
    for row in sorted(truth.rows.values(), key=_age(truth)):
        yield at(dict(zip(truth.schema.names, row_values(row, truth.schema), strict=True)), path)


def literal_of(value: Value, type_: DataType) -> str | None:
    """Return the text of a value that every engine compares alike; None where there is none."""
    comparable = isinstance(type_, Decimal | Text) or str(type_) in COMPARABLE
    if not comparable or (isinstance(value, float) and not value):
        return None  # 0.0 and -0.0 are equal in SQL, and two values to us
    if isinstance(value, datetime.datetime) and value.microsecond % _MILLISECOND:
        return None
    try:
        return cast_text(value)
    except ValueError:
        return None


def _age(truth: Truth) -> Callable[[Row], tuple[bool, int, int]]:
    """Return the order in which rows are looked at: the ones in the oldest files first.

    Rows alike in that stay in the order in which they were first written.
    """
    newest: dict[Group, int] = {}
    for row in truth.rows.values():
        newest[row.group] = max(newest.get(row.group, 0), _written(row))

    def age(row: Row) -> tuple[bool, int, int]:
        in_log = truth.base.get(row.key) is not row
        return in_log, newest[row.group], _written(row)

    return age


def _written(row: Row) -> int:
    return max(row.written.values(), default=0)

"""What is asked of a table: which columns, of which rows, or one figure of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from harness.model.canonical import Unpredicted, Value, equal, is_nan
from harness.model.conversion import convert
from harness.model.datatypes import parse_type

COUNT: Final = "count(*)"
"""What the one column of a count is called, whatever label an engine gives it."""
AGGREGATE: Final = re.compile(r"count\(\*\)|(?P<extreme>(min|max)\(.*\))", re.DOTALL)


class Comparison(StrEnum):
    EQUAL = "equal"
    NULL = "null"
    NOT_NULL = "not_null"
    AT_LEAST = "at_least"


class Extreme(StrEnum):
    """An aggregate that is one of the values of a column."""

    MIN = "min"
    MAX = "max"

    def of(self, values: Iterable[Value]) -> Value:
        """Return the least or the greatest value that is not NULL, and NULL where there is none.

        Raises ValueError: a value is not predicted, or values have no order among them.
        """
        there = [value for value in values if value is not None]
        if any(isinstance(value, Unpredicted) for value in there):
            raise ValueError("a value is not predicted")
        if any(map(is_nan, there)):
            raise ValueError("engines do not agree on the place of NaN in the order of numbers")
        try:
            return (min if self is Extreme.MIN else max)(there, default=None)
        except TypeError as mixed:
            raise ValueError(f"these values have no order: {mixed}") from mixed


@dataclass(frozen=True, slots=True)
class Condition:
    path: str
    """Dotted."""
    test: Comparison
    literal: str = ""
    """The value that is compared with, as `conversion.cast_text` writes it."""
    type: str = ""
    """The type of that value, in our words."""

    @property
    def value(self) -> Value:
        return _typed(self.literal, self.type)

    def holds(self, value: Value) -> bool:
        """Return whether SQL lets a row with this value pass; NULL equals nothing.

        Blanks at the end do not count where the type is a `char` (SQL:2016, 8.2).

        Raises ValueError: the value is not predicted, or cannot be compared.
        """
        match value, self.test:
            case Unpredicted(), _:
                raise ValueError(f"what a reader shows of {self.path} is not predicted")
            case _, Comparison.NULL:
                return value is None
            case _, Comparison.NOT_NULL:
                return value is not None
            case _, Comparison.AT_LEAST:
                return value is not None and not_less(value, self.value)
        if self.type.startswith("char(") and isinstance(value, str):
            return bool(value.rstrip(" ") == self.value.rstrip(" "))
        return equal(value, self.value)


@lru_cache(1024)
def _typed(literal: str, type_: str) -> Value:
    return literal == "true" if type_ == "boolean" else convert(literal, parse_type(type_))


def not_less(value: Value, than: Value) -> bool:
    """Return whether a value stands after another one, or is the same.

    Raises ValueError: they have no order.
    """
    if is_nan(value) or is_nan(than):
        raise ValueError("engines do not agree on the place of NaN in the order of numbers")
    try:
        return bool(value >= than)
    except TypeError as mixed:
        raise ValueError(f"{value!r} and {than!r} have no order") from mixed


def not_null(path: str) -> Condition:
    return Condition(path, Comparison.NOT_NULL)


@dataclass(frozen=True, slots=True)
class Query:
    """A question without a table."""

    columns: tuple[str, ...] = ()
    """Dotted paths to select; empty for all columns (`select *`)."""
    where: Condition | None = None
    """Only rows for which it holds."""
    count: bool = False
    """Ask for the number of rows only."""
    also: Condition | None = None
    """A second condition that must hold as well."""
    extreme: Extreme | None = None
    """Ask for the least or the greatest value of the one column only."""

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return tuple(condition for condition in (self.where, self.also) if condition is not None)

    @property
    def filters(self) -> tuple[str, ...]:
        return tuple(condition.path for condition in self.conditions)

    @property
    def label(self) -> str:
        """What the one column of an aggregate is called; empty where rows are asked for."""
        if self.count:
            return COUNT
        return f"{self.extreme}({self.columns[0]})" if self.extreme else ""

    def labels(self, names: Sequence[str]) -> tuple[str, ...]:
        return (self.label,) if self.label else self.columns or tuple(names)

    def answer(
        self, names: Sequence[str], rows: Iterable[Sequence[Value]]
    ) -> list[tuple[Value, ...]]:
        """Return the rows of the answer, `rows` being all of the table in the order of `names`."""
        tables = (dict(zip(names, row, strict=True)) for row in rows)
        taken = [values for values in tables if self.takes(values)]
        if self.count:
            return [(len(taken),)]
        if self.extreme:
            return [(self.extreme.of(at(values, self.columns[0]) for values in taken),)]
        return [tuple(at(values, path) for path in self.labels(names)) for values in taken]

    def takes(self, values: Mapping[str, Value]) -> bool:
        return all(condition.holds(at(values, condition.path)) for condition in self.conditions)


ALL: Final = Query()
"""`select *`."""


def at(values: Mapping[str, Value], path: str) -> Value:
    """Return the value at a dotted path of a row; NULL below what is no struct."""
    head, *rest = path.split(".")
    value = values.get(head)
    if isinstance(value, Unpredicted):
        return value
    for name in rest:
        value = value.get(name) if isinstance(value, dict) else None
    return value

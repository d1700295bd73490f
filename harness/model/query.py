"""What is asked of a table: which columns, of which rows, or one figure of all of them."""

import datetime
import decimal
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field

from harness.model.canonical import Unpredicted, Value, equal, is_nan
from harness.model.conversion import cast_text, convert
from harness.model.datatypes import parse_type

ROW_COUNT: Final = "row_count"
"""What the number of a group's rows is called."""
LINEAGE: Final = "_row_id", "_last_updated_sequence_number"
"""The columns that say where rows come from, of Iceberg's format version 3 (specification, "Row
Lineage")."""
COUNT: Final = "count(*)"
"""What the one column of a count is called, whatever label an engine gives it."""
AGGREGATE: Final = re.compile(r"count\(\*\)|(?P<extreme>(min|max)\(.*\))", re.DOTALL)


class Comparison(StrEnum):
    """What a condition asks of a value: with `NULL` and `NOT_NULL` aside, NULL meets none.

    SQL:2016, 8.2 to 8.8: each is unknown of NULL, and so is its negation, `not in` with NULL in
    the list of every value.
    """

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    NOT = "not"
    """`not (… = …)`, which readers push down otherwise than `<>`."""
    LESS = "less"
    AT_MOST = "at_most"
    GREATER = "greater"
    AT_LEAST = "at_least"
    BETWEEN = "between"
    IN = "in"
    NOT_IN = "not_in"
    STARTS_WITH = "starts_with"
    NULL = "null"
    NOT_NULL = "not_null"
    NAN = "nan"
    """Whether a value is NaN, in whatever words of an engine that mean it: to some NaN equals
    itself, to others it equals nothing."""
    NOT_NAN = "not_nan"


ON_NULL: Final = frozenset({Comparison.NULL, Comparison.NOT_NULL})
VALUES: Final[Mapping[Comparison, range]] = {
    **dict.fromkeys(Comparison, range(1, 2)),
    **dict.fromkeys((*ON_NULL, Comparison.NAN, Comparison.NOT_NAN), range(1)),
    **dict.fromkeys((Comparison.IN, Comparison.NOT_IN), range(1, 101)),
    Comparison.BETWEEN: range(2, 3),
}
"""How many values each is asked with."""
NULL_IN_LIST: Final = "null_in_list"
MICROSECONDS: Final = "microseconds"
"""Needs of a condition that not every engine meets, beside its comparison."""
_MILLISECOND: Final = 1000
"""Microseconds."""


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
    """The value that is compared with, as `literal_text` writes it."""
    type: str = ""
    """The type of that value, in our words."""
    more: Annotated[tuple[str | None, ...], Field(exclude_if=lambda more: not more)] = ()
    """The upper bound of `between`, the other values of a list; None for NULL."""

    @property
    def value(self) -> Value:
        return _typed(self.literal, self.type)

    @property
    def literals(self) -> tuple[str | None, ...]:
        return (self.literal, *self.more) if VALUES[self.test][-1] else ()

    @property
    def values(self) -> tuple[Value, ...]:
        texts = self.literals
        return tuple(None if text is None else _typed(text, self.type) for text in texts)

    @property
    def needs(self) -> tuple[str, ...]:
        """What an engine must be able to be asked."""
        finer = any(
            isinstance(value, datetime.datetime) and value.microsecond % _MILLISECOND
            for value in self.values
        )
        also = ((NULL_IN_LIST, None in self.more), (MICROSECONDS, finer))
        return (str(self.test), *(need for need, has in also if has))

    def holds(self, value: Value) -> bool:
        """Return whether SQL lets a row with this value pass: what is unknown does not.

        Raises ValueError: the value is not predicted, or cannot be compared.
        """
        return self.truth_of(value) is True

    def truth_of(self, value: Value) -> bool | None:
        """Return what the condition is of a value; None for unknown. Raises as `holds` does.

        Blanks at the end do not count where the type is a `char` (SQL:2016, 8.2).
        """
        if isinstance(value, Unpredicted):
            raise ValueError(f"what a reader shows of {self.path} is not predicted")  # noqa: TRY004
        match self.test:
            case Comparison.NULL | Comparison.NOT_NULL:
                return (value is None) is (self.test is Comparison.NULL)
            case _ if value is None:
                return None
            case Comparison.NAN | Comparison.NOT_NAN:
                return is_nan(value) is (self.test is Comparison.NAN)
            case Comparison.EQUAL | Comparison.IN:
                return self._among(value)
            case Comparison.NOT_EQUAL | Comparison.NOT | Comparison.NOT_IN:
                _check_kind(value, self.value)
                return None if (among := self._among(value)) is None else not among
            case Comparison.STARTS_WITH:
                _check_kind(value, self.value)
                return bool(value.startswith(self.value))
        return self._in_range(value)

    def _among(self, value: Value) -> bool | None:
        for other in self.values:
            if other is not None and self._is(value, other):
                return True
        return None if None in self.more else False

    def _is(self, value: Value, other: Value) -> bool:
        if self.type.startswith("char(") and isinstance(value, str):
            return bool(value.rstrip(" ") == other.rstrip(" "))
        return equal(value, other)

    def _in_range(self, value: Value) -> bool:
        first, *last = self.values
        if is_nan(value) and self.test not in {Comparison.GREATER, Comparison.AT_LEAST}:
            return False  # NaN is less than nothing, whether it is the greatest or has no place
        match self.test:
            case Comparison.LESS:
                return not not_less(value, first)
            case Comparison.AT_MOST:
                return not_less(first, value)
            case Comparison.GREATER:
                return not not_less(first, value)
            case Comparison.BETWEEN:
                return not_less(value, first) and not_less(last[0], value)
        return not_less(value, first)

    def excluded_by(self, least: Value, greatest: Value) -> bool:
        """Return whether no value from the least to the greatest one can meet it, NULL aside.

        A bound that is not known is None. One that is NaN counts for nothing (Parquet,
        `ColumnOrder`; Iceberg, "Manifests"), nor do bounds tell of NaN.
        """
        least, greatest, *values = (
            value.rstrip(" ") if isinstance(value, str) and self.type.startswith("char(") else value
            for value in (least, greatest, *self.values)
        )
        first, last = (values[0], values[-1]) if values else (None, None)
        match self.test:
            case Comparison.EQUAL | Comparison.IN:
                there = [value for value in values if value is not None]
                return all(less(value, least) or less(greatest, value) for value in there)
            case Comparison.NOT_EQUAL | Comparison.NOT | Comparison.NOT_IN:
                alone = least is not None and greatest is not None and equal(least, greatest)
                return alone and self._among(least) is not False
            case Comparison.LESS:
                return less(first, least) or (least is not None and equal(first, least))
            case Comparison.AT_MOST:
                return less(first, least)
            case Comparison.GREATER:
                return less(greatest, first) or (greatest is not None and equal(greatest, first))
            case Comparison.AT_LEAST:
                return less(greatest, first)
            case Comparison.BETWEEN:
                return less(last, least) or less(greatest, first)
            case Comparison.STARTS_WITH:
                after = less(first, least) and not str(least).startswith(str(first))
                return after or less(greatest, first)
        return False


@lru_cache(1024)
def _typed(literal: str, type_: str) -> Value:
    return literal == "true" if type_ == "boolean" else convert(literal, parse_type(type_))


def literal_text(value: Value) -> str:
    """Return the text of a value as a condition has it. Raises ValueError: it has parts."""
    return repr(value) if isinstance(value, float) else cast_text(value)


def less(one: Value, other: Value) -> bool:
    """Return whether one value is less; never where one is NULL, NaN or of its own kind."""
    if one is None or other is None:
        return False
    try:
        return bool(one < other)
    except TypeError:
        return False


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


def _check_kind(value: Value, other: Value) -> None:
    """Raise ValueError where engines would convert a value before they compare it, or refuse."""
    number = int, float, decimal.Decimal
    numbers = [isinstance(v, number) and not isinstance(v, bool) for v in (value, other)]
    if not all(numbers) and type(value) is not type(other):
        raise ValueError(f"{value!r} and {other!r} are of two kinds")


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
    limit: Annotated[int, Field(exclude_if=lambda limit: not limit)] = 0
    """So many rows at most, any of the right ones; 0 for all."""
    groups: Annotated[bool, Field(exclude_if=lambda groups: not groups)] = False
    """Ask for each value of the first column, and as the second how many rows have it."""

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

"""What is stored of a column beside its values: the least and the greatest one, how many are NULL.

Readers leave out files and row groups by them. Who writes the values writes the statistics too, or
something else that it makes (a manifest, a metadata table), so they may contradict each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.model.canonical import Value, from_json, to_json
from harness.model.query import Comparison, Condition, at


class StatisticsSource(StrEnum):
    PARQUET = "the Parquet footer"
    ORC = "the ORC stripe"
    ICEBERG = "Iceberg's manifest"
    HUDI = "Hudi's metadata table"
    """Of a file, as the writer's own Spark reads them."""
    HUDI_PARTITION = "partitions in Hudi's metadata table"


FOOTERS: Final = frozenset({StatisticsSource.PARQUET, StatisticsSource.ORC})
"""What lies in the files that it is about."""


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is stored of one column: of a row group, of a file, or of all files in a folder."""

    source: StatisticsSource
    path: str
    """Of the file or the folder, relative to the table's folder."""
    column: str
    """Its dotted name, as the file or the statistics have it."""
    rows: int
    nulls: int | None = None
    """None where it is not stored."""
    least: str = ""
    """The least value as JSON (`canonical.to_json`); empty where it is not stored."""
    greatest: str = ""
    first: int = 0
    """The number of the first row that it is about."""

    @property
    def all_null(self) -> bool:
        return self.rows > 0 and self.nulls == self.rows

    def excludes(self, condition: Condition) -> bool:
        """Return whether it says that a condition holds for none of the rows.

        What is not stored excludes nothing, nor does a bound that cannot be compared.
        """
        match condition.test:
            case Comparison.NULL:
                return self.nulls == 0
            case Comparison.NOT_NULL:
                return self.all_null
            case Comparison.AT_LEAST:
                return self.all_null or _less(_bound(self.greatest), condition.value)
        blanks = condition.type.startswith("char(")
        return self.all_null or self._outside(condition.value, blanks=blanks)

    def contradicted_by(self, values: Sequence[Value]) -> bool:
        return any(
            self.nulls == 0 if value is None else self.all_null or self._outside(value)
            for value in values
        )

    def __str__(self) -> str:
        least, greatest = (text or "not stored" for text in (self.least, self.greatest))
        nulls = "NULLs not counted" if self.nulls is None else f"{self.nulls} NULL"
        rows = f"{self.rows} {'row' if self.rows == 1 else 'rows'} of {self.path or 'the table'}"
        return f"{self.source} on {self.column} in {rows}: {least} to {greatest}, {nulls}"

    def row_numbers(self) -> range:
        return range(self.first, self.first + self.rows)

    def _outside(self, value: Value, *, blanks: bool = False) -> bool:
        least, greatest = _bound(self.least), _bound(self.greatest)
        if blanks:
            least, value, greatest = (_unpadded(each) for each in (least, value, greatest))
        return _less(value, least) or _less(greatest, value)


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """What of a table state's statistics may exclude a row that is there."""

    told: tuple[ColumnStatistics, ...] = ()
    """Those that the values of their files contradict, or may: not all values are known."""
    unknown: str = ""
    """Why others are not known; empty when they are, or there are none."""


IN_ORDER: Final = StoredStatistics()


def values_at(
    column: str, names: Sequence[str], rows: Sequence[Sequence[Value]], numbers: Iterable[int]
) -> list[Value]:
    """Return the values of a column in some rows of a file; `names` are its columns'.

    Raises LookupError: the file has no such column, or not so many rows.
    """
    head = column.partition(".")[0]
    if head not in names:
        raise KeyError(column)
    place = list(names).index(head)
    return [at({head: rows[number][place]}, column) for number in numbers]


def bound(value: Value) -> str:
    return "" if value is None else json.dumps(to_json(value), separators=(",", ":"))


def _bound(text: str) -> Value:
    return from_json(json.loads(text)) if text else None


def _less(one: Value, other: Value) -> bool:
    """Return whether a value is less than another; never where one is NULL, NaN or of its own kind.

    What formats say of NaN is that a bound which is one counts for nothing, and that bounds tell
    nothing of it (Parquet, `ColumnOrder`; Iceberg, "Manifests").
    """
    if one is None or other is None:
        return False
    try:
        return bool(one < other)
    except TypeError:
        return False


def _unpadded(value: Value) -> Value:
    return value.rstrip(" ") if isinstance(value, str) else value

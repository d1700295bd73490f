"""What data files say of themselves, and what is stored of their columns beside the values.

Readers leave out files and row groups by such statistics. Who writes the values writes them too, or
something else that it makes (a manifest, a metadata table), so they may contradict each other.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from harness.model.canonical import Value, from_json, to_json
from harness.model.query import Comparison, Condition, at, less


class FileKind(StrEnum):
    BASE = "base"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class FileFact:
    """What one data file says of itself. A log file has one fact for each of its data blocks."""

    path: str
    """Relative to the table's folder."""
    kind: FileKind
    file_group: str
    """Hudi's partition and file id, Delta's logical file; elsewhere the path of the data file."""
    instant: str
    """Of the commit that wrote it: from the file's name, or the log block's header."""
    columns: tuple[tuple[str, str], ...]
    """Name and type as the file names it, in the file's order, meta columns included."""
    keys: tuple[str, ...] = ()
    """Text of the record keys in it."""
    deleted: tuple[str, ...] = ()
    """Text of the record keys that a delete block takes away."""
    stored_names: tuple[str, ...] = ()
    """What the file itself calls each of the columns, where that is no name of the table's: Delta
    with column mapping. Else none, and the columns have the file's own names."""
    block: Annotated[int, Field(exclude_if=lambda number: not number)] = 0
    """The place of a log file's block in its file: one write may make several of the same keys."""
    partial: Annotated[bool, Field(exclude_if=lambda partial: not partial)] = False
    """Whether it has the columns that an update set alone, and no whole rows: of the others the
    version before it is completed (Hudi technical specification, "Log file format", `IS_PARTIAL`
    of `HoodieLogBlock.HeaderMetadataType`)."""
    nameless: Annotated[bool, Field(exclude_if=lambda nameless: not nameless)] = False
    """Whether it says nothing of its columns, which are those of the table when it was written."""
    lost_names: Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)] = field(
        default=(), compare=False
    )
    """Its columns, and parts of structs, to which the table's own records lead no reader, or to
    another column. Later steps may change it of one and the same file."""
    misled_names: Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)] = field(
        default=(), compare=False
    )
    """Those of them that lead to another column."""


class StatisticsSource(StrEnum):
    PARQUET = "the Parquet footer"
    ORC = "the ORC stripe"
    ICEBERG = "Iceberg's manifest"
    ICEBERG_LIST = "Iceberg's list of manifests"
    DELTA = "Delta's log"
    HUDI = "Hudi's metadata table"
    """Of a file, as the writer's own Spark reads them."""
    HUDI_PARTITION = "partitions in Hudi's metadata table"


FOOTERS: Final = frozenset({StatisticsSource.PARQUET, StatisticsSource.ORC})


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
        """Return whether it says that a condition holds for none of the rows."""
        match condition.test:
            case Comparison.NULL:
                return self.nulls == 0
            case Comparison.NOT_NULL:
                return self.all_null
        least, greatest = _bound(self.least), _bound(self.greatest)
        return self.all_null or condition.excluded_by(least, greatest)

    def contradicted_by(self, values: Sequence[Value]) -> bool:
        least, greatest = _bound(self.least), _bound(self.greatest)
        return any(
            self.nulls == 0
            if value is None
            else self.all_null or less(value, least) or less(greatest, value)
            for value in values
        )

    def __str__(self) -> str:
        least, greatest = (text or "not stored" for text in (self.least, self.greatest))
        nulls = "NULLs not counted" if self.nulls is None else f"{self.nulls} NULL"
        rows = f"{self.rows} {'row' if self.rows == 1 else 'rows'} of {self.path or 'the table'}"
        return f"{self.source} on {self.column} in {rows}: {least} to {greatest}, {nulls}"

    def row_numbers(self) -> range:
        return range(self.first, self.first + self.rows)


@dataclass(frozen=True, slots=True)
class StoredStatistics:
    """What of a table state's statistics may exclude a row that is there."""

    columns: Annotated[tuple[ColumnStatistics, ...], Field(alias="told")] = ()
    """Those that the values of their files contradict, or may: not all values are known."""
    unknown: str = ""
    """Why others are not known; empty when they are, or there are none."""


IN_ORDER: Final = StoredStatistics()


@dataclass(frozen=True, slots=True)
class Lineage:
    """What the files of a table say of where its rows come from."""

    sequence: int
    """The sequence number of the current snapshot."""
    rows: tuple[tuple[str, int | None, int | None], ...]
    """Of each row the text of its key, its id, and the sequence number of its last update."""


def values_at(
    column: str, names: Sequence[str], rows: Sequence[Sequence[Value]], numbers: Iterable[int]
) -> list[Value]:
    """Return the values of a column in some rows of a file; `names` are its columns'.

    Raises LookupError: the file has no such column, or not so many rows.
    """
    head = column.partition(".")[0]
    if head not in names:
        raise KeyError(column)
    position = list(names).index(head)
    return [at({head: rows[number][position]}, column) for number in numbers]


def bound(value: Value) -> str:
    return "" if value is None else json.dumps(to_json(value), separators=(",", ":"))


def _bound(text: str) -> Value:
    return from_json(json.loads(text)) if text else None

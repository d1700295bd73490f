"""Carry out a read plan in this process: the rows of a table, each with its file and position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.audit import file_rows, merge
from harness.audit.file_rows import FileTable
from harness.core.arrow import pa
from harness.engines import arrow_values
from harness.engines.arrow_values import canonical_values
from harness.formats.files import variant
from harness.formats.read_plan import ReadPlan
from harness.model.canonical import Value


@dataclass(frozen=True)  # no slots: what is derived is kept
class TableRows:
    """A table as its files say that it is."""

    plan: ReadPlan
    files: tuple[FileTable, ...]

    @cached_property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """All rows in canonical values, file by file; a column of variants as readers show it."""
        return tuple(row for file in self.files for row in _rows(file.rows, _shown))

    @property
    def stored_rows(self) -> tuple[tuple[Value, ...], ...]:
        """The same with the types of what is inside of variants."""
        return tuple(row for file in self.files for row in _rows(file.rows, canonical_values))


def _rows(
    table: pa.Table, values: Callable[[pa.ChunkedArray], Sequence[Value]]
) -> Iterator[tuple[Value, ...]]:
    yield from zip(*map(values, table.columns), strict=True)


def _shown(column: pa.ChunkedArray) -> Sequence[Value]:
    values = canonical_values(column)
    return list(map(variant.json_of, values)) if column.type == arrow_values.variant() else values


def read(plan: ReadPlan) -> TableRows:
    """Read every file of a plan; raises FileFactError."""
    return TableRows(plan, tuple(files(plan)))


def files(plan: ReadPlan) -> Iterator[FileTable]:
    """Yield the rows of a plan, one file or file group after the other; raises FileFactError."""
    for file in plan.files:
        yield file_rows.read(plan, file)[0]
    for one in plan.merges:
        yield from merge.read(plan, one)

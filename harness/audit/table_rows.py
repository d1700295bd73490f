"""Carry out a read plan in this process: the rows of a table, each with its file and position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from harness.audit.projection import Projection
from harness.engines.arrow_values import canonical
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file
from harness.formats.read_plan import PlannedFile, ReadPlan
from harness.model.canonical import Value

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class FileTable:
    """The rows of one file that are part of the table, as the table's columns."""

    file: PlannedFile
    rows: pa.Table
    positions: Sequence[int]
    """Of each row in the file, from 0."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class TableRows:
    """A table as its files say that it is."""

    plan: ReadPlan
    files: tuple[FileTable, ...]

    @cached_property
    def rows(self) -> tuple[tuple[Value, ...], ...]:
        """All rows in canonical values, file by file."""
        return tuple(row for file in self.files for row in _canonical_rows(file.rows))


def _canonical_rows(table: pa.Table) -> Iterator[tuple[Value, ...]]:
    columns = [[canonical(value) for value in column] for column in table.columns]
    yield from zip(*columns, strict=True)


def read(plan: ReadPlan) -> TableRows:
    """Read every file of a plan; raises FileFactError."""
    return TableRows(plan, tuple(_read(plan, file) for file in plan.files))


def _read(plan: ReadPlan, file: PlannedFile) -> FileTable:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    stored = arrow_file.read(file.location)
    projection = Projection(plan, file, stored)
    try:
        gone = set(file.deleted)
        for deleted in file.deleted_values:
            gone.update(projection.positions(deleted))
        left = [at for at in range(stored.num_rows) if at not in gone]
        # Without a type Arrow takes an empty list for one of NULLs.
        return FileTable(file, projection.table().take(pa.array(left, pa.int64())), left)
    except (pa.ArrowException, ValueError) as problem:
        raise FileFactError(f"{file.path}: {problem}") from problem

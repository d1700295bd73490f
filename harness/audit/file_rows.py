"""The rows of one file of a read plan, without those that are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.audit.projection import Projection
from harness.core.arrow import pa
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file
from harness.formats.read_plan import PlannedFile, ReadPlan


@dataclass(frozen=True, slots=True)
class FileTable:
    """The rows of one file that are part of the table, as the table's columns."""

    file: PlannedFile
    rows: pa.Table
    positions: Sequence[int]
    """Of each row in the file, from 0."""


def read(plan: ReadPlan, file: PlannedFile) -> tuple[FileTable, Projection]:
    """Read a file, and what else of its rows can be asked for; raises FileFactError."""
    only = None if file.only is None else sorted(file.only)
    try:
        stored = _stored(file, only)
        projection = Projection(plan, file, stored)
        positions = range(stored.num_rows) if only is None else only
        gone = set(file.deleted)
        for deleted in file.deleted_values:
            gone.update(positions[at] for at in projection.positions(deleted))
        left = [at for at, position in enumerate(positions) if position not in gone]
        table = projection.table()
        # Without a type Arrow takes an empty list for one of NULLs.
        whole = len(left) == stored.num_rows
        rows = table if whole else table.take(pa.array(left, pa.int64()))
        return FileTable(file, rows, [positions[at] for at in left]), projection
    except (pa.ArrowException, ValueError) as problem:
        raise FileFactError(f"{file.path}: {problem}") from problem


def _stored(file: PlannedFile, only: Sequence[int] | None) -> pa.Table:
    if not file.stored:
        return arrow_file.read(file.location, only)
    rows = file.stored()
    return rows if only is None else rows.take(pa.array(only, pa.int64()))

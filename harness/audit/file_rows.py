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
    """Read a file, and what else of it can be asked for; raises FileFactError."""
    stored = file.stored() if file.stored else arrow_file.read(file.location)
    projection = Projection(plan, file, stored)
    try:
        gone = set(file.deleted)
        for deleted in file.deleted_values:
            gone.update(projection.positions(deleted))
        asked = range(stored.num_rows) if file.only is None else sorted(file.only)
        left = [at for at in asked if at not in gone]
        table = projection.table()
        # Without a type Arrow takes an empty list for one of NULLs.
        whole = len(left) == stored.num_rows
        rows = table if whole else table.take(pa.array(left, pa.int64()))
        return FileTable(file, rows, left), projection
    except (pa.ArrowException, ValueError) as problem:
        raise FileFactError(f"{file.path}: {problem}") from problem

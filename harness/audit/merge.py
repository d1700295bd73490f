"""Carry out a merge of a read plan: of the versions of each row the one that counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from harness.audit import file_rows
from harness.audit.file_rows import FileTable
from harness.core.arrow import pa
from harness.formats.api import FileFactError
from harness.formats.read_plan import DeletedKeys, PlannedFile, ReadPlan, RowMerge
from harness.model.canonical import Look, Value

if TYPE_CHECKING:
    from harness.audit.projection import Projection

Key: TypeAlias = tuple[Look, ...]
Place: TypeAlias = tuple[int, int]
"""The number of a file of the merge, and a row among those that are left of it."""


@dataclass(frozen=True, slots=True)
class _KeyVersion:
    """What a key has after a write: a row, or nothing where that deleted it."""

    ordering: tuple[Value, ...]
    place: Place | None = None
    cells: tuple[Place, ...] = ()
    """Where each column is taken from, if not all from one row."""

    def is_newer(self, other: _KeyVersion) -> bool:
        """Return whether it counts although it was written first."""
        values = *self.ordering, *other.ordering
        if None in values or len(self.ordering) != len(other.ordering):
            return False
        return bool(self.ordering > other.ordering)


@dataclass(slots=True)
class _Merged:
    plan: ReadPlan
    merge: RowMerge
    files: list[FileTable] = field(default_factory=list)
    versions: dict[Key, list[_KeyVersion]] = field(default_factory=dict)
    """Several only where the base has several rows of a key."""

    def add_base(self, file: PlannedFile) -> None:
        for key, version in self._read(file)[1]:
            self.versions.setdefault(key, []).append(version)

    def add(self, file: PlannedFile) -> None:
        projection, rows = self._read(file)
        there = [projection.has(part.id) for part in self.plan.columns]
        for key, version in rows:
            self._replace(key, version, there if file.partial else ())

    def delete(self, deleted: DeletedKeys) -> None:
        for key, ordering in deleted.keys.items():
            self._replace(key, _KeyVersion(ordering))

    def _replace(self, key: Key, version: _KeyVersion, there: Sequence[bool] = ()) -> None:
        before = self.versions.get(key, [])
        older = next((old for old in before if old.is_newer(version)), None)
        if older is not None:
            if self.merge.fills:  # what is older fills what the newer lacks
                self.versions[key] = [self._filled(older, version, ())]
            return
        old = before[-1] if before else _KeyVersion(())
        self.versions[key] = [self._filled(version, old, there)]

    def _filled(self, newer: _KeyVersion, older: _KeyVersion, there: Sequence[bool]) -> _KeyVersion:
        """Return a version with those columns of an older one that it leaves as they were.

        `there`: which columns a partial one has.
        """
        if not newer.place or not older.place or not (there or self.merge.fills):
            return newer
        columns = range(len(self.plan.columns))
        mine, others = (
            version.cells or tuple(version.place or (0, 0) for _ in columns)
            for version in (newer, older)
        )
        cells = tuple(
            mine[column] if self._counts(column, mine[column], there) else others[column]
            for column in columns
        )
        return _KeyVersion(newer.ordering, newer.place, cells)

    def _counts(self, column: int, cell: Place, there: Sequence[bool]) -> bool:
        if there and not there[column]:
            return False
        number, row = cell
        return not self.merge.fills or bool(self.files[number].rows.column(column)[row].is_valid)

    def _read(self, file: PlannedFile) -> tuple[Projection, Iterator[tuple[Key, _KeyVersion]]]:
        table, projection = file_rows.read(self.plan, file)
        merge, number = self.merge, len(self.files)
        self.files.append(table)
        keys = list(projection.looks(merge.key))
        ordering = list(projection.values(merge.ordering)) if merge.ordering else [()] * len(keys)
        gone = {at for deleting in merge.deleting for at in projection.positions(deleting)}
        return projection, (
            (keys[at], _KeyVersion(ordering[at], None if at in gone else (number, row)))
            for row, at in enumerate(table.positions)
        )

    def tables(self) -> Iterator[FileTable]:
        """Yield of each file the rows that count."""
        left: list[list[_KeyVersion]] = [[] for _ in self.files]
        for versions in self.versions.values():
            for version in versions:
                if version.place:
                    left[version.place[0]].append(version)
        for table, rows in zip(self.files, left, strict=True):
            rows.sort(key=lambda version: version.place or (0, 0))
            positions = [table.positions[version.place[1]] for version in rows if version.place]
            yield FileTable(table.file, self._taken(table, rows), positions)

    def _taken(self, table: FileTable, rows: list[_KeyVersion]) -> pa.Table:
        if not any(version.cells for version in rows):
            places = [version.place[1] for version in rows if version.place]
            return table.rows.take(pa.array(places, pa.int64()))
        begins = [0]
        for file in self.files:
            begins.append(begins[-1] + file.rows.num_rows)
        whole = pa.concat_tables(file.rows for file in self.files)
        columns = []
        for at, column in enumerate(whole.columns):
            cells = [version.cells[at] if version.cells else version.place for version in rows]
            places = [begins[cell[0]] + cell[1] for cell in cells if cell]
            columns.append(column.take(pa.array(places, pa.int64())))
        return pa.table(columns, whole.schema)


def read(plan: ReadPlan, merge: RowMerge) -> tuple[FileTable, ...]:
    """Read the files of a merge, and return of each the rows that count; raises FileFactError."""
    merged = _Merged(plan, merge)
    try:
        if merge.base is not None:
            merged.add_base(merge.base)
        for version in merge.versions:
            if isinstance(version, DeletedKeys):
                merged.delete(version)
            else:
                merged.add(version)
    except TypeError as problem:  # of values that cannot be compared
        path = merged.files[-1].file.path if merged.files else ""
        raise FileFactError(
            f"{path}: {', '.join(map(str, merge.ordering))}: {problem}"
        ) from problem
    return tuple(merged.tables())

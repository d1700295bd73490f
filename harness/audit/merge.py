"""Carry out a merge of a read plan: of the versions of each row the one that counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from harness.audit import file_rows
from harness.audit.file_rows import FileTable
from harness.formats.api import FileFactError
from harness.formats.read_plan import DeletedKeys, PlannedFile, ReadPlan, RowMerge
from harness.model.canonical import Look, Value

if TYPE_CHECKING:
    import pyarrow as pa

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

    def _replace(self, key: Key, version: _KeyVersion, there: Iterable[bool] = ()) -> None:
        before = self.versions.get(key, [])
        if any(old.is_newer(version) for old in before):
            return
        old = before[-1] if before else None
        if version.place and old and old.place:
            at = enumerate(there)
            cells = tuple(
                version.place if is_there else old.cells[column] if old.cells else old.place
                for column, is_there in at
            )
            version = _KeyVersion(version.ordering, version.place, cells)
        self.versions[key] = [version]

    def _read(self, file: PlannedFile) -> tuple[Projection, Iterator[tuple[Key, _KeyVersion]]]:
        table, projection = file_rows.read(self.plan, file)
        self.files.append(table)
        return projection, self._rows(projection, table, len(self.files) - 1)

    def _rows(
        self, projection: Projection, table: FileTable, number: int
    ) -> Iterator[tuple[Key, _KeyVersion]]:
        merge = self.merge
        keys = list(projection.looks(merge.key))
        ordering = list(projection.values(merge.ordering)) if merge.ordering else [()] * len(keys)
        gone = set(projection.positions(merge.deleting)) if merge.deleting else set[int]()
        for row, position in enumerate(table.positions):
            place = None if position in gone else (number, row)
            yield keys[position], _KeyVersion(ordering[position], place)

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
        import pyarrow as pa  # noqa: PLC0415 - only reading needs it

        if not any(version.cells for version in rows):
            return table.rows.take([version.place[1] for version in rows if version.place])
        begins = [0]
        for file in self.files:
            begins.append(begins[-1] + file.rows.num_rows)
        whole = pa.concat_tables(file.rows for file in self.files)
        columns = []
        for at, column in enumerate(whole.columns):
            cells = [version.cells[at] if version.cells else version.place for version in rows]
            columns.append(column.take([begins[cell[0]] + cell[1] for cell in cells if cell]))
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

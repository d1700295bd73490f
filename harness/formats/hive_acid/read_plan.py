"""How the rows of a transactional table of Hive come out of its files.

Sources: Hive documentation, "Hive Transactions"; `AcidUtils.getAcidState`, `BucketCodec` and
`VectorizedOrcAcidRowBatchReader` of Hive 3.1.3.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from harness.core.arrow import pa
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file
from harness.formats.files.table_folder import TableFolder
from harness.formats.hive.read_plan import (
    DeclaredColumns,
    FolderFile,
    PlainFolder,
    folder_files,
    planned,
)
from harness.formats.hive_acid.format import (
    BASE,
    COMPACTED,
    DELETES,
    FOLDER,
    ROW,
    ROW_ID,
    WRITER,
    file_table,
)
from harness.formats.read_plan import PlannedFile, ReadPlan
from harness.model import partition_paths
from harness.runtime.metastore_objects import WriteIds

RowId = tuple[int, int, int]
_ORIGINAL: Final = re.compile(r"(?P<bucket>\d+)_\d+(_copy_(?P<copy>\d+))?")
"""Files that were there before the table was transactional; of them none has ids of rows."""
_VERSION_1: Final = 1 << 29


def plan(folder: TableFolder, catalog: DeclaredColumns | None, ids: WriteIds | None) -> ReadPlan:
    """Plan what the committed writes left; raises FileFactError, UnreadableError.

    `ids`: which are committed; None where no metastore says it. Of a table that takes inserts only
    the files are plain ones.
    """
    files = list(folder_files(folder, catalog, hidden=(COMPACTED,)))
    by_partition = defaultdict[str, list[FolderFile]](list)
    for file in files:
        by_partition[partition_paths.folder_of(file.location)].append(file)
    parts = [_Partition(part, ids) for part in by_partition.values()]
    shown = [file for part in parts for file in part.rows]
    if not any(_has_ids(arrow_file.schema(file.location)) for file in shown):
        made = planned(PlainFolder(tuple(shown), catalog))
    else:
        gone = {path: at for part in parts for path, at in part.deleted().items()}
        made = planned(AcidFolder(tuple(shown), catalog, gone))
    newest = max((write.last for part in parts for write in part.writes), default=0)
    version = str(ids.highest if ids else newest)
    guessed = sorted({write.last for part in parts for write in part.live if write.kind != BASE})
    undecided: tuple[str, ...] = ()
    if ids is None and guessed:
        numbers = f"{guessed[0]} to {guessed[-1]}" if len(guessed) > 1 else str(guessed[0])
        undecided = (f"only a metastore knows whether the writes {numbers} were committed",)
    return replace(made, version=version, undecided=(*undecided, *made.undecided))


@dataclass(frozen=True, slots=True)
class _Write:
    """A folder of a write, or of a compaction."""

    kind: str
    first: int
    last: int
    statement: int
    files: Sequence[FolderFile]
    of_transaction: bool

    @property
    def compacted(self) -> bool:
        return self.of_transaction or any(
            file.location.endswith(f"/{COMPACTED}") for file in self.files
        )

    @property
    def order(self) -> tuple[int, int, int]:
        return self.first, -self.last, self.statement


@dataclass(frozen=True)
class _Partition:
    """The writes of a table without partitions, or of one of them."""

    files: Sequence[FolderFile]
    ids: WriteIds | None
    writes: list[_Write] = field(init=False)

    def __post_init__(self) -> None:
        folders = defaultdict[str, list[FolderFile]](list)
        for file in self.files:
            folders[file.location.split("/")[-2]].append(file)
        named = ((FOLDER.fullmatch(name), files) for name, files in sorted(folders.items()))
        made = [
            _Write(
                match["kind"],
                int(match["first"]),
                int(match["last"] or match["first"]),
                int(match["statement"] or -1),
                files,
                bool(match["transaction"]),
            )
            for match, files in named
            if match
        ]
        # Of a compaction that another worker began anew the same rows are there twice.
        ranges = {(write.kind, write.first, write.last): write for write in made}
        last = [w for w in made if not w.of_transaction or ranges[w.kind, w.first, w.last] is w]
        object.__setattr__(self, "writes", sorted(last, key=lambda write: write.order))

    def committed(self, number: int) -> bool:
        if self.ids is None:
            return True
        return number <= self.ids.highest and number not in {*self.ids.aborted, *self.ids.open}

    @property
    def base(self) -> _Write | None:
        """The newest one whose writes all ended; an overwrite must be committed itself."""
        opened = min(self.ids.open, default=None) if self.ids else None
        bases = [
            write
            for write in self.writes
            if write.kind == BASE
            and (opened is None or write.last < opened)
            and (write.compacted or self.committed(write.last))
        ]
        return max(bases, key=lambda write: write.last, default=None)

    @property
    def live(self) -> list[_Write]:
        """The folders that are read: a compaction's stands for those of what it joined."""
        base = self.base
        made, current = [base] if base else [], base.last if base else 0
        before: _Write | None = None
        for write in self.writes:
            if write.kind == BASE:
                continue
            same_write = before is not None and write.last == current and before.statement >= 0
            twin = before is not None and write.order == before.order
            newer = write.last > current and any(
                map(self.committed, range(current + 1, write.last + 1))
            )
            if newer or same_write or twin:
                made.append(write)
                current, before = write.last, write
        return made

    @property
    def originals(self) -> list[FolderFile]:
        """Files from before the table was transactional, which a base has as well."""
        if self.base:
            return []
        there = [f for f in self.files if not FOLDER.fullmatch(f.location.split("/")[-2])]
        return sorted(there, key=_bucket_and_copy)

    @property
    def rows(self) -> list[FolderFile]:
        written = [
            file for write in self.live if write.kind != DELETES for file in _data(write.files)
        ]
        return [*self.originals, *written]

    def deleted(self) -> Mapping[str, Collection[int]]:
        """Return the positions of rows that do not count, by the paths of their files."""
        gone = {
            row_id
            for write in self.live
            if write.kind == DELETES
            for file in _data(write.files)
            for committed, row_id in self._row_ids(file)
            if committed
        }
        positions = dict[str, Collection[int]]()
        begins = defaultdict[int, int](int)
        for file in self.originals:
            bucket, _ = _bucket_and_copy(file)
            if bucket < 0 and any(row_id[0] == 0 for row_id in gone):
                raise FileFactError(f"{file.path}: its name does not say which rows are deleted")
            count, code = arrow_file.read(file.location).num_rows, _VERSION_1 | bucket << 16
            begin = begins[bucket]
            positions[file.path] = {at for at in range(count) if (0, code, begin + at) in gone}
            begins[bucket] += count
        for file in self.rows[len(self.originals) :]:
            row_ids = enumerate(self._row_ids(file, rows=True))
            positions[file.path] = {at for at, (ok, id_) in row_ids if not ok or id_ in gone}
        return positions

    def _row_ids(self, file: FolderFile, *, rows: bool = False) -> Iterator[tuple[bool, RowId]]:
        """Yield of each row or deletion of a file whether it was committed, and its id."""
        stored = file_table(file.location)
        names = ("operation", WRITER, *ROW_ID)
        if lacking := [name for name in names if name not in stored.column_names]:
            raise FileFactError(f"{file.path}: it has no column {', '.join(lacking)}")
        columns = (stored.column(name).to_pylist() for name in names)
        for operation, writer, *row_id in zip(*columns, strict=True):
            if rows and operation:
                raise FileFactError(
                    f"{file.path}: it has updates or deletions beside rows, as Hive before "
                    "version 3 wrote them; a major compaction joins them"
                )
            yield self.committed(writer), (row_id[0], row_id[1], row_id[2])


def _data(files: Iterable[FolderFile]) -> Iterator[FolderFile]:
    return (file for file in files if not file.location.endswith(f"/{COMPACTED}"))


def _bucket_and_copy(file: FolderFile) -> tuple[int, int]:
    """Return the bucket that a file is of, and which of its files it is; -1: nobody knows."""
    match = _ORIGINAL.fullmatch(file.location.rpartition("/")[2])
    return (int(match["bucket"]), int(match["copy"] or 0)) if match else (-1, 0)


@dataclass(frozen=True)  # no slots: what is derived is kept
class AcidFolder(PlainFolder):
    """Files of which each row has an id, and the table's columns in a struct."""

    deleted: Mapping[str, Collection[int]]

    def schema(self, file: FolderFile) -> pa.Schema:
        stored = super().schema(file)
        return pa.schema([*stored.field(ROW).type]) if _has_ids(stored) else stored

    def file(self, file: FolderFile) -> PlannedFile:
        made = replace(super().file(file), deleted=self.deleted[file.path])
        if not _has_ids(super().schema(file)):
            return made
        return replace(made, stored=partial(_rows, file.location))


def _has_ids(schema: pa.Schema) -> bool:
    return {ROW, *map(str.lower, ROW_ID)} <= {*map(str.lower, schema.names)}


def _rows(location: str) -> pa.Table:
    stored = arrow_file.read(location)
    inside = stored.column(ROW).combine_chunks()
    if not isinstance(inside, pa.Array):
        inside = pa.concat_arrays(inside.chunks)
    return pa.Table.from_arrays(inside.flatten(), schema=pa.schema([*inside.type]))

"""What the files of a Hive ACID table say: its folders, which of them count, and what is deleted.

Each write makes a folder `delta_N_N` of added rows and `delete_delta_N_N` of deleted ones;
compactions join them into `delta_N_M` or `base_M` (Hive documentation, "Hive Transactions";
`AcidUtils` of Hive 3.1.3). What a minor one joined has every version of a row, and deleted rows as
well: the facts have neither.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError, FileRows
from harness.formats.files import orc
from harness.formats.files.parquet import canonical_value
from harness.model.file_facts import FileFact, FileKind
from harness.runtime.metastore_objects import WriteIds

BASE: Final = "base"
DELETES: Final = "delete_delta"
ROW: Final = "row"
"""The column of a file that holds a row of the table."""
_ROW_ID: Final = ("originalTransaction", "bucket", "rowId")
"""The columns that tell a row from all others for as long as it is there."""
_INSERT: Final = 0
"""The `operation` of what adds a row."""
FOLDER: Final = re.compile(
    r"(?P<kind>base|delta|delete_delta)_(?P<first>\d+)(?:_(?P<last>\d+))?"
    r"(?:_(?P<statement>\d+))?(?:_v\d+)?"
)
_COMPACTED: Final = "_metadata_acid"
"""A file in a base folder that a compaction made, and no overwrite (`AcidUtils.MetaDataFile`)."""

RowId = tuple[int, int, int]
Keys = dict[tuple[Path, RowId], tuple[str, str]]
"""By a row's partition and its place there the file that holds it, and its key: a write counts the
rows of each partition anew."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of one write, or of a compaction."""

    path: Path
    kind: str
    first: int
    last: int
    compacted: bool

    @property
    def instant(self) -> str:
        """What the write or the compaction is called: by its number, or by its folder."""
        if not self.compacted:
            return str(self.last)
        return self.path.name.removeprefix("delete_").partition("_v")[0]

    def has(self, number: int) -> bool:
        return (self.kind == BASE or self.first <= number) and number <= self.last

    def counts(self, ids: WriteIds) -> bool:
        return any(self.first <= number <= self.last for number in ids.committed)

    def within(self, other: Folder) -> bool:
        """Return whether a compaction has its rows as well."""
        if self is other or self.path.parent != other.path.parent:
            return False
        if other.kind == BASE:
            return self.last <= other.last
        wider = other.last - other.first > self.last - self.first
        return wider and other.first <= self.first and self.last <= other.last


def folders(table: Path) -> tuple[Folder, ...]:
    """Return the folders of all writes by number, without the hidden ones of killed servers."""
    every = (
        path
        for path in table.rglob("*")
        if path.is_dir() and not any(part[0] == "." for part in path.relative_to(table).parts)
    )
    made = [folder for path in every if (folder := _folder(path))]
    return tuple(sorted(made, key=lambda folder: (folder.last, folder.compacted, str(folder.path))))


def instants(table: Path, ids: WriteIds) -> tuple[str, ...]:
    """Return the committed writes and the compactions, each by what it is called."""
    there = [folder for folder in folders(table) if folder.counts(ids)]
    made = [folder for folder in there if folder.compacted]
    written = (number for number in ids.committed if any(folder.has(number) for folder in there))
    every = [(number, False, str(number)) for number in written]
    every += [(folder.last, True, folder.instant) for folder in made]
    return tuple(dict.fromkeys(name for _, _, name in sorted(every)))


def live(table: Path, ids: WriteIds) -> tuple[Folder, ...]:
    """Return the folders that readers of now must look into."""
    counting = [folder for folder in folders(table) if folder.counts(ids)]
    return tuple(folder for folder in counting if not any(map(folder.within, counting)))


def joined(table: Path, instant: str) -> tuple[str, ...]:
    """Return the numbers of the writes whose rows a compaction found."""
    compactions = (
        folder for folder in folders(table) if folder.compacted and folder.instant == instant
    )
    return tuple(map(str, range(1, max((folder.last for folder in compactions), default=0) + 1)))


def facts(table: Path, key: str, ids: WriteIds) -> tuple[FileFact, ...]:
    """Return a fact for each live file of rows, and for what is deleted of each."""
    there = live(table, ids)
    deletions = [
        _Deletions(folder, path, orc.rows(path, _ROW_ID))
        for folder in there
        for path in (_files(folder) if folder.kind == DELETES else ())
    ]
    keys: Keys = {}
    made = list[FileFact]()
    for folder in there:
        # What a compaction that made the folder knew to be deleted.
        gone = {
            row_id
            for deletion in deletions
            if folder.compacted
            and deletion.folder.path.parent == folder.path.parent
            and deletion.folder.last <= folder.last
            for row_id in deletion.row_ids
        }
        for path in _files(folder) if folder.kind != DELETES else ():
            made.append(_fact(table, path, folder.instant, key, keys, gone))
    for deletion in deletions:
        made += _deletions(table, deletion, keys)
    return tuple(made)


@dataclass(frozen=True, slots=True)
class _Deletions:
    """A file of deletions."""

    folder: Folder
    path: Path
    row_ids: Sequence[RowId]


def file_rows(path: Path, fact: FileFact) -> FileRows:
    names = tuple(name for name, _ in _columns(path))
    type_ = orc.schema(path).field(ROW).type
    try:
        every = [(row_id, canonical_value(row, type_)) for row_id, row in _rows(path)]
    except (ValueError, OverflowError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    # A fact does not say which column is the key: its keys tell it.
    for name in names:
        newest = _newest([(row_id, str(row[name])) for row_id, row in every], fact.keys)
        rows = [row for row_id, row in every if row_id in newest]
        if tuple(str(row[name]) for row in rows) == fact.keys:
            return names, tuple(tuple(row[name] for name in names) for row in rows)
    raise FileFactError(f"{path.name}: it does not have the rows {', '.join(fact.keys)}")


def _newest(rows: Sequence[tuple[RowId, str]], keys: Sequence[str]) -> frozenset[RowId]:
    """Return the greatest row_ids of each key, as many as keys are asked for."""
    ids: dict[str, list[RowId]] = {}
    for row_id, key in sorted(rows):
        ids.setdefault(key, []).append(row_id)
    asked = Counter(keys)
    return frozenset(
        at for key, versions in ids.items() for at in versions[len(versions) - asked[key] :]
    )


def _folder(path: Path) -> Folder | None:
    name = FOLDER.fullmatch(path.name)
    if name is None:
        return None
    first, last = int(name["first"]), int(name["last"] or name["first"])
    compacted = first != last or (path / _COMPACTED).is_file()
    if name["kind"] == BASE:
        first = 1
    return Folder(path, name["kind"], first, last, compacted)


def _files(folder: Folder) -> list[Path]:
    paths = (path for path in folder.path.iterdir() if path.is_file())
    return sorted(path for path in paths if path.name[0] not in "._")


def _fact(
    table: Path, path: Path, instant: str, key: str, keys: Keys, gone: AbstractSet[RowId]
) -> FileFact:
    """Return the fact of a file of rows; the row_ids of its rows are added to `keys`."""
    relative, rows = path.relative_to(table).as_posix(), list[tuple[RowId, str]]()
    for row_id, row in _rows(path):
        if key not in row:
            raise FileFactError(f"{path.name}: it has no column {key}")
        rows.append((row_id, str(row[key])))
    left = [row for row in rows if row[0] not in gone]
    keys |= {(path.parent.parent, row_id): (relative, texts) for row_id, texts in left}
    texts = tuple(text for _, text in left)
    return FileFact(relative, FileKind.BASE, relative, instant, _columns(path), texts)


def _deletions(table: Path, deletions: _Deletions, keys: Keys) -> Iterator[FileFact]:
    """Yield a fact for each live file of which a file of deletions takes rows."""
    relative, gone = deletions.path.relative_to(table).as_posix(), dict[str, list[str]]()
    for row_id in deletions.row_ids:
        if holder := keys.get((deletions.folder.path.parent, row_id)):
            file, key = holder
            gone.setdefault(file, []).append(key)
    instant = deletions.folder.instant
    for file, of in gone.items():
        yield FileFact(relative, FileKind.LOG, file, instant, (), (), tuple(of))


def _columns(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, str(field.type)) for field in orc.schema(path).field(ROW).type)


def _rows(path: Path) -> Iterator[tuple[RowId, Mapping[str, Any]]]:
    for *row_id, operation, row in orc.rows(path, (*_ROW_ID, "operation", ROW)):
        if operation == _INSERT and row is not None:
            yield (row_id[0], row_id[1], row_id[2]), row

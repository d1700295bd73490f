"""What the files of a Hive ACID table say: its folders, which of them count, and what is deleted.

Each write of a transactional table makes a folder `delta_N_N`, named after its number, for rows
that it adds, and `delete_delta_N_N` for those that it takes away; compactions join them into
`delta_N_M` or into a `base_M` (Hive documentation, "Hive Transactions"; `AcidUtils` of Hive 3.1.3).

What a minor compaction joined has every version of a row, each at a place of its own, and deleted
rows as well: the deletions beside it take them away. Its facts have neither, as they tell of the
table after the compaction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
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
_PLACE: Final = ("originalTransaction", "bucket", "rowId")
"""The columns that tell a row from all others for as long as it is there."""
_INSERT: Final = 0
"""The `operation` of what adds a row."""
_FOLDER: Final = re.compile(
    r"(?P<kind>base|delta|delete_delta)_(?P<first>\d+)(?:_(?P<last>\d+))?"
    r"(?:_(?P<statement>\d+))?(?:_v\d+)?"
)
_COMPACTED: Final = "_metadata_acid"
"""A file in a base folder that a compaction made, and no overwrite (`AcidUtils.MetaDataFile`)."""

Place = tuple[int, int, int]
Keys = dict[tuple[Path, Place], tuple[str, str]]
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
        """Return whether what the write of a number left is in it."""
        return (self.kind == BASE or self.first <= number) and number <= self.last

    def counts(self, ids: WriteIds) -> bool:
        """Return whether something in it was committed."""
        return any(self.first <= each <= self.last for each in ids.committed)

    def within(self, other: Folder) -> bool:
        """Return whether a compaction has its rows as well."""
        if self is other or self.path.parent != other.path.parent:
            return False
        if other.kind == BASE:
            return self.last <= other.last
        wider = other.last - other.first > self.last - self.first
        return wider and other.first <= self.first and self.last <= other.last


def folders(table: Path) -> tuple[Folder, ...]:
    """Return the folders of all writes of a table, in the order of their numbers.

    A server that was killed leaves those from which it moved its files, in a hidden one
    (`.hive-staging_…`).
    """
    every = (path for path in table.rglob("*") if path.is_dir() and not _hidden(table, path))
    found = [each for path in every if (each := _folder(path))]
    return tuple(sorted(found, key=lambda each: (each.last, each.compacted, str(each.path))))


def instants(table: Path, ids: WriteIds) -> tuple[str, ...]:
    """Return the writes that were committed, and the compactions, each by what it is called.

    A number without a folder is of no write: the metastore forgets an aborted transaction that it
    knows no change of (`cleanEmptyAbortedTxns` of Hive 3.1.3), and then counts its number.
    """
    there = [each for each in folders(table) if each.counts(ids)]
    made = [each for each in there if each.compacted]
    written = (each for each in ids.committed if any(folder.has(each) for folder in there))
    every = [(each, False, str(each)) for each in written]
    every += [(each.last, True, each.instant) for each in made]
    return tuple(dict.fromkeys(name for _, _, name in sorted(every)))


def live(table: Path, ids: WriteIds) -> tuple[Folder, ...]:
    """Return the folders that readers of now must look into."""
    found = [each for each in folders(table) if each.counts(ids)]
    return tuple(each for each in found if not any(map(each.within, found)))


def joined(table: Path, instant: str) -> tuple[str, ...]:
    """Return the numbers of the writes whose rows a compaction found."""
    found = (each for each in folders(table) if each.compacted and each.instant == instant)
    return tuple(map(str, range(1, max((each.last for each in found), default=0) + 1)))


def facts(table: Path, key: str, ids: WriteIds) -> tuple[FileFact, ...]:
    """Return a fact for each live file of rows, and for what is deleted of each.

    Raises:
        FileFactError: a file cannot be understood.

    """
    there = live(table, ids)
    deletions = [
        _Deletions(each, path, orc.rows(path, _PLACE))
        for each in there
        for path in (_files(each) if each.kind == DELETES else ())
    ]
    keys: Keys = {}
    made = list[FileFact]()
    for each in there:
        gone = frozenset(chain.from_iterable(one.joined_into(each) for one in deletions))
        for path in _files(each) if each.kind != DELETES else ():
            made.append(_fact(table, path, each.instant, key, keys, gone))
    for one in deletions:
        made += _deletions(table, one, keys)
    return tuple(made)


@dataclass(frozen=True, slots=True)
class _Deletions:
    """A file of deletions."""

    folder: Folder
    path: Path
    places: Sequence[Place]

    def joined_into(self, folder: Folder) -> Sequence[Place]:
        """Return what a compaction that made a folder knew to be deleted."""
        of_it = self.folder.path.parent == folder.path.parent and self.folder.last <= folder.last
        return self.places if folder.compacted and of_it else ()


def file_rows(path: Path, fact: FileFact) -> FileRows:
    """Read the rows of a file of rows that a fact has.

    Raises:
        FileFactError: they cannot be understood.

    """
    names = tuple(name for name, _ in _columns(path))
    type_ = orc.schema(path).field(ROW).type
    try:
        every = [(place, canonical_value(row, type_)) for place, row in _rows(path)]
    except (ValueError, OverflowError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem
    # A fact does not say which column is the key: its keys tell it.
    for name in names:
        kept = _newest([(place, str(row[name])) for place, row in every], fact.keys)
        rows = [row for place, row in every if place in kept]
        if tuple(str(row[name]) for row in rows) == fact.keys:
            return names, tuple(tuple(row[each] for each in names) for row in rows)
    raise FileFactError(f"{path.name}: it does not have the rows {', '.join(fact.keys)}")


def _newest(rows: Sequence[tuple[Place, str]], keys: Sequence[str]) -> frozenset[Place]:
    """Return the greatest places of each key, as many as keys are asked for."""
    places: dict[str, list[Place]] = {}
    for place, key in sorted(rows):
        places.setdefault(key, []).append(place)
    asked = Counter(keys)
    return frozenset(at for key, own in places.items() for at in own[len(own) - asked[key] :])


def _folder(path: Path) -> Folder | None:
    found = _FOLDER.fullmatch(path.name)
    if found is None:
        return None
    first, last = int(found["first"]), int(found["last"] or found["first"])
    compacted = first != last or (path / _COMPACTED).is_file()
    if found["kind"] == BASE:
        first = 1
    return Folder(path, found["kind"], first, last, compacted)


def _hidden(table: Path, path: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(table).parts)


def _files(folder: Folder) -> list[Path]:
    found = (each for each in folder.path.iterdir() if each.is_file())
    return sorted(each for each in found if each.name[0] not in "._")


def _fact(
    table: Path,
    path: Path,
    instant: str,
    key: str,
    keys: Keys,
    gone: AbstractSet[Place],
) -> FileFact:
    """Return the fact of a file of rows; the places of its rows are added to `keys`."""
    relative, rows = path.relative_to(table).as_posix(), list[tuple[Place, str]]()
    for place, row in _rows(path):
        if key not in row:
            raise FileFactError(f"{path.name}: it has no column {key}")
        rows.append((place, str(row[key])))
    left = [each for each in rows if each[0] not in gone]
    keys |= {(path.parent.parent, place): (relative, own) for place, own in left}
    own = tuple(each for _, each in left)
    return FileFact(relative, FileKind.BASE, relative, instant, _columns(path), own)


def _deletions(table: Path, deletions: _Deletions, keys: Keys) -> Iterator[FileFact]:
    """Yield a fact for each live file of which a file of deletions takes rows."""
    relative, gone = deletions.path.relative_to(table).as_posix(), dict[str, list[str]]()
    for each in deletions.places:
        if found := keys.get((deletions.folder.path.parent, each)):
            file, key = found
            gone.setdefault(file, []).append(key)
    instant = deletions.folder.instant
    for file, of in gone.items():
        yield FileFact(relative, FileKind.LOG, file, instant, (), (), tuple(of))


def _columns(path: Path) -> tuple[tuple[str, str], ...]:
    return tuple((each.name, str(each.type)) for each in orc.schema(path).field(ROW).type)


def _rows(path: Path) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    for *place, operation, row in orc.rows(path, (*_PLACE, "operation", ROW)):
        if operation == _INSERT and row is not None:
            yield (place[0], place[1], place[2]), row

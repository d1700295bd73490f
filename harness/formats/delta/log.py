"""The log of a Delta table: what its commits did, and what is part of the table now.

Source: Delta transaction log protocol, "Delta Log Entries", "Actions", "Checkpoints" and "Column
Mapping". Commits go once they are older than `delta.logRetentionDuration`, 30 days: then a
checkpoint says what they did.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from harness.core.grouping import grouped
from harness.formats.api import FileFactError
from harness.formats.delta import checkpoints
from harness.formats.delta.checkpoints import LOG, Action
from harness.formats.files import table_folder
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart
from harness.formats.files.table_folder import TableFolder
from harness.model.datatypes import ELEMENT, KEY, VALUE

NO_DATA: Final = (LOG, "_change_data")
"""The folders that hold no data files (protocol, "Checkpoints" and "Change Data Files")."""
VECTORS: Final = ".bin"
"""How files of deletion vectors end (protocol, "Deletion Vector Descriptor Schema")."""
COMMIT: Final = re.compile(r"\d{20}\.json")
BEFORE: Final = -1
"""The version of what was added before the log begins."""
VECTOR: Final = "deletionVector"
PHYSICAL: Final = "delta.columnMapping.physicalName"
ID: Final = "delta.columnMapping.id"
"""In a field's metadata: what data files call it, and its id (protocol, "Column Mapping")."""
MODE: Final = "delta.columnMapping.mode"
FEATURE: Final = "columnMapping"
CHANGE_FEED: Final = "delta.enableChangeDataFeed"
PROPERTIES_ALONE: Final = "SET TBLPROPERTIES"
"""The operation of a commit that changes neither rows nor columns."""

Identify: TypeAlias = Callable[[Action, tuple[str, ...]], int | str]
"""Returns the id of a column, or of a part of one, of which the names in files are given."""


@dataclass(frozen=True, slots=True)
class Commit:
    version: int
    actions: Sequence[Action]

    def all(self, name: str) -> Iterator[Action]:
        return (action[name] for action in self.actions if action.get(name))

    def changed_files(self) -> Iterator[tuple[Action | None, Action | None]]:
        """Yield the `remove` and the `add` of each file whose rows changed, None for no such.

        Of one path they are of one data file, whose deletion vector changed. A path may stand in
        several of either kind, as it may be several files of a table (`logical_file`).
        """
        added, removed = (
            [action for action in self.all(name) if action.get("dataChange", True)]
            for name in ("add", "remove")
        )
        before = grouped([(unquote(action["path"]), action) for action in removed])
        for action in added:
            same = before.get(unquote(action["path"]))
            yield (same.pop() if same else None), action
        yield from ((action, None) for rest in before.values() for action in rest)

    @property
    def operation(self) -> str:
        """What was done, in the words of who did it; empty where nobody said."""
        return next((str(action.get("operation", "")) for action in self.all("commitInfo")), "")


@dataclass(frozen=True, slots=True)
class LiveFile:
    path: str
    """Relative to the table's folder."""
    logical: str
    """See `logical_file`."""
    version: int
    """The one whose commit added it first."""
    marked: int
    """The one that set its deletion vector."""
    partition: Mapping[str, str | None]
    """By the physical names of the columns."""
    vector: Action | None
    """The descriptor of its deletion vector."""
    size: int | None = None
    statistics: str | None = None
    """As JSON; None where the log has none of it."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class DeltaLog:
    """All commits of a table, oldest first."""

    folder: Path
    commits: tuple[Commit, ...]
    """A checkpoint is one too, of the version `BEFORE`."""
    complete: bool = True
    """Whether all files that are part of the table were seen."""

    @cached_property
    def metadata(self) -> Mapping[int, Action]:
        """What each version that changed it says of schema, partitions and properties."""
        return {
            commit.version: metadata
            for commit in self.commits
            for metadata in commit.all("metaData")
        }

    @cached_property
    def schemas(self) -> Mapping[int, Sequence[Action]]:
        """The fields of the table by each version that changed what is said of it."""
        return {version: self.fields(metadata) for version, metadata in self.metadata.items()}

    def fields(self, metadata: Action) -> Sequence[Action]:
        hook = None if self.mapping else _unmapped
        fields: Sequence[Action] = json.loads(metadata["schemaString"], object_hook=hook)["fields"]
        return fields

    def schema(self, version: int) -> Sequence[Action]:
        return self.schemas[max(number for number in self.schemas if number <= version)]

    @property
    def properties(self) -> Mapping[str, str]:
        newest = self.metadata[max(self.metadata)] if self.metadata else {}
        return dict(newest.get("configuration") or {})

    @property
    def protocol(self) -> Action:
        """The newest action that says which features the table has; empty where none is there."""
        actions = [action for commit in self.commits for action in commit.all("protocol")]
        return actions[-1] if actions else {}

    @property
    def mapping(self) -> str:
        """How columns are found in files by other names; empty where by the table's own.

        A mode counts where the protocol has the feature (protocol, "Column Mapping").
        """
        features = self.protocol.get("readerFeatures") or ()
        if self.protocol.get("minReaderVersion", 2) == 2 or FEATURE in features:  # noqa: PLR2004 - the first that has it
            return self.properties.get(MODE, "none").replace("none", "")
        return ""

    def versions_of(self, *operations: str) -> tuple[str, ...]:
        return tuple(
            str(commit.version) for commit in self.commits if commit.operation in operations
        )

    def live(self) -> tuple[LiveFile, ...]:
        """Return every data file of the newest version, in the order in which they were added."""
        live: dict[str, LiveFile] = {}
        first = dict[str, int]()
        for commit in self.commits:
            removed = {unquote(action["path"]) for action in commit.all("remove")}
            for action in commit.all("remove"):
                live.pop(logical_file(action), None)
            for action in commit.all("add"):
                path, logical = unquote(action["path"]), logical_file(action)
                # A checkpoint does not say when a file was added; a commit that is there does.
                if path not in first or (first[path] == BEFORE and path not in removed):
                    first[path] = commit.version
                partition = action.get("partitionValues") or {}
                versions, vector = (first[path], commit.version), action.get(VECTOR)
                told_of = (action.get(name) for name in ("size", "stats"))
                live[logical] = LiveFile(path, logical, *versions, partition, vector, *told_of)
        return tuple(sorted(live.values(), key=lambda file: (file.version, file.path)))

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The versions of which there is a checkpoint."""
        names = (path.name for path in (self.folder / LOG).iterdir())
        return tuple(str(point.version) for point in checkpoints.complete(names))

    def unnamed_files(self) -> tuple[str, ...]:
        """Return the data files in the table's folder that no version has ever named."""
        adds = (action for commit in self.commits for action in commit.all("add"))
        named = {unquote(add["path"]) for add in adds}
        unnamed = []
        for path in self.folder.rglob("*"):
            inside = path.relative_to(self.folder)
            # Trino names data files without an ending.
            other = path.name.startswith((".", "_")) or path.name.endswith(VECTORS)
            if path.is_file() and not other and inside.parts[0] not in NO_DATA:
                unnamed.append(inside.as_posix())
        return tuple(sorted(set(unnamed) - named))


def logical_file(action: Action) -> str:
    """Return what identifies the file of an `add` or a `remove`: its path and its deletion vector.

    Source: protocol, "Action Reconciliation"; a vector's id is of its storage type, its path or
    content, and its offset ("Deletion Vectors"). One path may be several files of a table.
    """
    path, vector = unquote(action["path"]), action.get(VECTOR)
    if not vector:
        return path
    offset = "" if vector.get("offset") is None else f"@{vector['offset']}"
    return f"{path} {vector['storageType']}{vector['pathOrInlineDv']}{offset}"


def _unmapped(part: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name not in {PHYSICAL, ID}}


def physical_name(field: Action) -> str:
    name: str = field.get("metadata", {}).get(PHYSICAL, field["name"])
    return name


def own_id(field: Action, path: tuple[str, ...]) -> int | str:  # noqa: ARG001 - see `Identify`
    number: int | str = field.get("metadata", {}).get(ID, field["name"])
    return number


def columns(fields: Iterable[Action], identify: Identify = own_id) -> tuple[ColumnPart, ...]:
    return tuple(_part(field, (physical_name(field),), identify) for field in fields)


def _part(field: Action, path: tuple[str, ...], identify: Identify) -> ColumnPart:
    number, name = identify(field, path), field["name"]

    def inner(below: str, type_: Any) -> ColumnPart:  # noqa: ANN401 - JSON
        return _part({"name": below, "type": type_}, (*path, below), identify)

    match field["type"]:
        case {"type": "struct", "fields": fields}:
            parts = tuple(_part(part, (*path, physical_name(part)), identify) for part in fields)
            return ColumnPart(number, name, STRUCT, parts)
        case {"type": "array", "elementType": element}:
            return ColumnPart(number, name, ARRAY, (inner(ELEMENT, element),))
        case {"type": "map", "keyType": key, "valueType": value}:
            return ColumnPart(number, name, MAP, (inner(KEY, key), inner(VALUE, value)))
    return ColumnPart(number, name, str(field["type"]))


def local(folder: Path) -> DeltaLog:
    """Read the log of a run's table; raises FileFactError where a commit is missing or broken."""
    log = read(table_folder.at(str(folder)))
    if [commit.version for commit in log.commits] != list(range(len(log.commits))):
        raise FileFactError(f"{LOG}: it does not have all commits from version 0 on")
    return log


def read(folder: TableFolder) -> DeltaLog:
    """Read a log, with a checkpoint where the first commits are gone; it may have no commits."""
    names = [file.name for file in folder.listed(LOG)]
    commits = [_commit(folder, name) for name in filter(COMMIT.fullmatch, names)]
    first = commits[0].version if commits else BEFORE
    if first == 0 or not names:
        return DeltaLog(Path(folder.root), tuple(commits))
    # The commits that are there go on from any checkpoint that is not older.
    usable = [point for point in checkpoints.complete(names) if point.version >= first - 1]
    if not usable:
        return DeltaLog(Path(folder.root), tuple(commits), complete=False)
    begin = Commit(BEFORE, tuple(checkpoints.actions(folder, usable[0], ("path", VECTOR))))
    if any(begin.all("metaData")):  # of all versions that the checkpoint has
        for at, commit in enumerate(commits):
            if commit.version <= usable[0].version:
                others = [action for action in commit.actions if "metaData" not in action]
                commits[at] = Commit(commit.version, others)
    return DeltaLog(Path(folder.root), (begin, *commits))


def snapshot(folder: TableFolder, version: int | None = None) -> DeltaLog:
    """Read what a version consists of: the newest checkpoint up to it, and the commits after that.

    Raises FileFactError where the log does not have that version, or UnreadableError.
    """
    names = [file.name for file in folder.listed(LOG)]
    stored = {_version(name): name for name in filter(COMMIT.fullmatch, names)}
    points = {point.version: point for point in checkpoints.complete(names)}
    if not stored and not points:
        raise FileFactError(f"{LOG}: there is no commit and no checkpoint")
    newest = max((*stored, *points))
    until = newest if version is None else version
    if not 0 <= until <= newest:
        raise FileFactError(f"{LOG}: there is no version {until}; the newest is {newest}")
    begin = max((number for number in points if number <= until), default=BEFORE)
    commits = _commits(folder, stored, range(begin + 1, until + 1))
    if begin != BEFORE:
        commits.insert(0, Commit(begin, tuple(checkpoints.actions(folder, points[begin]))))
    return DeltaLog(Path(folder.root), tuple(commits))


def commits(folder: TableFolder, first: int, last: int) -> Sequence[Commit]:
    """Read the commits of some versions; raises FileFactError where one is not there."""
    names = filter(COMMIT.fullmatch, (file.name for file in folder.listed(LOG)))
    return _commits(folder, {_version(name): name for name in names}, range(first, last + 1))


def _commits(folder: TableFolder, stored: Mapping[int, str], needed: range) -> list[Commit]:
    if absent := [number for number in needed if number not in stored]:
        until = f"without which {needed[-1]} is unknown"
        raise FileFactError(f"{LOG}: version {absent[0]} is gone, {until}")
    return [_commit(folder, stored[number]) for number in needed]


def _version(name: str) -> int:
    return int(name[:20])


def _commit(folder: TableFolder, name: str) -> Commit:
    try:
        return Commit(_version(name), checkpoints.json_actions(folder.text(f"{LOG}/{name}") or b""))
    except ValueError as problem:
        raise FileFactError(f"{name}: {problem}") from problem

"""The log of a Delta table: what its commits did, and what is part of the table now.

Source: Delta transaction log protocol, "Delta Log Entries", "Actions" and "Column Mapping". All of
it is read from the commits in JSON, from version 0 on. A checkpoint says the same once more, and
commits are only removed when they are older than `delta.logRetentionDuration`, 30 days.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from harness.formats.api import FileFactError

LOG: Final = "_delta_log"
APART: Final = (LOG, "_change_data")
"""The folders that hold no data files (protocol, "Checkpoints" and "Change Data Files")."""
VECTORS: Final = ".bin"
"""How files of deletion vectors end (protocol, "Deletion Vector Descriptor Schema")."""
COMMIT: Final = re.compile(r"\d{20}\.json")
PHYSICAL: Final = "delta.columnMapping.physicalName"
"""In a field's metadata: what data files call it (protocol, "Column Mapping")."""
PROPERTIES_ALONE: Final = "SET TBLPROPERTIES"
"""The operation of a commit that changes neither rows nor columns."""

Action = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Commit:
    """One version of a table."""

    version: int
    actions: Sequence[Action]

    def told(self, name: str) -> Iterator[Action]:
        """Yield the actions of a name."""
        return (each[name] for each in self.actions if each.get(name))

    @property
    def operation(self) -> str:
        """What was done, in the words of who did it; empty where nobody said."""
        return next((str(each.get("operation", "")) for each in self.told("commitInfo")), "")


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A data file that is part of the table."""

    path: str
    """Relative to the table's folder."""
    version: int
    """The one whose commit added it first."""
    marked: int
    """The one that set its deletion vector."""
    partition: Mapping[str, str | None]
    """By the physical names of the columns."""
    vector: Action | None
    """The descriptor of its deletion vector."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class DeltaLog:
    """All commits of a table, oldest first."""

    folder: Path
    commits: tuple[Commit, ...]

    @cached_property
    def metadata(self) -> Mapping[int, Action]:
        """What each version that changed it says of schema, partitions and properties."""
        return {each.version: told for each in self.commits for told in each.told("metaData")}

    def schema(self, version: int) -> Sequence[Action]:
        """Return the fields of the schema as of a version."""
        newest = max(each for each in self.metadata if each <= version)
        fields: Sequence[Action] = json.loads(self.metadata[newest]["schemaString"])["fields"]
        return fields

    @property
    def now(self) -> int:
        """The newest version."""
        return self.commits[-1].version

    @property
    def properties(self) -> Mapping[str, str]:
        """The table's properties."""
        found: Mapping[str, str] = self.metadata[max(self.metadata)]["configuration"]
        return found

    @property
    def partition_columns(self) -> Sequence[str]:
        """The names of the columns that the table is partitioned by, as it calls them now."""
        found: Sequence[str] = self.metadata[max(self.metadata)]["partitionColumns"]
        return found

    @property
    def reader_version(self) -> str:
        """The version of the protocol that readers need."""
        told = [each["minReaderVersion"] for one in self.commits for each in one.told("protocol")]
        return str(told[-1])

    def of(self, *operations: str) -> tuple[str, ...]:
        """Return the versions at which something was done."""
        return tuple(str(each.version) for each in self.commits if each.operation in operations)

    def live(self) -> tuple[LiveFile, ...]:
        """Return every data file of the newest version, in the order in which they were added.

        A commit says of a file once at most that it is added, and once that it is removed; with
        another deletion vector it is another logical file (protocol, "Add File and Remove File").
        """
        found: dict[str, LiveFile] = {}
        first: dict[str, int] = {}
        for commit in self.commits:
            for each in commit.told("remove"):
                found.pop(unquote(each["path"]), None)
            for each in commit.told("add"):
                path, vector = unquote(each["path"]), each.get("deletionVector")
                first.setdefault(path, commit.version)
                partition = each.get("partitionValues", {})
                found[path] = LiveFile(path, first[path], commit.version, partition, vector)
        return tuple(sorted(found.values(), key=lambda each: (each.version, each.path)))

    def unnamed_files(self) -> tuple[str, ...]:
        """Return the data files in the table's folder that no version has ever named."""
        adds = (each for commit in self.commits for each in commit.told("add"))
        named = {unquote(each["path"]) for each in adds}
        there = (each for each in self.folder.rglob("*") if each.is_file() and _is_data(each.name))
        inside = (each.relative_to(self.folder) for each in there)
        data = (each.as_posix() for each in inside if each.parts[0] not in APART)
        return tuple(sorted(each for each in data if each not in named))


def physical_name(field: Action) -> str:
    """Return what data files call a field."""
    name: str = field.get("metadata", {}).get(PHYSICAL, field["name"])
    return name


def read(folder: Path) -> DeltaLog | None:
    """Read the log of a table; None when there is none.

    Raises:
        FileFactError: a commit is missing, or cannot be understood.

    """
    names = sorted(path.name for path in (folder / LOG).glob("*.json") if _is_commit(path))
    if not names:
        return None
    versions = [int(name.removesuffix(".json")) for name in names]
    if versions != list(range(len(versions))):
        raise FileFactError(f"{LOG}: it does not have all commits from version 0 on")
    return DeltaLog(folder, tuple(map(_commit, (folder / LOG / name for name in names), versions)))


def _is_data(name: str) -> bool:
    """Return whether a file may be one of data, which Trino names without an ending."""
    return not name.startswith((".", "_")) and not name.endswith(VECTORS)


def _is_commit(path: Path) -> bool:
    return COMMIT.fullmatch(path.name) is not None


def _commit(path: Path, version: int) -> Commit:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return Commit(version, tuple(json.loads(line) for line in lines if line.strip()))
    except ValueError as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem

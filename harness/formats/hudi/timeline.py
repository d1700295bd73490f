"""Hudi's timeline, from the names of its files, and what its records say. Pure.

Layout 1 (table versions up to 6): `.hoodie/<requested>.<action>` once an instant is completed,
`<requested>.<action>.<state>` before. Layout 2 (version 8):
`.hoodie/timeline/<requested>_<completed>.<action>` and `<requested>.<action>.<state>`.
The record of a completed instant is JSON in layout 1, Avro in layout 2. Source: Hudi technical
specification, "Timeline", versions 0.15 and 1.0; `HoodieReplaceCommitMetadata.avsc`.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from harness.core.arrow import fastavro
from harness.formats.api import FileFactError
from harness.formats.files import avro

REPLACE: Final = "replacecommit"
WRITES: Final = ("commit", "deltacommit", REPLACE)
"""Actions that change what a reader sees; a compaction completes as `commit`."""
_SCHEDULED: Final = ("compaction", "clustering", REPLACE)
"""Layout 1 calls a clustering that waits a replacecommit too (`HoodieTimeline`)."""
OF_WRITES: Final = (*WRITES, "compaction", "logcompaction", "clustering")
"""What a write has as action before it is completed, too."""
INFLIGHT: Final = "inflight"
COMPLETED: Final = "completed"
_STATES: Final = ("requested", INFLIGHT, COMPLETED)
_NAME: Final = re.compile(
    r"(?P<requested>\d+)(_(?P<completed>\d+))?"
    r"(\.(?P<action>(?!requested|inflight)[a-z]+))?(\.(?P<state>requested|inflight))?"
)
_PROBLEMS: Final = (ValueError, TypeError, AttributeError, EOFError, IndexError, StopIteration)
"""What reading raises where the bytes are no such record."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An action on a timeline, in its last state."""

    requested: str
    action: str
    state: str
    """`requested`, `inflight` or `completed`."""
    completed: str = ""
    """When, where it is completed and the timeline says so: layout 1 does not."""
    path: str = ""
    """Of its file."""

    @property
    def ended(self) -> str:
        return self.completed or self.requested

    @property
    def text(self) -> str:
        when = f" at {self.completed}" if self.completed else ""
        return f"{self.requested} {self.action}: {self.state}{when}"


def entries(paths: Iterable[str]) -> tuple[Entry, ...]:
    """Return every action of a timeline in its last state, in the order of its request.

    >>> [(e.action, e.state) for e in entries(["1.commit.requested", "1.inflight"])]
    [('commit', 'inflight')]
    >>> [e.text for e in entries(["1.deltacommit.inflight", ".hoodie/timeline/1_3.deltacommit"])]
    ['1 deltacommit: completed at 3']
    """
    last: dict[tuple[str, str], Entry] = {}
    for path in paths:
        if match := _NAME.fullmatch(path.rpartition("/")[2]):
            named = match.groupdict(default="")
            action, state = named["action"] or "commit", named["state"] or COMPLETED
            entry = Entry(named["requested"], action, state, named["completed"], path)
            # A savepoint has the instant of the write that it keeps.
            key = entry.requested, "" if action in OF_WRITES else action
            last[key] = max(last.get(key, entry), entry, key=lambda one: _STATES.index(one.state))
    return tuple(entry for _, entry in sorted(last.items()))


def completed(entries: Iterable[Entry], actions: Collection[str] = WRITES) -> tuple[Entry, ...]:
    """Return the completed writes, or other actions, in the order of their completion."""
    done = (entry for entry in entries if entry.state == COMPLETED and entry.action in actions)
    return tuple(sorted(done, key=lambda entry: (entry.ended, entry.requested)))


def scheduled(entries: Iterable[Entry]) -> tuple[str, ...]:
    return tuple(e.requested for e in entries if e.action in _SCHEDULED and e.state != COMPLETED)


def begun(entries: Iterable[Entry], *states: str) -> tuple[str, ...]:
    """Return the instants of the writes that are in states before the last one, oldest first."""
    states = states or _STATES[:2]
    return tuple(
        entry.requested
        for entry in entries
        if entry.state in states and entry.action in WRITES and entry.action != REPLACE
    )


def extra_metadata(record: bytes) -> Mapping[str, str]:
    """Return the extra metadata in the record of a write; nothing where it is no such record."""
    try:
        return _decoded(record).get("extraMetadata") or {}
    except _PROBLEMS:
        return {}


def commit_record(record: bytes, name: str) -> Mapping[str, Any]:
    """Return the record of a completed write; raises FileFactError."""
    try:
        return dict(_decoded(record))
    except _PROBLEMS as problem:
        raise FileFactError(f"{name} cannot be understood: {problem}") from problem


def file_group(folder: str, file_id: str) -> str:
    """Return what identifies a file group: an id is unique within its partition only.

    Source: Hudi technical specification, "File Layouts"; `HoodieFileGroupId` is of both. Under
    non-blocking concurrency every partition begins with one and the same id.
    """
    return f"{folder}/{file_id}" if folder else file_id


def replaced_groups(record: bytes, name: str) -> frozenset[str]:
    """Return the file groups (`file_group`) that the record of a completed instant replaced."""
    groups = _by_folder(record, name, "partitionToReplaceFileIds")
    return frozenset(file_group(folder, group) for folder, group in groups)


def written_files(record: bytes, name: str) -> tuple[str, ...]:
    """Return the paths of the files that the record of a completed write names."""
    stats = _by_folder(record, name, "partitionToWriteStats")
    return tuple(stat["path"] for _, stat in stats if stat.get("path"))


def _by_folder(record: bytes, name: str, field: str) -> Sequence[tuple[str, Any]]:
    """Return what a field has, each with its partition; raises FileFactError."""
    try:
        listed = (_decoded(record).get(field) or {}).items()
        return [(folder, one) for folder, inside in listed for one in inside or ()]
    except _PROBLEMS as problem:
        raise FileFactError(f"{name} cannot be understood: {problem}") from problem


def _decoded(record: bytes) -> Any:  # noqa: ANN401 - JSON or Avro
    if not record.startswith(avro.MAGIC):
        return json.loads(record or b"{}")
    return next(iter(fastavro.reader(BytesIO(record))))

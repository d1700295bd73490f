"""Hudi's timeline, from the names of its files alone. Pure, but for `names` and `home`.

Layout 1 (table versions up to 6): `.hoodie/<requested>.<action>` once an instant is completed,
`<requested>.<action>.<state>` before. Layout 2 (version 8):
`.hoodie/timeline/<requested>_<completed>.<action>` and `<requested>.<action>.<state>`.
Source: Hudi technical specification, "Timeline", versions 0.15 and 1.0.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError

REPLACE: Final = "replacecommit"
AVRO: Final = b"Obj\x01"
"""What an Avro file begins with (Avro specification, "Object Container Files")."""
PROBLEMS: Final = (ValueError, TypeError, AttributeError, EOFError, IndexError, StopIteration)
"""What reading raises where the bytes are no such record."""


def read(data: bytes) -> Any:  # noqa: ANN401 - JSON or Avro
    """Return the record; raises one of `PROBLEMS` where it is none."""
    if not data.startswith(AVRO):
        return json.loads(data or b"{}")
    import fastavro  # noqa: PLC0415 - only reading needs it

    return next(iter(fastavro.reader(BytesIO(data))))


def extra_of(path: Path) -> Mapping[str, str]:
    """Return the extra metadata in the file of a write; nothing where it is no such record."""
    try:
        return read(path.read_bytes()).get("extraMetadata") or {}
    except PROBLEMS:
        return {}


def replaced_groups(folder: Path) -> frozenset[str]:
    """Return the file groups that completed instants of a table's timeline replaced."""
    there, groups = home(folder), frozenset[str]()
    for name in names(folder):
        if name.endswith(f".{REPLACE}"):
            groups |= replaced_by((there / name).read_bytes(), name)
    return groups


def replaced_by(record: bytes, name: str = f"a {REPLACE}") -> frozenset[str]:
    """Return the file groups that one completed instant replaced; `name`: what to call it."""
    try:
        groups = read(record).get("partitionToReplaceFileIds") or {}
        return frozenset(group for inside in groups.values() for group in inside or ())
    except PROBLEMS as problem:
        raise FileFactError(f"{name} cannot be understood: {problem}") from problem


WRITES: Final = ("commit", "deltacommit", "replacecommit")
"""Actions that change what a reader sees; a compaction completes as `commit`."""
_SCHEDULED: Final = re.compile(
    r"(?P<requested>\d+)\.(compaction|clustering|replacecommit)\.requested"
)
"""Layout 1 calls a clustering that waits a replacecommit too (`HoodieTimeline`)."""
SAVEPOINT: Final = ("savepoint",)
"""Keeps a write; its instant is that of the write."""
UNDO: Final = ("restore", "rollback")
"""Take writes back."""
_INFLIGHT: Final = re.compile(
    r"(?P<requested>\d+)\.((delta|replace)?commit\.)?(requested|inflight)"
)
"""Of a write: layout 1 calls an inflight commit `<requested>.inflight`."""
OF_WRITES: Final = (*WRITES, "compaction", "logcompaction", "clustering")
"""What their names have as action before they are completed, too."""
_WRITE: Final = re.compile(rf"(?P<requested>\d+)(_\d+)?\.({'|'.join(OF_WRITES)})\b")
"""The name of a file of a write, completed or not."""
CLEANINGS: Final = ("clean",)
INFLIGHT: Final = "inflight"
COMPLETED: Final = "completed"
_STATES: Final = ("requested", INFLIGHT, COMPLETED)
_ENTRY: Final = re.compile(
    r"(?P<requested>\d+)(_(?P<completed>\d+))?"
    r"(\.(?P<action>(?!requested|inflight)[a-z]+))?(\.(?P<state>requested|inflight))?"
)
_COMPLETED: Final = re.compile(r"(?P<requested>\d+)(_(?P<completed>\d+))?\.(?P<action>[a-z]+)")


@dataclass(frozen=True, slots=True)
class Instant:
    """A completed action."""

    requested: str
    completed: str
    """Equal to `requested` in layout 1, which does not say."""
    action: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An action on a timeline, in whichever state."""

    requested: str
    action: str
    state: str
    """`requested`, `inflight` or `completed`."""
    completed: str = ""
    """When, where it is completed and the timeline says so."""

    @property
    def text(self) -> str:
        """Say it in a few words."""
        when = f" at {self.completed}" if self.completed else ""
        return f"{self.requested} {self.action}: {self.state}{when}"


def home(folder: Path) -> Path:
    """Return the folder in which a table's timeline is, of whichever layout.

    A table that went back to layout 1 keeps the folder of layout 2, without a file in it.
    """
    second = folder / ".hoodie" / "timeline"
    return second if _files(second) else second.parent


def names(folder: Path) -> tuple[str, ...]:
    """Return the names of the files of a table's timeline."""
    second = folder / ".hoodie" / "timeline"
    return _files(second) or _files(second.parent)


def _files(folder: Path) -> tuple[str, ...]:
    try:
        with os.scandir(folder) as entries:  # it knows what is a file; `Path` would ask of each
            return tuple(entry.name for entry in entries if entry.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return ()


def completed(names: Iterable[str], actions: Collection[str] = WRITES) -> tuple[Instant, ...]:
    """Return the completed writes among names of files, in the order of their completion.

    `actions`: other ones than those of writes.

    >>> completed(["20240101.commit", "20240102.commit.requested", "hoodie.properties"])
    (Instant(requested='20240101', completed='20240101', action='commit'),)
    >>> completed(["1.commit", "1.savepoint", "2.restore.inflight"], UNDO)
    ()
    """
    matches = (_COMPLETED.fullmatch(name) for name in names)
    instants = (
        Instant(match_["requested"], match_["completed"] or match_["requested"], match_["action"])
        for match_ in matches
        if match_ and match_["action"] in actions
    )
    return tuple(sorted(instants, key=lambda instant: (instant.completed, instant.requested)))


def requested(names: Iterable[str], actions: Collection[str] = WRITES) -> tuple[str, ...]:
    """Return the instants of what is completed, oldest first; see `completed`."""
    return tuple(instant.requested for instant in completed(names, actions))


def entries(names: Iterable[str]) -> tuple[Entry, ...]:
    """Return every action of a timeline in its last state, in the order of its request.

    >>> [(e.action, e.state) for e in entries(["1.commit.requested", "1.inflight"])]
    [('commit', 'inflight')]
    >>> entries(["1.deltacommit.inflight", "1_3.deltacommit", "1.deltacommit.requested"])
    (Entry(requested='1', action='deltacommit', state='completed', completed='3'),)
    """
    last: dict[tuple[str, bool], Entry] = {}
    for match in filter(None, map(_ENTRY.fullmatch, names)):
        named = match.groupdict(default="")
        state = named.pop("state") or COMPLETED
        entry = Entry(**{**named, "action": named["action"] or "commit"}, state=state)
        key = entry.requested, entry.action in SAVEPOINT  # one has the instant of what it keeps
        last[key] = max(last.get(key, entry), entry, key=lambda one: _STATES.index(one.state))
    return tuple(entry for _, entry in sorted(last.items()))


def files(folder: Path) -> Mapping[str, Path]:
    """Return the file of each completed write by its instant, in the order of their completion.

    One that was scheduled and carried out has another file of the same instant, without a record.
    """
    there, existing = home(folder), names(folder)
    ends = {
        instant.requested: (
            f"{instant.requested}_{instant.completed}.{instant.action}",
            f"{instant.requested}.{instant.action}",
        )
        for instant in completed(existing)
    }
    return {at: there / next(n for n in end if n in existing) for at, end in ends.items()}


def begin(names: Iterable[str]) -> str:
    """Return the first write, completed or not: those of before were completed, and are archived.

    Cleanings and savepoints may be older, as they are archived by another rule. Source:
    `BaseHoodieTimeline.containsOrBeforeTimelineStarts`, of the timeline of writes.

    >>> begin(["hoodie.properties", "2.commit.requested", "3_4.commit", "1.clean"]), begin([])
    ('2', '')
    """
    writes = (match["requested"] for match in map(_WRITE.match, names) if match)
    return min(writes, default="")


def scheduled(names: Iterable[str]) -> tuple[str, ...]:
    """Return the instants of the table services that wait to be carried out, oldest first.

    >>> scheduled(["1.compaction.requested", "1.commit", "2.compaction.requested", "3.deltacommit"])
    ('2',)
    """
    every = tuple(names)
    done = {instant.requested for instant in completed(every)}
    asked = (match["requested"] for match in map(_SCHEDULED.fullmatch, every) if match)
    return tuple(sorted(text for text in asked if text not in done))


def begun(names: Iterable[str]) -> tuple[str, ...]:
    """Return the instants of the writes that were begun and not completed, oldest first.

    >>> begun(["1.commit.requested", "1.inflight", "2.deltacommit.inflight", "1.commit"])
    ('2',)
    """
    every = tuple(names)
    done = {instant.requested for instant in completed(every)}
    left = {match["requested"] for match in map(_INFLIGHT.fullmatch, every) if match}
    return tuple(sorted(left - done - set(scheduled(every))))


def inflight(names: Iterable[str]) -> tuple[str, ...]:
    """Return the instants of the writes that are in that state, oldest first.

    >>> inflight(["1.commit.requested", "2.deltacommit.requested", "2.deltacommit.inflight"])
    ('2',)
    """
    every = tuple(names)
    states = {entry.requested: entry.state for entry in entries(every)}
    return tuple(text for text in begun(every) if states[text] == INFLIGHT)

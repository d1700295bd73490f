"""Table states: a table frozen after a step, kept in the cache, registered for readers.

A state is `<cache>/states/<digest>/`: the folder `table`, a faithful copy of the table's files, and
`state.json`. It is complete or absent, and read-only. The digest is of what was sent, not of what
came of it. A format whose files name each other by absolute paths is read at its home
(`artifacts/table_homes.py`), made of links to the states' files; a state whose home lies in another
cache counts as absent.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from uuid import uuid4

from pydantic import TypeAdapter

from harness.artifacts import table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.object_storage import BUCKET
from harness.core.records import Outcome, OutcomeKind
from harness.core.runtime_names import S3
from harness.engines.spark.values import canonical_type
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import IN_ORDER, StoredStatistics
from harness.model.simulation.column_resolution import META
from harness.runtime.metastore_client import Catalog
from harness.runtime.metastore_objects import CatalogEntry

DATABASE_DIGITS: Final = 16
TABLE: Final = "table"


@dataclass(frozen=True, slots=True)
class FileSeen:
    """One file or folder, as far as a change of it would show."""

    path: str
    size: int
    """In bytes; of a folder 0."""
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Frozen:
    """What `state.json` holds."""

    outcome: Outcome
    """Of the step that led here."""
    entries: tuple[CatalogEntry, ...]
    instants: tuple[str, ...]
    """What each step so far made on the timeline of this table, empty where nothing."""
    table_version: str = ""
    """Where the format counts versions."""
    home: str = ""
    """The path that the table's own files name, where they name it: readers find it there."""
    others: tuple[tuple[str, int], ...] = ()
    """Instants beside those of the steps, each with the step whose rows it found."""
    statistics: StoredStatistics = IN_ORDER
    """What the writer's own Spark said of those that nothing else can read."""
    metadata: ExtraMetadata | None = None
    """What the step's own commit has, where the step was told of some."""
    listing: tuple[FileSeen, ...] = ()
    """What the frozen folder holds; set by `freeze`."""


@dataclass(frozen=True, slots=True)
class State:
    digest: str
    folder: Path
    frozen: Frozen

    @property
    def table(self) -> Path:
        return self.folder / TABLE

    @property
    def home(self) -> Path:
        return Path(self.frozen.home) if self.frozen.home else self.table

    @property
    def database(self) -> str:
        return f"s_{self.digest[:DATABASE_DIGITS]}"

    def database_in(self, warehouse: str) -> str:
        return f"{self.database}_{warehouse}" if warehouse else self.database

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        entries = self.frozen.entries
        return {e.name: tuple(n for n, _ in e.columns if n not in META) for e in entries}

    @property
    def catalog(self) -> tuple[str, ...]:
        """The columns that all catalog entries list; none where they differ among themselves."""
        every = set(self.columns.values())
        return every.pop() if len(every) == 1 else ()

    @property
    def catalog_types(self) -> tuple[str, ...]:
        """The types of these columns in our words, empty for one that we have no word for."""
        entries, columns = self.frozen.entries, set(self.catalog)
        every = {tuple(canonical_type(t) for n, t in e.columns if n in columns) for e in entries}
        return every.pop() if len(every) == 1 else ()

    @property
    def listed(self) -> Mapping[str, frozenset[str]]:
        """Those of Hudi's meta columns that each catalog entry lists."""
        entries = self.frozen.entries
        return {e.name: frozenset(n for n, _ in e.columns if n in META) for e in entries}


States = Mapping[tuple[str, int], State]
"""The frozen states by variant and step."""

FORMAT: Final = 5
"""Raised whenever what is frozen, or how, changes; older states are then not found."""
STATE: Final = "state.json"
CHECKSUMS: Final = ".crc"
"""How the hidden files end that Hadoop's `ChecksumFileSystem` writes."""
_OF_TRANSACTION: Final = re.compile(r"_v(\d+)$")
_ADAPTER: Final = TypeAdapter(Frozen)


def address(
    settings: Mapping[str, str], steps: Sequence[Sequence[str]], writers: Sequence[str]
) -> str:
    """Return the digest of what sessions were told, of the steps' statements and of the writers."""
    sent = [FORMAT, sorted(settings.items()), [list(step) for step in steps], list(writers)]
    return hashlib.sha256(json.dumps(sent, separators=(",", ":")).encode()).hexdigest()


def load(cache: Cache, digest: str) -> State | None:
    """Find a state in the cache; one that was changed or lies elsewhere is put aside."""
    if state := _usable(cache, digest):  # no lock: it came as a whole, and is never changed
        return state
    with cache.lock(_folder(cache, digest)):
        return _load_locked(cache, digest)


def facts(state: State) -> str:
    """Return all that is recorded of a state beside its files, as a text."""
    return f"{state.digest} {(state.folder / STATE).read_text(encoding='utf-8')}"


def table(cache: Cache, digest: str) -> Path | None:
    """Return the folder of a frozen table, for whoever only looks: nothing is made or put aside."""
    path = _folder(cache, digest) / TABLE
    return path if path.is_dir() else None


def freeze(cache: Cache, digest: str, table: Path, frozen: Frozen) -> State:
    """Copy a table, or an empty one if missing; what another run froze there stays."""
    if frozen.outcome.kind not in (OutcomeKind.APPLIED, OutcomeKind.REFUSED):
        raise ValueError(f"a state whose step is {frozen.outcome.kind} is never kept")
    folder = _folder(cache, digest)
    with cache.lock(folder):
        if state := _load_locked(cache, digest):
            return state
        with cache.workspace(folder) as space:
            work = space / "state"
            work.mkdir()
            if table.is_dir():
                shutil.copytree(table, work / TABLE, symlinks=True)
            else:
                (work / TABLE).mkdir()
            listed = replace(frozen, listing=_list(work / TABLE))
            (work / STATE).write_bytes(_ADAPTER.dump_json(listed, by_alias=True))
            for _, entry in _everything(work):
                Path(entry).chmod(0o555 if entry.is_dir() else 0o444)
            work.rename(folder)
            folder.chmod(0o555)
        return _read(digest, folder)


def register(catalog: Catalog, state: State, bucket: Path | None = None) -> None:
    """Make the state's tables in its database, and in that of `bucket`; raises CatalogRefusedError.

    A database of that name is the same state. A state with a home is read there alone.
    """
    if state.frozen.home:
        table_homes.keep(state.home)
        state.home.mkdir(parents=True, exist_ok=True)
        state.home.touch()  # so that its age tells when it was last needed
        _link_files(state, state.home)
    elif bucket is not None:
        # Hadoop's local file system writes a file of checksums beside each one, and hides it from
        # who reads through it. In an object store Hudi takes that of a log file for one.
        _link_files(state, bucket / state.digest / TABLE, checksums=False)
        _register(catalog, state, S3)
    _register(catalog, state, "")


def _register(catalog: Catalog, state: State, warehouse: str) -> None:
    database = state.database_in(warehouse)
    if not catalog.has(database):
        location = f"s3a://{BUCKET}/{state.digest}/{TABLE}"
        if not warehouse:
            transactional = any(entry.write_ids for entry in state.frozen.entries)
            location = str(_in_sight(state) if transactional else state.home)
            if transactional:
                catalog.end_transactions(_last_compaction(state.frozen.listing))
        catalog.register(database, state.frozen.entries, location)


def _last_compaction(listing: Iterable[FileSeen]) -> int:
    """Return the last transaction that a folder is named by: who has not met it leaves that out.

    So Hive 4 names what a compaction made (`AcidUtils.ParsedDirectory` of 4.0.1).
    """
    named = (_OF_TRANSACTION.search(seen.path) for seen in listing)
    return max((int(match[1]) for match in named if match), default=0)


def _in_sight(state: State) -> Path:
    """Return a path of the state's files without a part that begins with `.` or `_`.

    Trino takes such a table for an empty one (`AcidTables.listFiles`; seen with 476).
    """
    if not any(part[0] in "._" for part in state.home.parts):
        return state.home
    links = Path(tempfile.gettempdir()) / f"lake-table-harness-{os.getuid()}"
    links.mkdir(mode=0o700, exist_ok=True)
    made, link = links / f"{state.digest}.{uuid4().hex}", links / state.digest
    made.symlink_to(state.home)
    return made.replace(link)


def file_list(state: State) -> tuple[FileSeen, ...]:
    """Return the files of this state, equal before and after reading; a home may have more."""
    if not state.frozen.home:
        return _list(state.table)
    home = state.home
    there = ((file.path, home / file.path) for file in state.frozen.listing)
    return tuple(_seen(name, path.lstat()) for name, path in there if path.is_file())


def _link_files(state: State, folder: Path, *, checksums: bool = True) -> None:
    """Link the state's files into a folder, with or without Hadoop's checksums of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in state.frozen.listing:
        source, target = state.table / file.path, folder / file.path
        if source.is_dir():
            target.mkdir(exist_ok=True)
        elif not checksums and is_checksum(file.path):
            continue
        elif not (target.exists() and _seen("", source.lstat()) == _seen("", target.lstat())):
            _link(source, target)


def is_checksum(path: str) -> bool:
    """Return whether Hadoop keeps there what it checks a file beside it by."""
    name = path.rpartition("/")[2]
    return name.startswith(".") and name.endswith(CHECKSUMS)


def _link(source: Path, target: Path) -> None:
    """Put a link in place at once: somebody else may be reading, or doing the same."""
    made = target.with_name(f"{target.name}.{uuid4().hex}")
    link_or_copy(str(source), str(made))
    made.replace(target)
    made.unlink(missing_ok=True)  # where both were the same file already, nothing is renamed


def link_or_copy(source: str, target: str) -> None:
    """Make a file whose bytes nobody changes be there once more: to write small ones costs most."""
    try:
        Path(target).hardlink_to(source)
    except OSError:  # somebody else's files, another file system, or one without links
        shutil.copy2(source, target)


def _load_locked(cache: Cache, digest: str) -> State | None:
    """Find a state, for who holds its lock; one that cannot be used is put aside."""
    folder = _folder(cache, digest)
    if not folder.is_dir():
        return None
    if state := _usable(cache, digest):
        return state
    folder.chmod(0o755)
    folder.rename(folder.with_name(f"{digest}.changed-{time.time_ns()}"))
    return None


def _usable(cache: Cache, digest: str) -> State | None:
    """Return a state that is there, as it was frozen and where it can be read; else None."""
    try:
        state = _read(digest, _folder(cache, digest))
    except FileNotFoundError:
        return None
    moved = state.frozen.home and state.home.parent != table_homes.folder(cache)
    return None if moved or _list(state.table) != state.frozen.listing else state


def _list(table: Path) -> tuple[FileSeen, ...]:
    return tuple(
        _seen(name, entry.stat(follow_symlinks=False), folder=entry.is_dir())
        for name, entry in _everything(table)
    )


def _read(digest: str, folder: Path) -> State:
    return State(digest, folder, _ADAPTER.validate_json((folder / STATE).read_bytes()))


def _folder(cache: Cache, digest: str) -> Path:
    return cache.states() / digest


def _everything(folder: Path | str, below: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Yield all in a folder, without `Path`: it runs for nearly each answer that comes."""
    try:
        with os.scandir(folder) as scandir_iterator:
            entries = sorted(scandir_iterator, key=lambda entry: entry.name)
    except OSError:
        return
    yield from ((below + entry.name, entry) for entry in entries)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _everything(entry.path, f"{below}{entry.name}/")


def _seen(name: str, stat: os.stat_result, *, folder: bool = False) -> FileSeen:
    return FileSeen(name, 0 if folder else stat.st_size, stat.st_mtime_ns)

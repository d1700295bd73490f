"""The SQLite file that keeps judged runs: their records, compressed, and what each cell was.

One file, so that a build's cache or artifact can carry it: it uses SQLite's rollback journal, which
is gone after every commit, and no write-ahead log, whose files would have to come along. A writer
locks the file; others wait.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import re
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from harness.comparison.cell_pairs import every_verdict, key_of, places
from harness.core.errors import EnvironmentProblem, UsageProblem, disk_full, unwritable
from harness.core.grouping import grouped
from harness.core.records import Answer, Part, Verdict, VerdictKind
from harness.run import causes, load_run, run_folder
from harness.run.load_run import WRITE, Run, RunInfo
from harness.scenario.cells import Cell

NAME: Final = "history.sqlite"
VARIABLE: Final = "HARNESS_HISTORY"
VERSION: Final = 3
"""Of the table below (SQLite's `user_version`)."""
APPLICATION: Final = 0x4C544831
"""Tells the file from those of other programs (SQLite's `application_id`)."""
PATIENCE_S: Final = 120.0
"""A harness that adds a run of a million cells locks the file for a fraction of this."""
CELLS: Final = "cells"
"""Begins the names of the files with the `StoredCell`s of a run, in order."""
CELLS_AT_ONCE: Final = 20_000
RECORDS: Final = (load_run.VERDICTS, load_run.ANSWERS, load_run.STATES, load_run.INFO)
"""The plan last: without it, a folder is no run."""
LONGEST: Final = 200
"""The reason of an unknown cell may hold the end of a server's log."""
_SCHEMA: Final = (
    "CREATE TABLE run (id TEXT, started TEXT, plan BLOB, content BLOB, PRIMARY KEY (id, started))",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
"""`content` is a ZIP file."""
_LEAST_CODE: Final = 0xFF
"""An extended code of SQLite has its plain one in the lowest byte."""
_EXPLANATION: Final = re.compile(r"^(about|source):.*\n( .*\n)*", re.MULTILINE)
"""The part of a scenario's text that no engine ever sees."""
_DATABASE: Final = re.compile(r"\bs_[0-9a-f]{16}\b")
"""Named after the state of the table, whose digest is stored by itself."""


@dataclass(frozen=True, slots=True)
class StoredPlan:
    info: RunInfo
    """Without cells; of the texts of scenarios and of lock data it has digests."""
    written: Mapping[str, str]
    """A digest of what was written, by variant."""
    counts: Mapping[VerdictKind, int]
    """How many questions have which verdict."""


_PLAN: Final = TypeAdapter(StoredPlan)


@dataclass(frozen=True, eq=False)  # no slots: what is derived is cached
class StoredRun:
    key: tuple[str, str]
    """Its id, and when it began."""
    name: str
    """Its id; where several have the same, with the time at which it began."""
    plan: StoredPlan

    @property
    def info(self) -> RunInfo:
        return self.plan.info

    @property
    def counts(self) -> Mapping[VerdictKind, int]:
        return self.plan.counts


class StoredCell(NamedTuple):
    variant: str
    step: int
    reader: str
    """Empty for a step, about which no reader was asked."""
    view: str
    query: str
    verdict: VerdictKind
    symptom: str = ""
    """How it is not right, in a few words."""
    places: str = ""
    """The digests of its wrong places, in order, a space between them."""
    asked: str = ""
    """A digest of the statement; empty where none was sent."""
    answered: str = ""
    """A digest of the answer; empty where there is none."""

    @property
    def case(self) -> str:
        if self.view == WRITE:
            return f"{self.variant}/s{self.step}/{self.view}"
        return Cell(self.variant, self.step, self.reader, self.view, self.query).case


Row = Sequence[Any]
"""The values of a `StoredCell`, in order: of most cells nobody needs more than some of them."""


def cell_of(row: Row) -> StoredCell:
    variant, step, reader, view, query, verdict, *more = row
    return StoredCell(variant, step, reader, view, query, VerdictKind(verdict), *more)


class HistoryStore:
    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def runs(self) -> tuple[StoredRun, ...]:
        """Return every run, the oldest first."""
        rows = self._connection.execute(
            "SELECT id, started, plan FROM run ORDER BY started, id"
        ).fetchall()
        times = Counter(id_ for id_, *_ in rows)
        return tuple(
            StoredRun(
                (id_, started),
                id_ if times[id_] == 1 else f"{id_}@{started[:19].replace(':', '')}",
                _PLAN.validate_json(zlib.decompress(plan)),
            )
            for id_, started, plan in rows
        )

    def run(self, name: str) -> StoredRun:
        """Return the run of that name.

        Raises UsageProblem: there is none.
        """
        runs = self.runs()
        for run in runs:
            if run.name == name:
                return run
        names = ", ".join(run.name for run in runs) or "none"
        raise UsageProblem(f"{name}: not stored; {self.path} has: {names}")

    def rows(self, run: StoredRun) -> Iterator[Row]:
        """Yield the cells of a run, steps first, as `cell_of` takes them."""
        with self._content(run) as content:
            for name in content.namelist():
                if name.startswith(CELLS):
                    yield from json.loads(content.read(name))

    def add(self, run: Run) -> None:
        """Store a run; it replaces what was stored of it before."""
        started = run.info.started.astimezone(datetime.UTC).isoformat(timespec="microseconds")
        plan = zlib.compress(_PLAN.dump_json(_plan(run)))
        with changing(self._connection):
            self._connection.execute(
                "INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?)",
                (run.info.id, started, plan, _packed(run)),
            )

    def prune(self, most: int) -> tuple[str, ...]:
        """Remove all but the newest runs of each profile; return the names of those removed."""
        profiles = grouped((run.info.profile, run) for run in self.runs())
        old = [run for runs in profiles.values() for run in runs[: max(len(runs) - most, 0)]]
        with changing(self._connection):
            self._connection.executemany(
                "DELETE FROM run WHERE id = ? AND started = ?", [run.key for run in old]
            )
        self._connection.execute("VACUUM")
        return tuple(run.name for run in old)

    def restore(self, run: StoredRun, folder: Path) -> None:
        """Write the records of a run into a new folder, which is a run's then.

        Raises UsageProblem: there is something else.
        """
        run_folder.check_new(folder)
        run_folder.make(folder)
        with self._content(run) as content:
            content.extractall(folder, set(RECORDS).intersection(content.namelist()))

    def _content(self, run: StoredRun) -> zipfile.ZipFile:
        query = "SELECT content FROM run WHERE id = ? AND started = ?"
        (content,) = self._connection.execute(query, run.key).fetchone()
        return zipfile.ZipFile(io.BytesIO(content))


@contextmanager
def opened(path: Path, *, new: bool = False) -> Iterator[HistoryStore]:
    """Open the file; `new`: make it where it is not there.

    Raises UsageProblem: it is not there, not such a file, broken, or of another version.
    Raises EnvironmentProblem: it cannot be written, or another harness writes for too long.
    """
    if not (new or path.is_file()):
        raise UsageProblem(f"{path} is not there: no run is stored; see harness history add --help")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(error, path) from error
    with (
        _naming_errors(path),
        closing(sqlite3.connect(path, PATIENCE_S, isolation_level=None)) as connection,
    ):
        if new:
            with changing(connection):
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                for statement in () if tables else _SCHEMA:  # another harness may have been first
                    connection.execute(statement)
        _check(connection, path)
        yield HistoryStore(path, connection)


@contextmanager
def changing(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise UsageProblem(f"{path} holds no runs; name another file by --history or {VARIABLE}")
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        raise UsageProblem(
            f"{path} was made by {age} harness (version {version} of the file, this harness has "
            f"{VERSION}); move it away and add its runs anew: harness history add"
        )


@contextmanager
def _naming_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error, zipfile.BadZipFile) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # others have none
        match code & _LEAST_CODE:
            case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
                help_ = "take a copy of it, or move it away and add runs anew"
                problem = f"{path} is broken ({error}); {help_}: harness history add RUN"
                raise UsageProblem(problem) from error
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                problem = f"another harness writes {path}; repeat when it has ended"
                raise EnvironmentProblem(problem) from error
            case sqlite3.SQLITE_FULL:
                raise disk_full(path) from error
        raise EnvironmentProblem(f"cannot use {path}: {error}") from error


def _digest(text: str) -> str:
    """Return a short text that stands for a longer one; empty for an empty one."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8).hexdigest() if text else ""


def _plan(run: Run) -> StoredPlan:
    info = run.info
    texts = {name: _EXPLANATION.sub("", text) for name, text in info.scenarios.items()}
    states = grouped((state.variant, state.digest) for state in run.states)
    return StoredPlan(
        replace(
            info,
            cells=(),
            excluded=(),
            pairs=(),
            partly=(),
            baselines={},
            scenarios={name: _digest(text) for name, text in texts.items()},
            locks={name: _digest(text) for name, text in info.locks.items()},
        ),
        {variant: _digest(" ".join(digests)) for variant, digests in states.items()},
        Counter(verdict.verdict for verdict in run.verdicts),
    )


def _packed(run: Run) -> bytes:
    packed = io.BytesIO()
    cells = (_stored_cell(run, verdict) for verdict in every_verdict(run))
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as content:
        for number, some in enumerate(iter(lambda: list(islice(cells, CELLS_AT_ONCE)), [])):
            content.writestr(f"{CELLS}{number}", json.dumps(some, separators=(",", ":")))
        for path in (run.folder / name for name in RECORDS):
            if path.exists():
                content.write(path, path.name)
    return packed.getvalue()


def _stored_cell(run: Run, verdict: Verdict) -> StoredCell:
    answer = run.answers.get(verdict.case)
    return StoredCell(
        *key_of(verdict),
        verdict.verdict,
        _symptom(verdict, answer),
        " ".join(sorted(_digest(repr(place)) for place in places(verdict))),
        _digest(_DATABASE.sub("", verdict.sql)),
        _digest(_answer_text(answer)) if answer else "",
    )


def _symptom(verdict: Verdict, answer: Answer | None) -> str:
    match verdict.verdict:
        case VerdictKind.CORRECT:
            return ""
        case VerdictKind.WRONG:
            return ", ".join(dict.fromkeys(str(finding.kind) for finding in verdict.findings))
        case VerdictKind.REFUSED:
            return causes.meaning(answer.refusal if answer else None)
    return verdict.because.partition("\n")[0][:LONGEST]


def _answer_text(answer: Answer) -> str:
    """Return what a reader answered, whatever the order of the rows; empty without an answer."""
    if not (answer.refusal or answer.columns):
        return ""
    return repr([_table(answer), *map(_table, answer.parts)])


def _table(answer: Answer | Part) -> tuple[object, ...]:
    rows = sorted(map(repr, answer.rows))
    return answer.columns, rows, answer.refusal and answer.refusal.kind, isinstance(answer, Part)

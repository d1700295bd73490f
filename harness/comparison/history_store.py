"""The SQLite file that keeps judged runs: their records, compressed, and what each cell was.

One file, so that a build's cache or artifact can carry it: it uses SQLite's rollback journal, which
is gone after every commit, and no write-ahead log, whose files would have to come along. A writer
locks the file; others wait.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from harness.comparison.cell_pairs import every_verdict, key_of, places
from harness.core.atomic_write import atomic_write
from harness.core.errors import (
    EnvironmentProblem,
    HarnessError,
    UsageProblem,
    disk_full,
    unwritable,
)
from harness.core.grouping import grouped
from harness.core.records import Answer, Part, Verdict, VerdictKind
from harness.run import causes, load_run, run_folder
from harness.run.load_run import WRITE, Run, RunInfo
from harness.scenario.cells import Cell

NAME: Final = "history.sqlite"
VARIABLE: Final = "HARNESS_HISTORY"
VERSION: Final = 2
"""Of the tables below (SQLite's `user_version`)."""
APPLICATION: Final = 0x4C544831
"""Tells the file from those of other programs (SQLite's `application_id`)."""
PATIENCE_S: Final = 120.0
"""A harness that adds a run of a million cells locks the file for a fraction of this."""
PIECE: Final = 4_000_000
"""So many bytes of a record file are compressed at a time."""
CELLS: Final = "cells"
"""Stands for a file: the `StoredCell`s of a run."""
CELLS_AT_ONCE: Final = 20_000
RECORDS: Final = (load_run.INFO, load_run.STATES, load_run.ANSWERS, load_run.VERDICTS)
LONGEST: Final = 200
"""The reason of an unknown cell may hold the end of a server's log."""
_SCHEMA: Final = f"""
CREATE TABLE run (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL, started TEXT NOT NULL, plan BLOB NOT NULL,
  UNIQUE (id, started)
);
CREATE TABLE content (
  run INTEGER NOT NULL, file TEXT NOT NULL, piece INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (run, file, piece)
);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION}
"""
_LEAST_CODE: Final = 0xFF
"""An extended code of SQLite has its plain one in the lowest byte."""
_EXPLANATION: Final = re.compile(r"^(about|source):.*\n( .*\n)*", re.MULTILINE)
"""The part of a scenario's text that no engine ever sees."""
_DATABASE: Final = re.compile(r"\bs_[0-9a-f]{16}\b")
"""Named after the state of the table, whose digest is stored by itself."""


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """What is stored of a run's plan."""

    info: RunInfo
    """Without cells; of the texts of scenarios and of lock data it has digests."""
    written: Mapping[str, str]
    """A digest of what was written, by variant."""
    counts: Mapping[VerdictKind, int]
    """How many questions have which verdict."""


_PLAN: Final = TypeAdapter(StoredPlan)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run in the file."""

    number: int
    name: str
    """Its id; where several have the same, with the time at which it began."""
    plan: StoredPlan

    @property
    def info(self) -> RunInfo:
        return self.plan.info

    @property
    def counts(self) -> Mapping[VerdictKind, int]:
        return self.plan.counts


@dataclass(frozen=True, slots=True)
class StoredCell:
    """What a run says of a cell."""

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
        """The name that it has in its run."""
        if self.view == WRITE:
            return f"{self.variant}/s{self.step}/{self.view}"
        return Cell(self.variant, self.step, self.reader, self.view, self.query).case


Row = Sequence[Any]
"""The values of a `StoredCell`, in order: of most cells nobody needs more than some of them."""


def cell_of(row: Row) -> StoredCell:
    variant, step, reader, view, query, verdict, *more = row
    return StoredCell(variant, step, reader, view, query, VerdictKind(verdict), *more)


class HistoryStore:
    """The runs of a file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def runs(self) -> tuple[StoredRun, ...]:
        """Return every run, the oldest first."""
        rows = self._connection.execute(
            "SELECT number, id, started, plan FROM run ORDER BY started, number"
        ).fetchall()
        times = Counter(id_ for _, id_, *_ in rows)
        return tuple(
            StoredRun(
                number,
                id_ if times[id_] == 1 else f"{id_}@{started[:19].replace(':', '')}",
                _PLAN.validate_json(zlib.decompress(plan)),
            )
            for number, id_, started, plan in rows
        )

    def run(self, name: str) -> StoredRun:
        """Return the run of that name, or of the only name that begins so.

        Raises:
            UsageProblem: there is none.

        """
        runs = self.runs()
        matching = [run for run in runs if run.name == name]
        matching = matching or [run for run in runs if run.name.startswith(name)]
        if len(matching) != 1:
            several = f"{len(matching)} stored runs have names that begin so"
            names = ", ".join(run.name for run in matching or runs) or "none"
            reason = several if matching else "not stored"
            raise UsageProblem(f"{name}: {reason}; {self.path} has: {names}")
        return matching[0]

    def rows(self, run: StoredRun) -> Iterator[Row]:
        """Yield the cells of a run, steps first, as `cell_of` takes them."""
        for data in self._content(run, CELLS):
            yield from json.loads(data)

    def add(self, run: Run) -> None:
        """Store a run; it replaces what was stored of it before."""
        started = run.info.started.astimezone(datetime.UTC).isoformat(timespec="microseconds")
        key = run.info.id, started
        with changing(self._connection):
            for (number,) in self._connection.execute(
                "SELECT number FROM run WHERE id = ? AND started = ?", key
            ).fetchall():
                self._remove(number)
            number = self._connection.execute(
                "INSERT INTO run (id, started, plan) VALUES (?, ?, ?)",
                (*key, zlib.compress(_PLAN.dump_json(_plan(run)))),
            ).lastrowid
            pieces = chain(_cell_pieces(run), _record_pieces(run.folder))
            rows = ((number, file, at, zlib.compress(data)) for file, at, data in pieces)
            self._connection.executemany("INSERT INTO content VALUES (?, ?, ?, ?)", rows)

    def prune(self, most: int) -> tuple[str, ...]:
        """Remove all but the newest runs of each profile; return the names of those removed."""
        profiles = grouped((run.info.profile, run) for run in self.runs())
        old = [run for runs in profiles.values() for run in runs[: max(len(runs) - most, 0)]]
        with changing(self._connection):
            for run in old:
                self._remove(run.number)
        self._connection.execute("VACUUM")
        return tuple(run.name for run in old)

    def restore(self, run: StoredRun, folder: Path) -> None:
        """Write the records of a run into a new folder, which is a run's then.

        Raises:
            UsageProblem: there is something else.

        """
        run_folder.check_new(folder)
        run_folder.make(folder)
        for name in reversed(RECORDS):  # the plan last: without it, it is no run
            with atomic_write(folder / name) as part, part.open("wb") as out:
                out.writelines(self._content(run, name))

    def _content(self, run: StoredRun, file: str) -> Iterator[bytes]:
        rows = self._connection.execute(
            "SELECT data FROM content WHERE run = ? AND file = ? ORDER BY piece",
            (run.number, file),
        )
        return (zlib.decompress(data) for (data,) in rows)

    def _remove(self, number: int) -> None:
        self._connection.execute("DELETE FROM content WHERE run = ?", (number,))
        self._connection.execute("DELETE FROM run WHERE number = ?", (number,))


@contextmanager
def opened(path: Path, *, new: bool = False) -> Iterator[HistoryStore]:
    """Open the file; `new`: make it where it is not there.

    Raises:
        UsageProblem: it is not there, not such a file, broken, or of another version.
        EnvironmentProblem: it cannot be written, or another harness writes for too long.

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
                _make_tables(connection)
        _check(connection, path)
        yield HistoryStore(path, connection)


@contextmanager
def changing(connection: sqlite3.Connection) -> Iterator[None]:
    """Change the file, wholly or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _make_tables(connection: sqlite3.Connection) -> None:
    (number,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not number:  # another harness may have been first
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise UsageProblem(f"{path} holds no runs; name another file by --history or {VARIABLE}")
    if version > VERSION:
        age = f"is of a newer harness (version {version}, this one knows {VERSION})"
        raise UsageProblem(f"{path} {age}; use that harness, or name another file by --history")
    if version < VERSION:
        raise UsageProblem(
            f"{path} was made by harness 0.1; move it away and add its runs anew: "
            "harness history add"
        )


@contextmanager
def _naming_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says into problems for people."""
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error) as error:
        raise _problem(error, path) from error


def _problem(error: Exception, path: Path) -> HarnessError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # zlib's have none
    match code & _LEAST_CODE:
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            help_ = "take a copy of it, or move it away and add runs anew: harness history add RUN"
            return UsageProblem(f"{path} is broken ({error}); {help_}")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return EnvironmentProblem(f"another harness writes {path}; repeat when it has ended")
        case sqlite3.SQLITE_FULL:
            return disk_full(path)
    return EnvironmentProblem(f"cannot use {path}: {error}")


def _digest(text: str) -> str:
    """Return a short text that stands for a longer one; empty for an empty one."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8).hexdigest() if text else ""


def _plan(run: Run) -> StoredPlan:
    info = run.info
    states = grouped((state.variant, state.digest) for state in run.states)
    return StoredPlan(
        replace(
            info,
            cells=(),
            excluded=(),
            pairs=(),
            partly=(),
            baselines={},
            scenarios={
                name: _digest(_EXPLANATION.sub("", text)) for name, text in info.scenarios.items()
            },
            locks={name: _digest(text) for name, text in info.locks.items()},
        ),
        {variant: _digest(" ".join(digests)) for variant, digests in states.items()},
        Counter(verdict.verdict for verdict in run.verdicts),
    )


def _record_pieces(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    for name in RECORDS:
        if (folder / name).exists():
            with (folder / name).open("rb") as content:
                for number, piece in enumerate(iter(lambda: content.read(PIECE), b"")):
                    yield name, number, piece


def _cell_pieces(run: Run) -> Iterator[tuple[str, int, bytes]]:
    rows = (astuple(_stored_cell(run, verdict)) for verdict in every_verdict(run))
    for number, piece in enumerate(iter(lambda: list(islice(rows, CELLS_AT_ONCE)), [])):
        yield CELLS, number, json.dumps(piece, separators=(",", ":")).encode()


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

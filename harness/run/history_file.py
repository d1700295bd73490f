"""The file of SQLite that keeps runs: opened, made, checked; what is wrong with it is told.

One file, so that a cache or an artifact of a build carries it: it has SQLite's rollback journal,
which is gone after every commit, and no write-ahead log, whose files would have to come along.
Who writes locks the file; others wait.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from harness.core.errors import (
    EnvironmentProblem,
    HarnessError,
    UsageProblem,
    disk_full,
    unwritable,
)

NAME: Final = "history.sqlite"
VARIABLE: Final = "HARNESS_HISTORY"
VERSION: Final = 1
"""Of the tables below (SQLite's `user_version`)."""
APPLICATION: Final = 0x4C544831
"""What tells the file from another program's (SQLite's `application_id`)."""
PATIENCE_S: Final = 120.0
"""Who keeps a run of a million cells holds the file for a fraction of this."""
_SCHEMA: Final = f"""
CREATE TABLE run (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL, started TEXT NOT NULL, profile TEXT NOT NULL,
  info BLOB NOT NULL, written BLOB NOT NULL, UNIQUE (id, started)
);
CREATE TABLE record (
  run INTEGER NOT NULL, file TEXT NOT NULL, piece INTEGER NOT NULL, content BLOB NOT NULL,
  PRIMARY KEY (run, file, piece)
);
CREATE TABLE name (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE symptom (number INTEGER PRIMARY KEY, text TEXT NOT NULL, places BLOB NOT NULL);
CREATE TABLE cell (
  run INTEGER NOT NULL, variant INTEGER NOT NULL, reader INTEGER NOT NULL, step INTEGER NOT NULL,
  view INTEGER NOT NULL, query INTEGER NOT NULL, verdict INTEGER NOT NULL,
  symptom INTEGER NOT NULL, asked INTEGER NOT NULL, answered INTEGER NOT NULL,
  PRIMARY KEY (variant, reader, step, view, query, run)
) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION}
"""
_LEAST_CODE: Final = 0xFF
"""An extended code of SQLite has its plain one in the lowest byte."""


@contextmanager
def opened(path: Path, *, new: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the file; `new`: make it where it is not there.

    Raises:
        UsageProblem: it is not there, not such a file, broken, or of a newer harness.
        EnvironmentProblem: it cannot be written, or another harness writes for too long.

    """
    if not (new or path.is_file()):
        raise UsageProblem(
            f"{path} is not there: no run is kept yet; see harness history add --help"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(error, path) from error
    with _telling(path), closing(sqlite3.connect(path, PATIENCE_S, isolation_level=None)) as found:
        if new:
            with changing(found):
                _make(found)
        _check(found, path)
        yield found


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


def _make(connection: sqlite3.Connection) -> None:
    (number,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not number:  # another harness may have been first
        for each in _SCHEMA.split(";"):
            connection.execute(each)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise UsageProblem(f"{path} keeps no runs; name another file by --history or {VARIABLE}")
    if version > VERSION:
        told = f"is of a newer harness (version {version}, this one knows {VERSION})"
        raise UsageProblem(f"{path} {told}; use that harness, or name another file by --history")


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Let what SQLite says be a problem for people."""
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error) as error:
        raise _problem(error, path) from error


def _problem(error: Exception, path: Path) -> HarnessError:
    if isinstance(error, zlib.error):  # what the file holds was compressed
        return _broken(error, path)
    match getattr(error, "sqlite_errorcode", 0) & _LEAST_CODE:
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return _broken(error, path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return EnvironmentProblem(f"another harness writes {path}; repeat when it has ended")
        case sqlite3.SQLITE_FULL:
            return disk_full(path)
    return EnvironmentProblem(f"cannot use {path}: {error}")


def _broken(error: Exception, path: Path) -> UsageProblem:
    told = f"is broken ({error}); take a copy of it, or move it away and keep runs anew"
    return UsageProblem(f"{path} {told}: harness history add RUN")

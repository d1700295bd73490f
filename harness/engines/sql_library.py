"""A library of Python that answers SQL about Delta tables, which it is told the folders of.

It reads a table's log by itself and asks no catalog here; where a table lies, the metastore is
asked for it. What differs between such libraries is how they are told of a table (`answers.py` of
each), and by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress
from harness.engines import bundles, named_tables, python_program, query_sql
from harness.engines.api import PlannedReads, Question, ReaderSettings, Reply, Server
from harness.engines.code_digest import code_digest
from harness.engines.format_facts import FormatFacts
from harness.engines.python_session import (
    Entry,
    PythonEngine,
    PythonSession,
    entries,
    no_image,
    reply,
    served,
)
from harness.runtime.api import Configuration, MetastoreUris, Runtime

FAMILY: Final = "delta"
PATH: Final = "path"
"""The parameter of an entry's SerDe that names the folder of a table that Spark made (Spark's
`HiveExternalCatalog`, `newHiveCompatibleMetastoreTable` and `storageProperties`)."""
VERSION: Final = "@v"
"""Stands between the name of a table and a version, where SQL has no words for it."""


@dataclass(frozen=True, slots=True)
class LibraryConnection:
    """One session; see `harness.engines.api.Connection`."""

    session: PythonSession
    metastore: str

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        """Send a query and fetch all rows; raises as `Connection.ask` says."""
        asked = {"sql": sql, "tables": [*self._places(sql)]}
        return reply(self.session.run(asked, timeout_s))

    def _places(self, sql: str) -> Iterator[Mapping[str, Any]]:
        """Yield what the worker is told of each table that a query names."""
        for database, name in named_tables.named(sql):
            bare, _, version = name.partition(VERSION)
            for entry in entries(self.metastore, [(database, bare)]):
                told = {"database": database, "name": name, "location": folder(entry)}
                yield {**told, "version": int(version) if version else None}

    def close(self) -> None:
        """End the session; never raises."""
        self.session.close()


def folder(entry: Entry) -> str:
    """Return where a table lies."""
    storage = entry[-1].sd
    place: str = storage.serdeInfo.parameters.get(PATH) or storage.location
    return "/" + place.removeprefix("file:").lstrip("/")


def _connection(
    session: PythonSession, metastore: str, settings: ReaderSettings
) -> LibraryConnection:
    del settings
    return LibraryConnection(session, metastore)


@dataclass(frozen=True, slots=True)
class SqlLibrary:
    """See `harness.engines.api.Engine`."""

    name: str
    """Of its package in `harness.engines`."""
    answers: Path
    """The source of what answers in the worker."""
    hand: tuple[str, ...]
    """How a table is made known in Python, as comments."""
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def sql(self, question: Question, settings: ReaderSettings) -> str:  # noqa: ARG002 - for all
        """Return the query."""
        return query_sql.select(question, query_sql.ANSI)

    def cannot(
        self, distribution: Distribution, settings: ReaderSettings, format_: FormatFacts
    ) -> str:
        """Return why a reader cannot be asked about a format; see `Engine.cannot`."""
        if format_.family != FAMILY:
            return f"{distribution.name} has no reader for {format_.family} tables"
        return bundles.cannot(distribution, settings, format_)

    def by_hand(
        self,
        distribution: Distribution,  # noqa: ARG002 - the same for all
        settings: ReaderSettings,  # noqa: ARG002
        format_: FormatFacts,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Return how a table is made known in Python, as comments."""
        return self.hand

    def ask_code(self) -> str:
        """Return a digest of the sources of everything that shapes an answer."""
        own = ("harness.engines.named_tables", "harness.engines.sql_library")
        return code_digest(self.name, *own, *python_program.SHARED)

    def configuration(self, distribution: Distribution) -> Configuration:
        """Raise UsageProblem: there is no image."""
        no_image(distribution)

    def serve(
        self,
        runtime: Runtime,
        metastore: MetastoreUris,
        folder: Path,
        progress: Progress,
        planned: PlannedReads = None,
    ) -> AbstractContextManager[Server]:
        """Start the worker; see `Engine.serve`."""
        del planned
        progress.note(f"start {runtime.distribution.name}")
        worker = PythonEngine(self.answers, {"sql": "select 1", "tables": []}, _connection)
        return served(runtime, metastore, folder, worker)

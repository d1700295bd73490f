"""Readers that are asked about tables where these lie: the server of each, and the tables in it.

A library of Python is given the entries of the tables; a server finds them in a metastore that is
started for it. Nothing is written beside the tables.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pymetastore.hive_metastore import ttypes

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.audit.spark_reader import SparkReader
from harness.core.progress import Progress, started
from harness.engines.api import Engine, Server
from harness.engines.python_library import Entry, PythonLibrary
from harness.read.questions import load_engine
from harness.runtime import metastore_client, provide, work_folders
from harness.runtime.api import MetastoreUris
from harness.runtime.metastore_objects import CatalogEntry, decode, placed

Entries = Mapping[str, CatalogEntry]
"""The entry of each table by its database: every table has one of its own."""


@dataclass(frozen=True, slots=True)
class GivenEntries:
    """Tables by their databases; see `TableCatalog`."""

    entries: Mapping[str, Entry]

    def of(self, tables: Sequence[tuple[str, str]]) -> Sequence[tuple[tuple[str, str], Entry]]:
        return [(name, self.entries[name[0]]) for name in tables if name[0] in self.entries]

    def close(self) -> None:
        pass


@dataclass(frozen=True)  # no slots: what is derived is kept
class AuditReaders:
    """How the servers of readers are started for some tables."""

    cache: Cache
    folder: Path
    """Of their logs and configuration."""
    progress: Progress
    entries: Entries
    stack: ExitStack
    """Stops what was started."""
    spark: Callable[[], AbstractContextManager[SparkReader]] | None = None
    """Starts it."""

    def serve(self, name: str) -> tuple[Engine, Server]:
        """Start the server of a distribution that knows the tables; raises EnvironmentProblem."""
        engine, distribution = load_engine(name), distributions.load(name)
        runtime = provide.runtime(distribution, self.cache, self.progress)
        folder = work_folders.numbered(self.folder, name)
        serving: AbstractContextManager[Server]
        if isinstance(engine, PythonLibrary):
            serving = engine.serve_tables(runtime, self._catalog, folder, self.progress)
        else:
            serving = engine.serve(runtime, self._metastore, folder, self.progress)
        return engine, self.stack.enter_context(started(name, serving, self.progress))

    @cached_property
    def reader(self) -> SparkReader | None:
        """The Spark that carries out read plans; None where this process does."""
        return self.stack.enter_context(self.spark()) if self.spark else None

    def _catalog(self) -> GivenEntries:
        return GivenEntries(
            {database: _thrift(database, e) for database, e in self.entries.items()}
        )

    @cached_property
    def _metastore(self) -> MetastoreUris:
        """One metastore for all servers, started when the first of them needs it."""
        folder = work_folders.numbered(self.folder, "metastore")
        starting = provide.start_metastore(self.cache, folder, self.progress)
        running = self.stack.enter_context(starting)
        with metastore_client.connect(running.uri) as client:
            for database, entry in self.entries.items():
                client.register(database, [entry], entry.table["sd"]["location"])
        return running.uris


def _thrift(database: str, entry: CatalogEntry) -> Entry:
    return decode(ttypes.Table, placed(entry.table, database, entry.table["sd"]["location"]))

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
from harness.engines.api import Attaches, Engine, Server
from harness.engines.python_library import Entry, PythonLibrary
from harness.read.questions import load_engine
from harness.runtime import metastore, metastore_client, provide, work_folders
from harness.runtime.api import MetastoreUris
from harness.runtime.metastore_objects import CatalogEntry, decode, placed
from harness.scenario.cells import Reader

Entries = Mapping[str, CatalogEntry]
"""The entry of each table by its database: every table has one of its own."""
Servers = Sequence[tuple[Reader, Engine, Server]]


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
        """Start the server of a distribution that knows the tables; raises EnvironmentProblem.

        One that runs already is reached; it knows tables by the names that they have there.
        """
        engine, distribution = load_engine(name), distributions.load(name)
        if distribution.endpoint and isinstance(engine, Attaches):
            return engine, engine.attach(distribution, distribution.endpoint)
        runtime = provide.runtime(distribution, self.cache, self.progress)
        folder = work_folders.numbered(self.folder, name)
        serving: AbstractContextManager[Server]
        if isinstance(engine, PythonLibrary):
            serving = engine.serve_tables(runtime, lambda: self._given, folder, self.progress)
        else:
            through = metastore.oldest_for(distribution) or metastore.DISTRIBUTION
            serving = engine.serve(runtime, self._metastore(through), folder, self.progress)
        return engine, self.stack.enter_context(started(name, serving, self.progress))

    def beside(self, servers: Servers) -> Servers:
        """Return the servers; those of libraries, which answer one at a time, are started anew."""
        return [
            (reader, *self.serve(reader.distribution))
            if isinstance(engine, PythonLibrary)
            else (reader, engine, server)
            for reader, engine, server in servers
        ]

    @cached_property
    def reader(self) -> SparkReader | None:
        """The Spark that carries out read plans; None where this process does."""
        return self.stack.enter_context(self.spark()) if self.spark else None

    @cached_property
    def _given(self) -> GivenEntries:
        return GivenEntries(
            {
                database: decode(ttypes.Table, placed(e.table, database, e.table["sd"]["location"]))
                for database, e in self.entries.items()
            }
        )

    @cached_property
    def _metastores(self) -> dict[str, MetastoreUris]:
        return {}

    def _metastore(self, name: str) -> MetastoreUris:
        """Return one metastore for all servers that can ask it, started for the first of them."""
        if name not in self._metastores:
            folder = work_folders.numbered(self.folder, name)
            starting = provide.start_metastore(self.cache, folder, self.progress, name)
            running = self.stack.enter_context(starting)
            with metastore_client.connect(running.uri) as client:
                for database, entry in self.entries.items():
                    client.register(database, [entry], entry.table["sd"]["location"])
            self._metastores[name] = running.uris
        return self._metastores[name]

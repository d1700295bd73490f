"""Where variants are written: the processes that write, and a place for each table."""

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from harness import engines
from harness.artifacts import distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.errors import HarnessError
from harness.core.progress import Progress, started
from harness.core.runtime_names import CONTAINER, WRITTEN_BUCKET
from harness.engines.api import Connection, Server
from harness.engines.python_library import LibraryConnection
from harness.engines.spark import launch
from harness.engines.spark.session import Spark, SparkRows
from harness.model.identifiers import TABLE
from harness.runtime import memory, metastore, metastore_relay, provide, work_folders
from harness.runtime.api import MetastoreUris, Runtime, Served
from harness.runtime.hive_mutation import TOOL, MutationProgram, has_library
from harness.runtime.metastore_relay import CallRelay


@dataclass(frozen=True, slots=True)
class SqlSession:
    """A session of a server; see `engines.spark.session.Session`."""

    connection: Connection
    mutations: MutationProgram | None = None
    """What sends batches of mutations; None where the writer names no library of them."""

    def run(self, sql: str, *, timeout_s: float) -> SparkRows:
        """Run one statement and fetch all rows; raises RefusedError or NoAnswerError."""
        reply = self.connection.run(sql, timeout_s=timeout_s)
        columns = tuple((column.name, column.type) for column in reply.columns)
        return SparkRows(columns, reply.rows, reply.seconds)

    def write(self, expression: str, table: tuple[str, str], *, timeout_s: float) -> None:
        """Let a library of Python write to a table; raises as `run`."""
        if not isinstance(self.connection, LibraryConnection):
            raise HarnessError("this writer is no library of Python")
        self.connection.write(expression, table, timeout_s=timeout_s)

    def close(self) -> None:
        self.connection.close()


@dataclass(frozen=True, slots=True)
class SqlWriter:
    """A running server whose sessions write; see `engines.spark.session.Spark`."""

    server: Server
    timeout_s: float
    """After so long a setting of a session counts as unanswered."""
    mutations: MutationProgram | None = None
    relay: CallRelay | None = None
    """What keeps its commits from the metastore when it is told to; None where nothing does."""

    def open(self, settings: Mapping[str, str]) -> SqlSession:
        """Open a session with settings, which are the server's own keys. Raises as `run` does."""
        session = SqlSession(self.server.connect({}), self.mutations)
        for key, value in settings.items():
            session.run(f"set {key}={value}", timeout_s=self.timeout_s)
        return session

    def kill(self) -> None:
        """End the process at once; whoever waits for an answer is told that there is none."""
        if not isinstance(self.server, Served):
            raise HarnessError("this writer has no process that could be killed")
        self.server.running.stop(0)

    def alive(self) -> bool:
        return self.server.alive() and not self.server.exhausted()


SPARK: Final = "spark"
"""The engine whose sessions are held by a worker of ours; all others take SQL from their clients.
"""
TIMEOUT_S: Final = 300.0
"""After so long a statement counts as unanswered, unless told; 2 s on a calm machine."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    cache: Cache
    folder: Path
    """The run's own folder for processes, logs and the tables while they are written."""
    progress: Progress
    timeout_s: float = TIMEOUT_S
    """After so long a statement counts as unanswered."""
    metastore: str = metastore.DISTRIBUTION
    """The distribution of the metastore."""


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """Where one variant is written."""

    cache: Cache
    metastore_uri: str
    database: str
    folder: Path
    """Its own; the table's folder is made in it, unless it has another home."""
    home: Path | None = None
    timeout_s: float = TIMEOUT_S
    """After so long a statement counts as unanswered."""

    @property
    def table(self) -> Path:
        return self.home or self.folder / TABLE


class WriterPool:
    """The writing processes that run, one for each distribution. For several threads."""

    def __init__(self, context: WriteContext, uris: MetastoreUris) -> None:
        self.context = context
        self._metastore = uris
        self._stack = ExitStack()
        self._processes: dict[tuple[str, int], Spark | SqlWriter] = {}
        self._lock = threading.Lock()
        self._numbers = count()
        self._bucket = context.folder / "buckets" / WRITTEN_BUCKET

    def target(self) -> WriteTarget:
        """Return a place for one more table."""
        context, folder = self.context, self._folder("table")
        database = folder.name.replace("-", "_")
        self._bucket.mkdir(parents=True, exist_ok=True)
        shown = self._bucket / database
        shown.unlink(missing_ok=True)  # of an earlier pool, whose table of this name is gone
        shown.symlink_to(folder / TABLE)
        return WriteTarget(
            context.cache, self._metastore.host, database, folder, timeout_s=context.timeout_s
        )

    def writer(self, name: str, number: int = 1) -> Spark | SqlWriter:
        """Return a running process; number 2 is a second writer, whose commits can be held."""
        which = name, number
        with self._lock:
            if which not in self._processes or not self._processes[which].alive():
                distribution, context = distributions.load(name), self.context
                if object_storage.written(distribution):
                    starting = provide.start_store(
                        context.cache, context.folder, context.progress, self._bucket
                    )
                    url = self._stack.enter_context(starting).url
                    writing = object_storage.writing(distribution)
                    distribution = object_storage.reaching(writing, url)
                runtime = provide.runtime(
                    distribution, context.cache, context.progress, context.folder
                )
                memory.check(distribution)
                self._processes[which] = self._start(distribution, runtime, number)
            return self._processes[which]

    def _start(
        self, distribution: Distribution, runtime: Runtime, number: int
    ) -> Spark | SqlWriter:
        name, progress = distribution.name, self.context.progress
        folder = self._folder(name)
        if distribution.engine == SPARK:
            running = launch.spark(runtime, self._metastore, folder)
            return self._stack.enter_context(started(name, running, progress))
        relay = None
        if number > 1 and distribution.runtime != CONTAINER:  # a relay is on loopback
            relay = self._stack.enter_context(metastore_relay.relay(self._metastore.host))
        through = MetastoreUris(relay.uri) if relay else self._metastore
        serving = engines.load(distribution.engine).serve(runtime, through, folder, progress)
        server = self._stack.enter_context(started(name, serving, progress))
        mutations = None
        if has_library(distribution):
            tool = distributions.load(distribution.text(TOOL))
            installation = fetch.ensure(tool, self.context.cache, self.context.progress)
            mutations = MutationProgram(installation, self._metastore.host, folder)
        return SqlWriter(server, self.context.timeout_s, mutations, relay)

    def _folder(self, name: str) -> Path:
        return work_folders.numbered(self.context.folder, name, self._numbers)

    def close(self) -> None:
        self._processes.clear()
        self._stack.close()

"""The engine that is checked: how it is asked, and what runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from harness.artifacts.distribution import Distribution
from harness.conformance import table
from harness.conformance.results import CheckResult
from harness.core.tolerances import Declared
from harness.engines.api import Connection, Question, ReaderSettings, Reply, Server
from harness.formats import facts
from harness.model.query import ALL, Query
from harness.read.reader_servers import TIMEOUT_S
from harness.runtime.api import MetastoreUris, Program, Running, Runtime

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CheckedEngine:
    """A server of the reader that is checked, with the tables in its metastore."""

    server: Server
    settings: ReaderSettings
    statement: Callable[[Question], str]
    """Returns the SQL of a question."""
    database: str
    declared: Declared = field(default_factory=dict)
    """The declared differences of its product."""
    running: Running | None = None
    """The process or container; None where it runs inside of the harness's own process."""
    port: int = 0
    timeout_s: float = TIMEOUT_S
    """After so long a question counts as unanswered."""

    def question(self, query: Query = ALL, table_name: str = table.TYPES) -> Question:
        """Return a question about one of the tables."""
        return Question(self.database, table_name, facts(table.FORMAT), query)

    def connect(self) -> Connection:
        """Open a session of the reader; raises as `Server.connect` does."""
        return self.server.connect(self.settings)

    def ask(self, query: Query = ALL) -> Reply:
        """Ask in a session of its own; raises as `Connection.ask` does."""
        with closing(self.connect()) as connection:
            return connection.ask(self.question(query), timeout_s=self.timeout_s)

    def ask_endless(self, connection: Connection, timeout_s: float) -> Reply:
        """Run SQL that would take years: all pairs of pairs of many rows."""
        count = "select count(*) from "
        question = self.question(Query(count=True), table.MANY)
        many = self.statement(question).removeprefix(count)
        tables = ", ".join(f"{many} {name}" for name in "abcd")
        sql = f"{count}{tables} where a.n + b.n + c.n + d.n < 0"
        named = [(question.database, question.table)]
        return connection.run(sql, timeout_s=timeout_s, tables=named)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that every reader must do."""

    name: str
    asserts: str
    """A sentence for people."""
    look: Callable[[CheckedEngine], CheckResult]
    of_the_dead: bool = False
    """Whether it says something of a server that has ended, too."""


@dataclass(slots=True)
class WatchedRuntime:
    """A runtime that keeps what it started; see `runtime.api.Runtime`."""

    runtime: Runtime
    running: Running | None = None
    port: int = 0

    @property
    def distribution(self) -> Distribution:
        """Which engine, in which version."""
        return self.runtime.distribution

    @property
    def inside(self) -> str:
        """Return how containers reach its servers."""
        return self.runtime.inside

    def start(
        self,
        program: Program,
        metastore: MetastoreUris | None,
        folder: Path,
        ready: Callable[[Running, int], T],
    ) -> AbstractContextManager[T]:
        """Start a program; see `Runtime.start`."""

        def seen(running: Running, port: int) -> T:
            self.running, self.port = running, port
            return ready(running, port)

        return self.runtime.start(program, metastore, folder, seen)

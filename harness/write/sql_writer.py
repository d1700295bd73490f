"""A writer that is a server which takes SQL: asked by the engine's own client, as readers are.

It has the part of `engines.spark.session` that steps need, and answers in its terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.core.errors import HarnessError
from harness.engines.api import Connection, Server
from harness.engines.spark.session import SparkRows
from harness.runtime.api import Served
from harness.runtime.hive_mutation import MutationProgram
from harness.runtime.metastore_relay import CommitRelay


@dataclass(frozen=True, slots=True)
class SqlSession:
    """A session of a server; see `engines.spark.session.Session`."""

    connection: Connection
    mutations: MutationProgram | None = None
    """What sends batches of mutations; None where the writer names no library of them."""

    def run(self, sql: str, *, timeout_s: float) -> SparkRows:
        """Run one statement and fetch all rows.

        Raises:
            RefusedError: the server answered with an error.
            NoAnswerError: it did not answer in time, or died.

        """
        reply = self.connection.run(sql, timeout_s=timeout_s)
        columns = tuple((column.name, column.type) for column in reply.columns)
        return SparkRows(columns, reply.rows, reply.seconds)

    def close(self) -> None:
        """End the session; never raises."""
        self.connection.close()


@dataclass(frozen=True, slots=True)
class SqlWriter:
    """A running server whose sessions write; see `engines.spark.session.Spark`."""

    server: Server
    timeout_s: float
    """After so long a setting of a session counts as unanswered."""
    mutations: MutationProgram | None = None
    relay: CommitRelay | None = None
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
        """Return whether the process still runs."""
        return self.server.alive() and not self.server.exhausted()

"""A server that runs already, asked about the tables of a run and no others."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.core.errors import UsageProblem
from harness.engines.api import Connection, Question, ReaderSettings, Reply, Server
from harness.runtime.api import Served

_WITHOUT_TABLE: Final = re.compile(r"(?is)select\b(?!.*\b(from|join|table)\b)")


@dataclass(frozen=True, slots=True)
class _ConfinedConnection:
    connection: Connection
    check: Callable[[str], None]

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        self.check(question.database)
        return self.connection.ask(question, timeout_s=timeout_s)

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        if not (tables or _WITHOUT_TABLE.match(statement)):
            raise UsageProblem(f"it may be about a table of somebody else's: {statement}")
        for database, _ in tables:
            self.check(database)
        return self.connection.run(statement, timeout_s=timeout_s, tables=tables)

    def close(self) -> None:
        self.connection.close()


@dataclass(frozen=True, slots=True)
class ConfinedServer(Served):
    server: Server
    check: Callable[[str], None]
    """Raises UsageProblem for a database that is not the run's, before anything is sent."""

    def connect(self, settings: ReaderSettings) -> Connection:
        return _ConfinedConnection(self.server.connect(settings), self.check)

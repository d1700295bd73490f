"""Of a server that runs already a run asks about its own tables alone."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.core.errors import UsageProblem
from harness.engines.api import Question
from harness.engines.confined_server import ConfinedServer
from harness.formats import facts
from harness.model.query import ALL
from harness.runtime.api import RunsElsewhere
from harness.usage.own_tables import OwnTables

SPACE = OwnTables("harness_", "theirs", "/lake").space("thrift://metastore:9083")
OWN = SPACE.database("s_1")


@dataclass
class Server:
    """Notes what is sent."""

    sent: list[str] = field(default_factory=list)

    def connect(self, _: object) -> "Server":
        return self

    def ask(self, question: Question, **_: float) -> None:
        self.sent.append(question.database)

    def run(self, statement: str, **_: object) -> None:
        self.sent.append(statement)

    def close(self) -> None:
        self.sent.append("closed")


def confined(server: Server) -> Any:  # noqa: ANN401 - of a simulated server
    return ConfinedServer(RunsElsewhere(), server, SPACE.check).connect({})  # type: ignore[arg-type]


def test_its_own_tables_are_asked_about() -> None:
    server = Server()
    connection = confined(server)
    connection.ask(Question(OWN, "t", facts("iceberg"), ALL), timeout_s=1)
    connection.run("select 1", timeout_s=1)
    connection.run("select count(*) from x", timeout_s=1, tables=[(OWN, "t")])
    connection.close()
    assert server.sent == [OWN, "select 1", "select count(*) from x", "closed"]


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        ("select * from hive.sales.orders", []),
        ("select *\nFROM hive.sales.orders", []),
        ("select * from hive.sales.orders", [(OWN, "t"), ("sales", "orders")]),
        ("show tables", []),
        ("describe sales.orders", []),
        ("drop table hive.sales.orders", []),
        ("table hive.sales.orders", []),
    ],
)
def test_a_statement_that_may_be_about_others_is_stopped_before_it_is_sent(
    statement: str, tables: list[tuple[str, str]]
) -> None:
    server = Server()
    with pytest.raises(UsageProblem):
        confined(server).run(statement, timeout_s=1, tables=tables)
    with pytest.raises(UsageProblem, match="nothing is sent there but about harness_"):
        confined(server).ask(Question("sales", "t", facts("iceberg"), ALL), timeout_s=1)
    assert server.sent == []

"""Trino and Presto, really started: what they answer, refuse, and how they are lost."""

from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness.engines.api import NoAnswerError, Question, RefusedError, Reply, Server
from harness.formats import facts
from harness.model.query import ALL, Query
from harness.runtime.metastore import Metastore
from tests.engines.everyone import GREEDY, check_loopback
from tests.engines.shared_servers import SharedServers
from tests.engines.trino_table import register

pytestmark = pytest.mark.engines

DATABASE = "trino_family"
PRESTODB = "prestodb-0.283"
FAMILY = (
    "trino-476",
    *(pytest.param(n, marks=pytest.mark.nightly) for n in ("trino-368", "prestosql-350")),
    PRESTODB,
)
"""By day one for the code that they share; PrestoDB's is its own."""


class Started:
    """A running server with the tables of these tests in its metastore."""

    def __init__(self, name: str, server: Server) -> None:
        self.name = name
        self.server = server

    def ask(
        self, table: str, query: Query = ALL, format_name: str = "hive-parquet", **settings: str
    ) -> Reply:
        given = {name.replace("_", "-"): value for name, value in settings.items()}
        question = Question(DATABASE, table, facts(format_name), query)
        with closing(self.server.connect(given)) as connection:
            return connection.ask(question, timeout_s=60)


@pytest.fixture(scope="module")
def tables(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Register tables whose files have f1 and f2 the other way round than the catalog."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "moved").mkdir()
    (folder / "moved_orc").mkdir()
    row = pa.table({"id": [1], "f1": ["a1"], "f2": ["b1"]})
    pq.write_table(row, folder / "moved/f.parquet")
    orc.write_table(row, folder / "moved_orc/f.orc")
    moved = [("id", "bigint"), ("f2", "string"), ("f1", "string")]
    register(metastore.uri, DATABASE, "moved", moved, folder / "moved")
    register(metastore.uri, DATABASE, "moved_orc", moved, folder / "moved_orc", "orc")


@pytest.fixture(scope="module", params=FAMILY)
def started(request: pytest.FixtureRequest, tables: None, servers: SharedServers) -> Started:
    return Started(request.param, servers(request.param))


def test_by_name_and_by_position_answer_differently_where_columns_moved(started: Started) -> None:
    by_name = started.ask("moved", use_column_names="true")
    by_position = started.ask("moved", use_column_names="false")
    assert [column.name for column in by_name.columns] == ["id", "f2", "f1"]
    assert by_name.rows == ((1, "b1", "a1"),)
    assert by_position.rows == ((1, "a1", "b1"),)
    assert "catalog hive_by_name," in by_name.confirmed
    assert "parquet_use_column_names=true" in by_name.confirmed
    assert "catalog hive_by_position," in by_position.confirmed
    assert "parquet_use_column_names=false" in by_position.confirmed


def test_orc_files_have_a_setting_of_their_own_and_go_by_position_without(started: Started) -> None:
    by_name, by_position = (
        started.ask("moved_orc", ALL, "hive-orc", **{"orc.use-column-names": text})
        for text in ("true", "false")
    )
    assert by_name.rows == ((1, "b1", "a1"),)
    assert (
        by_position.rows
        == started.ask("moved_orc", format_name="hive-orc").rows
        == ((1, "a1", "b1"),)
    )
    for reply, value in ((by_name, "true"), (by_position, "false")):
        confirmed = f"orc_use_column_names={value}" in reply.confirmed
        assert confirmed == (started.name != PRESTODB)


def test_an_exception_inside_the_engine_is_a_refusal_with_its_cause(started: Started) -> None:
    with closing(started.server.connect({})) as connection, pytest.raises(RefusedError) as caught:
        connection.run("select 1 / 0", timeout_s=60)
    refusal = caught.value.refusal
    assert refusal.kind == "DIVISION_BY_ZERO"
    assert refusal.cause.startswith("java.lang.ArithmeticException: / by zero at ")


@pytest.mark.parametrize(
    "started",
    [
        "trino-476",
        pytest.param("trino-368", marks=pytest.mark.nightly),
        pytest.param("prestosql-350", marks=pytest.mark.nightly),
    ],
    indirect=True,
)
def test_a_query_that_takes_more_memory_than_there_is_gets_no_answer_and_the_next_one_does(
    started: Started,
) -> None:
    """PrestoDB ends: `test_deaths`."""
    with closing(started.server.connect({})) as connection:
        with pytest.raises(NoAnswerError, match=r"too little for it: EXCEEDED_\w*MEMORY_LIMIT"):
            connection.run(GREEDY, timeout_s=120)
        assert connection.run("select 1", timeout_s=60).rows == ((1,),)
    assert started.server.alive()


def test_it_listens_on_loopback_only(started: Started) -> None:
    check_loopback(started.server)

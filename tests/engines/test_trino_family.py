"""Trino and Presto, really started: what they answer, refuse, and how they are lost."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness.artifacts import distributions
from harness.conformance import table
from harness.core import tolerances
from harness.engines.api import Engine, NoAnswerError, Question, RefusedError, Reply, Server
from harness.formats import facts
from harness.judge import understand
from harness.model.canonical import Value, same
from harness.model.query import ALL, Query, not_null
from harness.read.questions import load_engine
from harness.runtime.metastore import Metastore
from harness.runtime.process import Process
from tests.engines import iceberg_table
from tests.engines.everyone import GREEDY, process_of
from tests.engines.shared_servers import SharedServers
from tests.engines.trino_table import register

pytestmark = pytest.mark.engines

DATABASE = "trino_family"
FAMILY = ("trino-476", "trino-368", "prestosql-350", "prestodb-0.283")
PRESTODB = "prestodb-0.283"
TO_MILLISECONDS = table.INSTANT.replace(microsecond=678000)
NOT_FOUND = {PRESTODB: ("SYNTAX_ERROR", "1")}
"""How the absence of a table is told, where it is not TABLE_NOT_FOUND, 46."""
ENDLESS = "select count(*) from unnest(sequence(1, 9999)) a, unnest(sequence(1, 9999)) b, unnest(sequence(1, 9999)) c"  # noqa: E501


class Started:
    """A running server with the tables of these tests in its metastore."""

    def __init__(self, name: str, engine: Engine, server: Server) -> None:
        self.name = name
        self.engine = engine
        self.server = server

    def ask(
        self, table: str, query: Query = ALL, of: str = "hive-parquet", **settings: str
    ) -> Reply:
        given = {name.replace("_", "-"): value for name, value in settings.items()}
        question = Question(DATABASE, table, facts(of), query)
        with closing(self.server.connect(given)) as connection:
            return connection.ask(question, timeout_s=60)

    def cannot(self, of: str) -> str:
        return self.engine.cannot(distributions.load(self.name), {}, facts(of))

    @property
    def process(self) -> Process:
        process = getattr(self.server, "process", None)
        assert isinstance(process, Process)
        return process


@pytest.fixture(scope="module")
def tables(metastore: Metastore, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Register `types`, with `moved` and `moved_orc`, whose files have f1 and f2 the other way
    round than the catalog, and with `ice`, an Iceberg table.
    """
    folder = tmp_path_factory.mktemp("tables")
    table.write(folder / "types")
    columns = [(name, table.hive_type(type_)) for name, type_, _ in table.columns(table.HIVE)]
    register(metastore.uri, DATABASE, "types", columns, folder / "types")
    (folder / "moved").mkdir()
    (folder / "moved_orc").mkdir()
    row = pa.table({"id": [1], "f1": ["a1"], "f2": ["b1"]})
    pq.write_table(row, folder / "moved/f.parquet")
    orc.write_table(row, folder / "moved_orc/f.orc")
    moved = [("id", "bigint"), ("f2", "string"), ("f1", "string")]
    register(metastore.uri, DATABASE, "moved", moved, folder / "moved")
    register(metastore.uri, DATABASE, "moved_orc", moved, folder / "moved_orc", "orc")
    (folder / "iceberg").mkdir()
    iceberg_table.register(metastore.uri, DATABASE, "ice", iceberg_table.write(folder / "iceberg"))


@pytest.fixture(scope="module", params=FAMILY)
def started(
    request: pytest.FixtureRequest,
    tables: None,
    servers: SharedServers,
) -> Started:
    return Started(request.param, load_engine(request.param), servers(request.param))


@pytest.mark.parametrize("by_name", ["true", "false"])
def test_a_table_of_all_types_is_read_in_canonical_values(started: Started, by_name: str) -> None:
    reply = started.ask("types", use_column_names=by_name)
    columns = table.columns(table.HIVE)
    assert [(seen.name, seen.canonical) for seen in reply.columns] == [part[:2] for part in columns]
    full, empty = sorted(reply.rows, key=lambda row: row[0] is None)
    written: dict[str, Value] = {name: value for name, _, value in columns}
    if understand.MILLISECONDS in tolerances.declared_for(started.name):
        written["ts"] = TO_MILLISECONDS
    found = dict(zip(written, full, strict=True))
    wrong = [
        (name, found[name], written[name]) for name in found if not same(found[name], written[name])
    ]
    assert wrong == []
    assert set(empty) == {None}
    applied = {each.name: each.count for each in reply.normalised}
    assert applied["float-text"] == 2


def test_by_name_and_by_position_answer_differently_where_columns_moved(started: Started) -> None:
    by_name = started.ask("moved", use_column_names="true")
    by_position = started.ask("moved", use_column_names="false")
    assert [each.name for each in by_name.columns] == ["id", "f2", "f1"]
    assert by_name.rows == ((1, "b1", "a1"),)
    assert by_position.rows == ((1, "a1", "b1"),)
    assert "catalog hive_by_name," in by_name.confirmed
    assert "parquet_use_column_names=true" in by_name.confirmed
    assert "catalog hive_by_position," in by_position.confirmed
    assert "parquet_use_column_names=false" in by_position.confirmed


def test_orc_files_have_a_setting_of_their_own_and_go_by_position_without(
    started: Started,
) -> None:
    by_name, by_position = (
        started.ask("moved_orc", ALL, "hive-orc", **{"orc.use-column-names": each})
        for each in ("true", "false")
    )
    assert by_name.rows == ((1, "b1", "a1"),)
    assert by_position.rows == started.ask("moved_orc", of="hive-orc").rows == ((1, "a1", "b1"),)
    for reply, value in ((by_name, "true"), (by_position, "false")):
        told = f"orc_use_column_names={value}" in reply.confirmed
        assert told == (started.name != PRESTODB)


def test_the_default_is_the_engines_own_and_is_confirmed(started: Started) -> None:
    reply = started.ask("moved")
    default = "true" if reply.rows == ((1, "b1", "a1"),) else "false"
    assert f"parquet_use_column_names={default}" in reply.confirmed


def test_iceberg_columns_are_read_by_their_ids(started: Started) -> None:
    if started.cannot("iceberg"):
        pytest.skip(started.cannot("iceberg"))
    reply = started.ask("ice", of="iceberg")
    assert [each.name for each in reply.columns] == [name for name, *_ in iceberg_table.COLUMNS]
    assert reply.rows == (iceberg_table.ROW,)
    assert "connector iceberg" in reply.confirmed


def test_an_iceberg_table_is_refused_by_a_catalog_of_hive(started: Started) -> None:
    with pytest.raises(RefusedError) as caught:
        started.ask("ice")
    assert caught.value.refusal.kind in {"UNSUPPORTED_TABLE_TYPE", "HIVE_UNSUPPORTED_FORMAT"}


def test_a_predicate_a_count_and_a_part_of_a_struct_can_be_asked(started: Started) -> None:
    leaf = started.ask("types", Query(columns=("i", "st.n.x"), where=not_null("st.n.x")))
    assert leaf.rows == ((1, "y"),)
    assert started.ask("types", Query(count=True, where=not_null("r"))).rows == ((1,),)


def test_a_table_that_is_not_there_is_refused_and_the_server_goes_on(started: Started) -> None:
    with pytest.raises(RefusedError) as caught:
        started.ask("no_such")
    refusal = caught.value.refusal
    kind, code = NOT_FOUND.get(started.name, ("TABLE_NOT_FOUND", "46"))
    assert (refusal.kind, refusal.code) == (kind, code)
    assert "no_such" in refusal.message
    assert "Exception: " in refusal.cause
    assert started.ask("moved").rows


def test_an_exception_inside_the_engine_is_a_refusal_with_its_cause(started: Started) -> None:
    with closing(started.server.connect({})) as connection, pytest.raises(RefusedError) as caught:
        connection.run("select 1 / 0", timeout_s=60)
    refusal = caught.value.refusal
    assert refusal.kind == "DIVISION_BY_ZERO"
    assert refusal.cause.startswith("java.lang.ArithmeticException: / by zero at ")


def test_a_query_without_end_is_given_up_and_taken_off_the_server(started: Started) -> None:
    with closing(started.server.connect({})) as connection:
        with pytest.raises(NoAnswerError, match="no answer after"):
            connection.run(ENDLESS, timeout_s=5)
        sql = "select query from system.runtime.queries where state in ('RUNNING', 'QUEUED')"
        running = connection.run(sql, timeout_s=60).rows
    assert (ENDLESS,) not in running


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
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(process_of(started.server).pid).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}
    assert listening


def test_memory_and_log_are_told(started: Started) -> None:
    assert started.server.alive()
    assert started.server.peak_memory_mb() > 100
    assert "SERVER STARTED" in Path(process_of(started.server).log).read_text(encoding="utf-8")
    assert started.server.log_tail()


def test_a_server_that_is_killed_while_it_answers_gave_no_answer(started: Started) -> None:
    """Stands last: the server is gone after it."""
    connection = started.server.connect({})
    with closing(connection), closing(started.server.connect({})) as watching:
        told: list[Exception] = []

        def ask() -> None:
            try:
                connection.run(ENDLESS, timeout_s=120)
            except (NoAnswerError, RefusedError) as problem:
                told.append(problem)

        asking = threading.Thread(target=ask)
        asking.start()
        sql = "select query from system.runtime.queries where state = 'RUNNING'"
        while (ENDLESS,) not in watching.run(sql, timeout_s=60).rows:
            assert asking.is_alive()
        os.kill(process_of(started.server).pid, signal.SIGKILL)
        asking.join()
        process_of(started.server)._child.wait(30)
        assert [type(problem) for problem in told] == [NoAnswerError]
        with pytest.raises(NoAnswerError):
            started.server.connect({})
    assert not started.server.alive()

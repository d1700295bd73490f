from __future__ import annotations

import datetime
import decimal
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import psutil
import pytest

from harness.core.errors import EnvironmentProblem
from harness.engines.api import NoAnswerError, Question, RefusedError
from harness.engines.hive import engine
from harness.engines.hive.engine import HiveServer
from harness.engines.hive.session import HiveConnection
from harness.formats import facts
from harness.model.canonical import MapValue
from harness.model.query import Query, not_null
from harness.runtime.metastore import Metastore
from harness.runtime.process import wait_until
from tests.engines.everyone import process_of
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines

MINUTE = 120.0

COLUMNS = {
    "b": "boolean",
    "ti": "tinyint",
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "s": "string",
    "vc": "varchar(5)",
    "ch": "char(4)",
    "dt": "date",
    "ts": "timestamp",
    "tn": "timestamp",
    "de": "decimal(10,2)",
    "bi": "binary",
    "st": "struct<a:int,b:struct<c:string,d:date>>",
    "ar": "array<decimal(5,2)>",
    "m": "map<int,string>",
    "mt": "map<string,timestamp>",
}
ROW = (
    "true, cast(1 as tinyint), 2, 3L, cast(503002.1 as float), 2.5D,"
    " 'é\"x,{1:}', cast('ab' as varchar(5)), cast('ab' as char(4)),"
    " cast('2024-02-29' as date), cast('2024-02-29 01:02:03.456789' as timestamp),"
    " cast('2024-02-29 01:02:03.456789012' as timestamp),"
    " cast(1.10 as decimal(10,2)), cast('xy' as binary),"
    " named_struct('a', 1, 'b', named_struct('c', 'q\"\\\\', 'd', cast('2024-01-01' as date))),"
    " array(cast(1.1 as decimal(5,2)), null), map(1, 'z', 2, '3:\"'),"
    " map('k', cast('2024-02-29 01:02:03' as timestamp))"
)
VALUES = (
    True,
    1,
    2,
    3,
    503002.09375,
    2.5,
    'é"x,{1:}',
    "ab",
    "ab  ",
    datetime.date(2024, 2, 29),
    datetime.datetime(2024, 2, 29, 1, 2, 3, 456789),  # noqa: DTZ001 - canonical: no zone
    "2024-02-29 01:02:03.456789012",
    decimal.Decimal("1.10"),
    b"xy",
    {"a": 1, "b": {"c": 'q"\\', "d": datetime.date(2024, 1, 1)}},
    (decimal.Decimal("1.10"), None),
    MapValue(((1, "z"), (2, '3:"'))),
    MapValue((("k", datetime.datetime(2024, 2, 29, 1, 2, 3)),)),  # noqa: DTZ001
)


@pytest.fixture(scope="module")
def server(servers: SharedServers) -> HiveServer:
    found = servers("hive-3.1.3")
    assert isinstance(found, HiveServer)
    return found


@pytest.fixture(scope="module")
def connected(server: HiveServer) -> Iterator[Callable[..., HiveConnection]]:
    opened: dict[tuple[tuple[str, str], ...], HiveConnection] = {}

    def connect(**settings: str) -> HiveConnection:
        named = {name.replace("_", "-"): value for name, value in settings.items()}
        key = tuple(sorted(named.items()))
        if key not in opened:
            opened[key] = server.connect(named)
        return opened[key]

    yield connect
    for connection in opened.values():
        connection.close()


def filled(connected: Callable[..., HiveConnection], database: str, *statements: str) -> str:
    """Make a database by what Hive is told."""
    for statement in (f"create database {database}", *statements):
        connected().run(statement, timeout_s=MINUTE)
    return database


@pytest.fixture(scope="module")
def all_types(connected: Callable[..., HiveConnection]) -> str:
    """A database with a Parquet table `t` of all types: a row of values and a row of NULLs."""
    database = "all_types"
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    return filled(
        connected,
        database,
        f"create table {database}.t ({columns}) stored as parquet",
        f"insert into {database}.t select {ROW}",
        f"insert into {database}.t (i) values (null)",
    )


@pytest.fixture(scope="module")
def moved_orc(connected: Callable[..., HiveConnection]) -> str:
    """A database with an ORC table `t`, whose file has a and b the other way round."""
    database = "moved_orc"
    return filled(
        connected,
        database,
        f"create table {database}.t (id int, a string, b string) stored as orc",
        f"insert into {database}.t select 1, 'a1', 'b1'",
        f"alter table {database}.t replace columns (id int, b string, a string)",
    )


def about(database: str, query: Query, table: str = "t") -> Question:
    return Question(database, table, facts("hive-parquet"), query)


@pytest.mark.parametrize("path", ["fetch", "mapreduce"])
def test_all_types_come_as_canonical_values_on_both_paths(
    connected: Callable[..., HiveConnection], all_types: str, path: str
) -> None:
    reply = connected(path=path).ask(about(all_types, Query()), timeout_s=MINUTE)
    assert reply.confirmed == path
    assert [(column.name, column.type) for column in reply.columns] == list(COLUMNS.items())
    assert {column.name: column.canonical for column in reply.columns} == {
        "b": "boolean",
        "ti": "tinyint",
        "i": "int",
        "l": "long",
        "f": "float",
        "d": "double",
        "s": "string",
        "vc": "varchar(5)",
        "ch": "char(4)",
        "dt": "date",
        "ts": "timestamp",
        "tn": "timestamp",
        "de": "decimal(10, 2)",
        "bi": "binary",
        "st": "struct<a: int, b: struct<c: string, d: date>>",
        "ar": "array<decimal(5, 2)>",
        "m": "map<int, string>",
        "mt": "map<string, timestamp>",
    }
    rows = sorted(reply.rows, key=lambda row: row[0] is None)
    assert rows == [VALUES, (None,) * len(VALUES)]
    assert [type(value) for value in rows[0]] == [type(value) for value in VALUES]
    applied = {each.name: each.count for each in reply.normalised}
    assert applied == {"nested-text": 4, "decimal-zeros": 1, "float-text": 1}


def test_a_dotted_column_and_a_predicate_are_asked(
    connected: Callable[..., HiveConnection], all_types: str
) -> None:
    query = Query(columns=("st.b", "st.a", "l"), where=not_null("st.b.c"))
    reply = connected().ask(about(all_types, query), timeout_s=MINUTE)
    assert reply.rows == (({"c": 'q"\\', "d": datetime.date(2024, 1, 1)}, 1, 3),)
    assert [(column.name, column.type) for column in reply.columns] == [
        ("b", "struct<c:string,d:date>"),
        ("a", "int"),
        ("l", "bigint"),
    ]
    assert reply.confirmed == "fetch"


def test_counting_takes_mapreduce_and_says_so(
    connected: Callable[..., HiveConnection], all_types: str
) -> None:
    reply = connected(path="fetch").ask(about(all_types, Query(count=True)), timeout_s=MINUTE)
    assert (reply.rows, reply.confirmed) == (((2,),), "mapreduce")


def test_settings_reach_the_session_and_no_other(server: HiveServer) -> None:
    def value_of(connection: HiveConnection) -> Any:  # noqa: ANN401 - a canonical value
        shown = connection.run("set hoodie.schema.on.read.enable", timeout_s=MINUTE)
        return shown.rows[0][0]

    values = []
    for settings in ({"schema-on-read": "on"}, {"schema-on-read": "off"}, {}):
        connection = server.connect(settings)
        values.append(value_of(connection))
        connection.close()
    assert values == [
        "hoodie.schema.on.read.enable=true",
        "hoodie.schema.on.read.enable=false",
        "hoodie.schema.on.read.enable is undefined",
    ]


@pytest.mark.parametrize("path", ["fetch", "mapreduce"])
def test_columns_of_orc_files_are_found_by_name_unless_the_session_says_by_position(
    connected: Callable[..., HiveConnection], moved_orc: str, path: str
) -> None:
    key = "orc.force.positional.evolution"
    replies = [
        connected(path=path, **each).ask(about(moved_orc, Query()), timeout_s=MINUTE)
        for each in ({}, {key: "false"}, {key: "true"})
    ]
    by_name, by_position = (1, "b1", "a1"), (1, "a1", "b1")
    assert [each.rows for each in replies] == [(by_name,), (by_name,), (by_position,)]
    assert {each.confirmed for each in replies} == {path}


def test_an_unknown_column_is_refused_with_its_reason(
    connected: Callable[..., HiveConnection], all_types: str
) -> None:
    with pytest.raises(RefusedError) as refused:
        connected().ask(about(all_types, Query(columns=("nope",))), timeout_s=MINUTE)
    refusal = refused.value.refusal
    assert refusal.kind == "SemanticException"
    assert refusal.code == "42000/10004"
    assert "Invalid table alias or column reference 'nope'" in refusal.message
    assert refusal.cause.startswith("org.apache.hadoop.hive.ql.parse.SemanticException: Line 1:7")
    assert refused.value.seconds > 0
    again = connected().ask(about(all_types, Query(columns=("i",))), timeout_s=MINUTE)
    assert len(again.rows) == 2


@pytest.mark.parametrize("path", ["fetch", "mapreduce"])
def test_the_real_cause_of_a_failure_while_reading_is_told_on_both_paths(
    connected: Callable[..., HiveConnection], all_types: str, metastore: Metastore, path: str
) -> None:
    connection = connected(path=path)
    located = connected().run(f"describe formatted {all_types}.t", timeout_s=MINUTE)
    (place,) = (row[1].strip() for row in located.rows if row[0].startswith("Location:"))
    connection.run(
        f"create external table if not exists {all_types}.wrong (s int) stored as parquet"
        f" location '{place}'",
        timeout_s=MINUTE,
    )
    with pytest.raises(RefusedError) as refused:
        connection.ask(about(all_types, Query(), table="wrong"), timeout_s=MINUTE)
    refusal = refused.value.refusal
    assert refusal.kind == "ClassCastException"
    assert refusal.cause.startswith("java.lang.ClassCastException: ")
    assert metastore.alive()


def test_hive_and_its_metastore_listen_on_loopback_only(
    server: HiveServer, metastore: Metastore
) -> None:
    for process in (process_of(server), process_of(metastore)):
        listening = [
            connection.laddr.ip
            for connection in psutil.Process(process.pid).net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert listening
        assert {ip.removeprefix("::ffff:") for ip in listening} == {"127.0.0.1"}


def test_questions_are_answered_side_by_side(server: HiveServer, all_types: str) -> None:
    def ask(path: str) -> tuple[Any, ...]:
        connection = server.connect({"path": path})
        try:
            question = about(all_types, Query(columns=("i",), where=not_null("i")))
            return connection.ask(question, timeout_s=MINUTE).rows
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, ["fetch", "mapreduce", "fetch", "mapreduce"]))
    assert answers == [((2,),)] * 4


def test_a_server_that_is_silent_is_given_up_after_the_time_given(
    server: HiveServer, all_types: str
) -> None:
    connection = server.connect({})
    os.kill(process_of(server).pid, signal.SIGSTOP)
    try:
        with pytest.raises(NoAnswerError, match="no answer within 1 s"):
            connection.ask(about(all_types, Query()), timeout_s=1)
        with pytest.raises(NoAnswerError, match="the connection was lost before"):
            connection.ask(about(all_types, Query()), timeout_s=1)
    finally:
        os.kill(process_of(server).pid, signal.SIGCONT)
        connection.close()
    fresh = server.connect({})
    assert len(fresh.ask(about(all_types, Query()), timeout_s=MINUTE).rows) == 2
    fresh.close()
    assert server.exhausted()


def test_the_threads_of_the_server_tell_when_it_is_spent(
    server: HiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    unharmed = replace(server, late=threading.Event())
    assert not unharmed.exhausted()
    monkeypatch.setattr(engine, "THREADS", 10)
    assert unharmed.exhausted()


@pytest.mark.usefixtures("all_types")
class TestAtTheEnd:
    """The server does not survive these."""

    def test_a_server_killed_during_a_query_gives_no_answer(
        self, server: HiveServer, all_types: str
    ) -> None:
        connection = server.connect({"path": "mapreduce"})
        log = process_of(server).log
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(connection.ask, about(all_types, Query()), timeout_s=MINUTE)
            began = log.stat().st_size

            def job_runs() -> None:
                if "Launching Job" not in log.read_bytes()[began:].decode():
                    raise EnvironmentProblem("no job yet")

            wait_until(
                job_runs, process_of(server), timeout_s=MINUTE, what="job",
                not_yet=(EnvironmentProblem,),
            )  # fmt: skip
            os.kill(process_of(server).pid, signal.SIGKILL)
            with pytest.raises(NoAnswerError, match="connection lost"):
                asked.result()
        connection.close()
        # Its sockets close a moment before it is gone; this waits for that and reaps nothing.
        os.waitid(os.P_PID, process_of(server).pid, os.WEXITED | os.WNOWAIT)
        assert not server.alive()
        with pytest.raises(NoAnswerError):
            server.connect({})
        assert server.peak_memory_mb() > 0
        assert server.log_tail()

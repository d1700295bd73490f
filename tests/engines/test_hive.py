import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from harness.engines.api import NoAnswerError, Question, RefusedError
from harness.engines.hive import engine
from harness.engines.hive.engine import HiveConnection, HiveServer
from harness.formats import facts
from harness.model.query import Query
from harness.runtime.metastore import Metastore
from tests.engines.everyone import check_loopback, process_of
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines

MINUTE = 120.0


@pytest.fixture(scope="module")
def server(servers: SharedServers) -> HiveServer:
    result = servers("hive-3.1.3")
    assert isinstance(result, HiveServer)
    return result


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
    for statement in (f"create database {database}", *statements):
        connected().run(statement, timeout_s=MINUTE)
    return database


@pytest.fixture(scope="module")
def plain(connected: Callable[..., HiveConnection]) -> str:
    make = "create table plain.t (i int, s string) stored as parquet"
    rows = [f"insert into plain.t select {i}, 'x'" for i in (1, 2)]
    return filled(connected, "plain", make, *rows)


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


def test_counting_takes_mapreduce_and_says_so(
    connected: Callable[..., HiveConnection], plain: str
) -> None:
    reply = connected(path="fetch").ask(about(plain, Query(count=True)), timeout_s=MINUTE)
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
        connected(path=path, **settings).ask(about(moved_orc, Query()), timeout_s=MINUTE)
        for settings in ({}, {key: "false"}, {key: "true"})
    ]
    by_name, by_position = (1, "b1", "a1"), (1, "a1", "b1")
    assert [reply.rows for reply in replies] == [(by_name,), (by_name,), (by_position,)]
    assert {reply.confirmed for reply in replies} == {path}


@pytest.mark.parametrize("path", ["fetch", "mapreduce"])
def test_the_real_cause_of_a_failure_while_reading_is_reported_on_both_paths(
    connected: Callable[..., HiveConnection], plain: str, metastore: Metastore, path: str
) -> None:
    connection = connected(path=path)
    located = connected().run(f"describe formatted {plain}.t", timeout_s=MINUTE)
    (location,) = (row[1].strip() for row in located.rows if row[0].startswith("Location:"))
    connection.run(
        f"create external table if not exists {plain}.wrong (s int) stored as parquet"
        f" location '{location}'",
        timeout_s=MINUTE,
    )
    with pytest.raises(RefusedError) as refused:
        connection.ask(about(plain, Query(), table="wrong"), timeout_s=MINUTE)
    refusal = refused.value.refusal
    assert refusal.kind == "ClassCastException"
    assert refusal.cause.startswith("java.lang.ClassCastException: ")
    assert metastore.alive()


def test_hive_and_its_metastore_listen_on_loopback_only(
    server: HiveServer, metastore: Metastore
) -> None:
    check_loopback(server)
    check_loopback(metastore)


def test_a_server_that_is_silent_is_given_up_after_the_time_given(
    server: HiveServer, plain: str
) -> None:
    connection = server.connect({})
    os.kill(process_of(server).pid, signal.SIGSTOP)
    try:
        with pytest.raises(NoAnswerError, match="no answer within 1 s"):
            connection.ask(about(plain, Query()), timeout_s=1)
        with pytest.raises(NoAnswerError, match="the connection was lost before"):
            connection.ask(about(plain, Query()), timeout_s=1)
    finally:
        os.kill(process_of(server).pid, signal.SIGCONT)
        connection.close()
    fresh = server.connect({})
    assert len(fresh.ask(about(plain, Query()), timeout_s=MINUTE).rows) == 2
    fresh.close()
    assert server.exhausted()
    server.late.clear()  # a later question through Tez would end the server that others share


def test_the_threads_of_the_server_tell_when_it_is_spent(
    server: HiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    unharmed = replace(server, late=threading.Event())
    assert not unharmed.exhausted()
    monkeypatch.setattr(engine, "THREADS", 10)
    assert unharmed.exhausted()

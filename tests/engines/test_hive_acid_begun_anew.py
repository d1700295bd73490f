"""Compactions of Hive 4 that another worker carries out anew, because the first died or seemed to.

A worker that has made its files calls `mark_compacted`, and then commits: at that call each of 24
is stopped. A metastore whose initiator starts gives to others what workers of its machine had begun
(apache/hive pull request 6101, HIVE-29210).
"""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import Connection, RefusedError
from harness.engines.hive.engine import HiveServer
from harness.runtime import metastore_client, metastore_relay
from harness.runtime.metastore import Metastore
from tests.engines.hive_machine import LONG_S, machine, rows, session, states
from tests.engines.shared_servers import SharedServers
from tests.engines.until import until

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

MARK: Final = metastore_relay.beginning_of(b"mark_compacted")
INSERTED, UPDATED, MAJOR = range(10), range(10, 20), range(20, 24)
"""Partitions: a minor compaction of inserts alone, one of an update too, and a major one."""
ALL: Final = range(24)
ROWS: Final = [("a", "1"), ("b", "2")]


def write(connection: Connection, table: str, folder: Path) -> None:
    """Write two rows into each partition, each by a transaction of its own."""
    rows(connection, f"create database {table.partition('.')[0]}")
    rows(
        connection,
        f"create table {table} (id string, f string) partitioned by (p int) stored as orc "
        f"location 'file:{folder}' tblproperties ('transactional' = 'true')",
    )
    for key, value in (("a", "1"), ("b", "0")):
        every = ", ".join(f"('{key}', '{value}', {p})" for p in UPDATED)
        others = ", ".join(f"('{key}', '{dict(ROWS)[key]}', {p})" for p in (*INSERTED, *MAJOR))
        rows(connection, f"insert into {table} partition (p) values {every}, {others}")
    updated = f"p >= {UPDATED.start} and p < {UPDATED.stop}"
    rows(connection, f"update {table} set f = '2' where id = 'b' and {updated}")


def answers(connection: Connection, table: str, partitions: Iterable[int]) -> list[object]:
    result = list[object]()
    for p in partitions:
        try:
            result.append(sorted(rows(connection, f"select id, f from {table} where p = {p}")))
        except RefusedError as refused:
            result.append(refused.refusal.message)
    return result


def made(folder: Path) -> Mapping[int, int]:
    """Return how many folders compactions have made in each partition."""
    return {p: len([*(folder / f"p={p}").glob("*_v*")]) for p in ALL}


@pytest.mark.parametrize("end", ["killed", "released"])
def test_rows_are_there_once_if_the_first_is_dead_and_twice_if_it_commits_as_well(
    end: str,
    tmp_path: Path,
    database: str,
    cache: Cache,
    progress: Progress,
    metastore: Metastore,
    servers: SharedServers,
) -> None:
    table, folder = f"{database}.t", tmp_path / "t"
    (tmp_path / "hive").mkdir()
    with ExitStack() as stack:
        hive = stack.enter_context(machine(cache, tmp_path / "hive", progress))
        relay = stack.enter_context(metastore_relay.relay(hive.first.uri, MARK))
        first = stack.enter_context(hive.server(relay.uri, workers=len(ALL)))
        asking = stack.enter_context(closing(session(first)))
        write(asking, table, folder)
        with relay.withholding():
            for p in ALL:
                kind = "major" if p in MAJOR else "minor"
                rows(asking, f"alter table {table} partition (p = {p}) compact '{kind}'")
                until(lambda: len(relay.waiting) > p, "no worker has made its files")  # noqa: B023
            once = made(folder)
            assert set(once.values()) <= {1, 2}
            if end == "killed":
                assert isinstance(first, HiveServer)
                first.running.stop(0)
            other = stack.enter_context(closing(session(stack.enter_context(hive.server()))))
            with hive.initiator():
                until(
                    lambda: states(other).count("ready for cleaning") == len(ALL),
                    "they are not carried out anew",
                    LONG_S,
                )
            assert answers(other, table, ALL) == [ROWS] * len(ALL)
            assert made(folder) == {p: 2 * number for p, number in once.items()}
        if end == "released":
            until(lambda: not rows(other, "show transactions"), "the first do not commit", LONG_S)
        seen = answers(other, table, ALL)
        with metastore_client.connect(hive.first.uri) as client:
            entries = client.entries(database)
    twice = sorted(2 * ROWS)
    if end == "killed":
        assert seen == [ROWS] * len(ALL)
    else:
        assert seen[: UPDATED.start] == [twice] * len(INSERTED)
        refused = [str(answer) for answer in seen[UPDATED.start : UPDATED.stop]]
        assert [message for message in refused if "Duplicate key null" in message] == refused
        assert seen[MAJOR.start :] == [ROWS] * len(MAJOR)
    # Trino goes by no transaction of a compaction: it has rows twice even if the first is dead.
    with metastore_client.connect(metastore.uri) as client:
        client.register(database, entries, str(folder))
    with closing(servers("trino-476").connect({})) as trino:
        shown = answers(trino, f"hive.{table}", ALL)
    assert shown == [*[twice] * (len(INSERTED) + len(UPDATED)), *[ROWS] * len(MAJOR)]

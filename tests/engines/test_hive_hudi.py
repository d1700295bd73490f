"""Hive reads forks of Hudi tables: what the engine notes saw, through this project's own code."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.engines.api import Question, Reply, Server
from harness.engines.spark.session import Session
from harness.formats import facts
from harness.model.query import Query
from harness.runtime import metastore_client
from harness.runtime.metastore import Metastore
from harness.write.send_step import WriterFor
from tests.engines.shared_servers import SharedServers

pytestmark = pytest.mark.engines

MINUTE = 120.0
ON = {"hoodie.schema.on.read.enable": "true"}


@dataclass(frozen=True)
class Fork:
    """Databases that hold a fork of a copy-on-write and of a merge-on-read table."""

    server: Server
    cow: str
    mor: str
    folder: Path

    def ask(self, database: str, table: str, **settings: str) -> Reply:
        named = {name.replace("_", "-"): value for name, value in settings.items()}
        question = Question(database, table, facts("hudi-mor"), Query())
        with closing(self.server.connect(named)) as connection:
            return connection.ask(question, timeout_s=MINUTE)


@pytest.fixture(scope="module")
def fork(
    metastore: Metastore,
    servers: SharedServers,
    writer_for: WriterFor,
    tmp_path_factory: pytest.TempPathFactory,
) -> Fork:
    """Two rows, then f1 renamed to f1_new, forked; afterwards the original is changed again."""
    folder = tmp_path_factory.mktemp("tables")
    for kind in ("cow", "mor"):
        session = writer_for("spark-3.5.8-hudi-0.15.0").open(ON)
        assert isinstance(session, Session)
        write(kind, folder, metastore, session)
    return Fork(servers("hive-3.1.3"), "hudi_cow_fork", "hudi_mor_fork", folder)


def write(kind: str, folder: Path, metastore: Metastore, session: Session) -> None:
    database, place = f"hudi_{kind}", folder / kind
    table = (
        f"create table {database}.t (id string, ts bigint, f1 string, st struct<a:int>) using hudi "
        f"location '{place}' tblproperties (type='{kind}', primaryKey='id', preCombineField='ts')"
    )
    rows = "('1', 1, 'a1', named_struct('a', 1)), ('2', 1, 'a2', null)"
    for statement in (
        f"create database {database}",
        table,
        f"insert into {database}.t values {rows}",
        f"alter table {database}.t rename column f1 to f1_new",
    ):
        session.run(statement, timeout_s=MINUTE)
    with metastore_client.connect(metastore.uri) as found:
        shutil.copytree(place, folder / f"{kind}-fork")
        entries = found.entries(database)
        found.register(f"{database}_fork", entries, str(folder / f"{kind}-fork"))
    session.run(f"update {database}.t set f1_new = 'changed', ts = 2", timeout_s=MINUTE)


def files(folder: Path) -> set[tuple[str, int, int]]:
    """Every file with its size and the time it was written."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in found}


@pytest.mark.parametrize(
    ("settings", "found", "path"),
    [
        ({}, [None, None], "fetch"),
        ({"schema_on_read": "off"}, [None, None], "fetch"),
        ({"schema_on_read": "on"}, ["a1", "a2"], "fetch"),
        ({"schema_on_read": "on", "path": "mapreduce"}, [None, None], "mapreduce"),
    ],
)
def test_a_renamed_column_of_a_fork_is_found_only_by_schema_on_read_and_fetch(
    fork: Fork, settings: dict[str, str], found: list[str | None], path: str
) -> None:
    before = files(fork.folder)
    for database, table in ((fork.cow, "t"), (fork.mor, "t_rt"), (fork.mor, "t_ro")):
        reply = fork.ask(database, table, **settings)
        assert [column.name for column in reply.columns] == ["id", "ts", "f1_new", "st"]
        rows = sorted(reply.rows)
        assert [row[2] for row in rows] == found
        assert [row[:2] + row[3:] for row in rows] == [("1", 1, {"a": 1}), ("2", 1, None)]
        assert reply.confirmed == path
    assert files(fork.folder) == before


def test_the_original_went_on(fork: Fork) -> None:
    reply = fork.ask("hudi_cow", "t", schema_on_read="on")
    assert {row[2] for row in reply.rows} == {"changed"}

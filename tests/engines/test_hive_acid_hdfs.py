"""Hive 4 compacts a transactional table on HDFS by query, where an empty folder is a folder too.

There a query finds the folder that its own compaction is to fill (apache/hive pull request 6431,
HIVE-29567): who takes that for a base has no rows.
"""

from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import Connection
from tests.engines import hdfs
from tests.engines.hive_machine import machine, rows, session, states

pytestmark = [pytest.mark.engines, pytest.mark.nightly]
ROWS: Final = (("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"))


def write(connection: Connection, table: str, place: str) -> None:
    rows(
        connection,
        f"create table {table} (id string, f string) stored as orc location '{place}' "
        "tblproperties ('transactional' = 'true')",
    )
    rows(connection, f"insert into {table} values ('a', '1'), ('b', '0'), ('c', '3')")
    rows(connection, f"update {table} set f = '2' where id = 'b'")
    rows(connection, f"insert into {table} values ('d', '4')")


def shown(connection: Connection, table: str) -> object:
    return tuple(sorted(rows(connection, f"select id, f from {table}")))


@pytest.mark.parametrize(("kind", "base"), [("major", "base_0000003"), ("minor", "delta_0000001")])
def test_a_compaction_by_query_has_all_rows(
    kind: str, base: str, tmp_path: Path, cache: Cache, progress: Progress
) -> None:
    for name in ("hdfs", "hive"):
        (tmp_path / name).mkdir()
    with (
        hdfs.serving(cache, tmp_path / "hdfs", progress) as address,
        machine(cache, tmp_path / "hive", progress) as hive,
        hive.server(name="hive-4.0.1-tez-0.10.4") as server,
        closing(session(server)) as asking,
    ):
        write(asking, "t", place := f"{address}/t")
        rows(asking, f"alter table t compact '{kind}' and wait")
        assert states(asking) == ["ready for cleaning"]
        folders = [str(row[0]).rpartition("/")[2] for row in rows(asking, f"dfs -ls {place}")]
        assert any(name.startswith(base) and "_v" in name for name in folders)
        for name in folders:
            if "delta_" in name and "_v" not in name:
                rows(asking, f"dfs -rm -r {place}/{name}")
        assert shown(asking, "t") == ROWS


def test_a_worker_of_4_2_1_loses_all_rows_of_a_table_on_hdfs_and_none_of_one_on_the_disk(
    tmp_path: Path, cache: Cache, progress: Progress
) -> None:
    for name in ("hdfs", "hive"):
        (tmp_path / name).mkdir()
    with (
        hdfs.serving(cache, tmp_path / "hdfs", progress) as address,
        machine(cache, tmp_path / "hive", progress) as hive,
        hive.server(workers=0) as server,
        closing(session(server)) as asking,
        hive.worker(),
    ):
        for table, place in (("here", f"file:{tmp_path / 'here'}"), ("t", f"{address}/t")):
            write(asking, table, place)
            assert shown(asking, table) == ROWS
            rows(asking, f"alter table {table} compact 'major' and wait")
        assert states(asking) == ["ready for cleaning"] * 2
        (base,) = (tmp_path / "here").glob("base_*_v*")
        assert [file.name for file in base.glob("bucket_*")] == ["bucket_00000"]
        assert shown(asking, "here") == ROWS
        assert shown(asking, "t") == ()

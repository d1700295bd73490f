"""The thinnest proof that one metastore, that of Hive 3.1.3, serves the engines of the family."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness import engines
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import Question
from harness.formats import facts
from harness.model.query import Query
from harness.runtime.metastore import Metastore
from tests.engines.trino_table import register

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("name", ["trino-476", "prestosql-350"])
def test_it_reads_a_table_that_the_hive_3_1_3_metastore_holds(
    name: str, metastore: Metastore, database: str, cache: Cache, progress: Progress, tmp_path: Path
) -> None:
    data, folder = tmp_path / "data", tmp_path / "server"
    data.mkdir()
    folder.mkdir()
    pq.write_table(pa.table({"id": [1, 2], "f1": ["a1", "a2"]}), data / "f.parquet")
    register(metastore.uri, database, "t", [("id", "bigint"), ("f1", "string")], data)
    installation = fetch.ensure(distributions.load(name), cache, progress)
    engine = engines.load(installation.distribution.engine)
    sql = engine.sql(Question(database, "t", facts("hive-parquet"), Query()), {})

    with engine.serve(installation, metastore.uri, folder, progress) as server:
        connection = server.connect({})
        reply = connection.ask(sql, timeout_s=60)
        connection.close()

    assert sorted(reply.rows) == [(1, "a1"), (2, "a2")]

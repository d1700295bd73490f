"""The thinnest proof that one metastore, that of Hive 3.1.3, serves the engines of the family."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.engines.api import Question
from harness.formats import facts
from harness.model.query import Query
from harness.runtime.metastore import Metastore
from tests.engines.shared_servers import SharedServers
from tests.engines.trino_table import register

pytestmark = pytest.mark.engines


@pytest.mark.parametrize("name", ["trino-476", "prestosql-350"])
def test_it_reads_a_table_that_the_hive_3_1_3_metastore_holds(
    name: str, metastore: Metastore, servers: SharedServers, database: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"id": [1, 2], "f1": ["a1", "a2"]}), tmp_path / "f.parquet")
    register(metastore.uri, database, "t", [("id", "bigint"), ("f1", "string")], tmp_path)
    question = Question(database, "t", facts("hive-parquet"), Query())

    with closing(servers(name).connect({})) as connection:
        reply = connection.ask(question, timeout_s=60)

    assert sorted(reply.rows) == [(1, "a1"), (2, "a2")]

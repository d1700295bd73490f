from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.records import Column
from harness.engines.spark.engine import SparkConnection, session_settings
from harness.engines.spark.session import SparkRows
from harness.engines.spark.values import canonical_type


def test_a_reply_tells_hudi_s_own_columns_apart() -> None:
    rows = SparkRows((("_hoodie_file_name", "string"), ("n", "bigint")), (("f", 1), ("g", 2)), 0.5)
    session: Any = SimpleNamespace(reported={}, run=lambda sql, timeout_s: rows)
    reply = SparkConnection(session).run("select", timeout_s=1)
    assert (reply.columns, reply.rows) == ((Column("n", "bigint", "long"),), ((1,), (2,)))
    meta = Column("_hoodie_file_name", "string", "string")
    assert reply.left_out == ((meta, ("f", "g")),)


def test_settings_that_are_absent_are_left_to_spark() -> None:
    assert session_settings({}) == {}
    assert session_settings({"schema-on-read": "on", "vectorized": "off"}) == {
        "hoodie.schema.on.read.enable": "true",
        "spark.sql.parquet.enableVectorizedReader": "false",
        "spark.sql.iceberg.vectorization.enabled": "false",
    }


@pytest.mark.parametrize(
    ("told", "ours"),
    [
        ("bigint", "long"),
        ("decimal(10,2)", "decimal(10, 2)"),
        ("struct<a:bigint,bigint:array<bigint>>", "struct<a: long, bigint: array<long>>"),
        ("map<string,bigint>", "map<string, long>"),
        ("tinyint", "tinyint"),
        ("struct<a:binary>", "struct<a: binary>"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("struct<at:timestamp_ntz>", "struct<at: timestamp_ntz>"),
        ("void", ""),
    ],
)
def test_spark_types_in_our_words(told: str, ours: str) -> None:
    assert canonical_type(told) == ours

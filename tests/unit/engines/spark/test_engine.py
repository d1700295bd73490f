from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.artifacts import distributions
from harness.core.records import Column
from harness.engines.api import Question
from harness.engines.spark.engine import ENGINE, SparkConnection, session_settings
from harness.engines.spark.session import SparkRows
from harness.engines.spark.values import canonical_type
from harness.formats import facts
from harness.model.query import Query, not_null


def sql(query: Query) -> str:
    spark = distributions.load("spark-3.5.8-hudi-1.0.2")
    (sql,) = ENGINE.statements(spark, {}, Question("s_1", "t_rt", facts("hudi-mor"), query))
    return sql


def test_a_table_is_asked_through_the_metastore_by_quoted_names() -> None:
    assert sql(Query()) == "select * from `s_1`.`t_rt`"
    assert sql(Query(columns=("id", "a.b"))) == "select `id`, `a`.`b` from `s_1`.`t_rt`"


def test_a_count_may_be_of_rows_where_a_column_is_not_null() -> None:
    found = sql(Query(count=True, where=not_null("f1")))
    assert found == "select count(*) from `s_1`.`t_rt` where `f1` is not null"


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


@pytest.mark.parametrize("name", ENGINE.settings)
def test_every_setting_that_is_offered_can_be_set(name: str) -> None:
    assert all(session_settings({name: value}) for value in ENGINE.settings[name])


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


def test_the_digest_of_the_code_is_stable() -> None:
    assert ENGINE.ask_code() == ENGINE.ask_code()
    assert len(ENGINE.ask_code()) == 64

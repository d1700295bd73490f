from types import SimpleNamespace
from typing import Any

import pytest

from harness.core.records import Column
from harness.engines.api import Question
from harness.engines.spark.engine import SparkConnection, session_settings
from harness.engines.spark.session import SparkRows
from harness.engines.spark.values import canonical_type
from harness.formats import facts
from harness.model.query import Query
from harness.plan import distribution_support
from harness.scenario.cells import Reader


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


def test_a_folder_is_read_by_the_path_that_the_metastore_has_of_the_table() -> None:
    sent: list[str] = []
    described = SparkRows(
        (("col_name", "string"), ("data_type", "string"), ("comment", "string")),
        (("id", "string", None), ("Location", "file:/w/t", "")),
        0.1,
    )
    shown = SparkRows((("id", "string"),), (("1",),), 0.1)

    def run(sql: str, timeout_s: float) -> SparkRows:
        del timeout_s
        sent.append(sql)
        return described if sql.startswith("describe") else shown

    session: Any = SimpleNamespace(reported={}, run=run)
    question = Question("s_1", "t", facts("hive-orc"), Query(), None, "id")
    connection = SparkConnection(session, by_path=True)
    assert connection.ask(question, timeout_s=1).rows == (("1",),)
    assert sent == ["describe formatted `s_1`.`t`", "select * from `orc`.`file:/w/t`"]


def test_only_plain_tables_whose_files_say_what_their_rows_are_are_read_by_their_path() -> None:
    by_path = Reader("spark-4.1.4", (("by", "path"),))
    assert not distribution_support.cannot(by_path, "hive-parquet")
    assert "does not say what its rows are" in distribution_support.cannot(by_path, "hive-text")
    other = Reader("spark-4.1.4-delta-4.4.0", (("by", "path"),))
    assert "does not say what its rows are" in distribution_support.cannot(other, "delta")


@pytest.mark.parametrize(
    ("type_", "ours"),
    [
        ("bigint", "long"),
        ("decimal(10,2)", "decimal(10, 2)"),
        ("struct<a:bigint,bigint:array<bigint>>", "struct<a: long, bigint: array<long>>"),
        ("map<string,bigint>", "map<string, long>"),
        ("tinyint", "tinyint"),
        ("struct<a:binary>", "struct<a: binary>"),
        ("timestamp_ntz", "timestamp_ntz"),
        ("struct<at:timestamp_ntz>", "struct<at: timestamp_ntz>"),
        ("void", "unknown"),
    ],
)
def test_spark_types_in_our_words(type_: str, ours: str) -> None:
    assert canonical_type(type_) == ours

#!/usr/bin/env bash
# Hudi 1.2.0 on Spark 3.5.8: `create index … using bloom_filters` of an expression ends with a
# NullPointerException where the column has NULL; without a NULL the index is made. By
# `column_stats` it is made with a NULL as well.
#
# It needs Java 11 or 17.
#
# Seen: bloom filters without NULL: made; with NULL: NullPointerException; statistics with NULL: made.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target spark "pyspark==3.5.8"
SPARK_LOCAL_IP=127.0.0.1 PYTHONPATH=spark python3 - <<'PYTHON'
import os

from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars.packages", "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0")
    .config("spark.jars.ivy", os.path.abspath("ivy"))
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
    .config("spark.sql.warehouse.dir", os.path.abspath("warehouse"))
    .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
# An index is made by a writer that may have others beside it.
lock = "org.apache.hudi.client.transaction.lock.InProcessLockProvider"
for name, value in {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": lock,
    "hoodie.metadata.enable": "true",
}.items():
    spark.sql(f"set {name}={value}")


def made(by: str, value: str) -> str:
    spark.sql("drop table if exists t")
    spark.sql(
        "create table t (id string, ts bigint, s string) using hudi "
        "tblproperties (primaryKey = 'id', preCombineField = 'ts')"
    )
    spark.sql(f"insert into t values ('1', 1, 'x'), ('2', 1, cast({value} as string))")
    try:
        spark.sql(f"create index of_s on t using {by} (s) options (expr = 'lower')")
    except Exception as problem:
        return "NullPointerException" if "NullPointerException" in str(problem) else str(problem)
    return "made"


asked = ("bloom_filters", "'y'"), ("bloom_filters", "null"), ("column_stats", "null")
seen = [made(by, value) for by, value in asked]
for (by, value), outcome in zip(asked, seen):
    print(f"Hudi 1.2.0, index by {by}, the second value is {value}: {outcome}")
assert seen == ["made", "NullPointerException", "made"], seen
PYTHON

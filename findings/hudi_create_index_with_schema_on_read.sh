#!/usr/bin/env bash
# Hudi 1.2.0 on Spark 3.5.8: `create index … using column_stats` makes an index, and ends with a
# ClassCastException in a session that has `hoodie.schema.on.read.enable`, which renames need. What
# casts is Spark's analysis: the rule of Hudi that resolves tables for changes of the schema has
# made an alias of the table. The same is seen of `drop index`.
#
# It needs Java 11 or 17.
#
# Seen: off: index made and dropped; on: SubqueryAlias cannot be cast to ResolvedTable, for both.
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
spark.sql(
    "create table t (id string, ts bigint, s string) using hudi "
    "tblproperties (primaryKey = 'id', preCombineField = 'ts')"
)
spark.sql("insert into t values ('1', 1, 'x'), ('2', 1, 'y')")
CREATE = "create index of_s on t using column_stats (s) options (expr = 'lower')"


def outcome(statement: str) -> str:
    try:
        spark.sql(statement)
    except Exception as problem:
        cast = "SubqueryAlias cannot be cast to class" in str(problem)
        return "SubqueryAlias is cast to ResolvedTable" if cast else str(problem)
    return "done"


seen = []
for setting in ("true", "false"):
    spark.sql(f"set hoodie.schema.on.read.enable={setting}")
    for statement in (CREATE, "drop index of_s on t"):
        seen.append(outcome(statement))
        print(f"Hudi 1.2.0, schema on read {setting}: {statement.partition(' of_s')[0]}: {seen[-1]}")
assert seen == ["SubqueryAlias is cast to ResolvedTable"] * 2 + ["done"] * 2, seen
PYTHON

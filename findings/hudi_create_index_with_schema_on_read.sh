#!/usr/bin/env bash
# Hudi 1.2.0 on Spark 3.5.8: `create index … using column_stats` makes an index, but in a session
# that has `hoodie.schema.on.read.enable`, which renames need, it ends with a ClassCastException in
# Spark's analysis, before Hudi is asked. `drop index` does what it says in both.
#
# It needs Java 11 or 17.
#
# Seen: on: SubqueryAlias cannot be cast to ResolvedTable; off: made; dropped with it on.
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
DROP = "drop index of_s on t"


def outcome(statement: str) -> str:
    try:
        spark.sql(statement)
    except Exception as problem:
        cast = "SubqueryAlias cannot be cast to class" in str(problem)
        return "SubqueryAlias is cast to ResolvedTable" if cast else str(problem)
    return "done"


seen = []
for setting, statement in (("true", CREATE), ("false", CREATE), ("true", DROP)):
    spark.sql(f"set hoodie.schema.on.read.enable={setting}")
    seen.append(outcome(statement))
    print(f"Hudi 1.2.0, schema on read {setting}: {statement.partition(' of_s')[0]}: {seen[-1]}")
assert seen == ["SubqueryAlias is cast to ResolvedTable", "done", "done"], seen
PYTHON

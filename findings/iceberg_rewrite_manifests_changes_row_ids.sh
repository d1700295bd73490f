#!/usr/bin/env bash
# In an Iceberg table of format version 3 each row has an id, `_row_id`, which it keeps until it is
# deleted (specification, "Row Lineage"). Spark with Iceberg 1.10.1 updates a row of a merge-on-read
# table, then calls rewrite_manifests: no row is written, and yet rows that the update left alone have
# other ids. apache/iceberg#16699 and #16761 have it; with Iceberg 1.12.0 on Spark 4.1.4 all keep
# theirs.
#
# It needs Java 17 or 21 with the module jdk.incubator.vector, as a JDK has it.
#
# Seen: before a 0, b 1, c 2, m 3; after a 0, b 10, c 11, m 3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib pyspark==3.5.8
SPARK_LOCAL_IP=127.0.0.1 PYTHONPATH=lib python3 - <<'PYTHON'
import hashlib
import os
from pathlib import Path

from pyspark.sql import SparkSession

SHA256 = "39ea09e6c03550a300b9d9ab498949836d2d434e441da4c12a943a086e396940"
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars.packages", "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1")
    .config("spark.jars.ivy", os.path.abspath("ivy"))
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.c.type", "hadoop")
    .config("spark.sql.catalog.c.warehouse", os.path.abspath("warehouse"))
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
(jar,) = Path("ivy/jars").glob("*.jar")
assert hashlib.sha256(jar.read_bytes()).hexdigest() == SHA256


def ids() -> dict[str, int]:
    return dict(spark.sql("select id, _row_id from c.n.t order by id").collect())


merge = "'format-version' = '3', 'write.update.mode' = 'merge-on-read'"
spark.sql(f"create table c.n.t (id string, n int) using iceberg tblproperties ({merge})")
spark.sql("insert into c.n.t select /*+ coalesce(1) */ * from values ('a', 1), ('b', 1), ('c', 1)")
spark.sql("insert into c.n.t values ('m', 1)")
spark.sql("update c.n.t set n = 2 where id in ('a', 'm')")
before = ids()
spark.sql("call c.system.rewrite_manifests('n.t')")
after = ids()
print(before, after)
spark.stop()
assert before == {"a": 0, "b": 1, "c": 2, "m": 3}, before
assert {key: after[key] for key in "am"} == {"a": 0, "m": 3}, "the updated rows say their ids"
assert before["b"] != after["b"] and before["c"] != after["c"], "the ids of b and c are kept"
PYTHON

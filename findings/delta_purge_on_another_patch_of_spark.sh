#!/usr/bin/env bash
# Delta 4.0.0 is built for Spark 4.0.0. On Spark 4.0.1 a table is created, written, and rows are
# deleted by deletion vectors; then `reorg table … apply (purge)`, which writes the files anew, ends
# with NoSuchMethodError, since the constructor of a class inside Spark has other parameters in the
# patch release. On Spark 4.0.0 the same jars purge the table.
#
# It needs Java 17 or 21 with the module jdk.incubator.vector, as a JDK has it.
#
# Seen: Spark 4.0.0 purged; Spark 4.0.1 NoSuchMethodError ParquetToSparkSchemaConverter.<init>.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 4.0.0 4.0.1; do
    python3 -m pip install --quiet --disable-pip-version-check --target "spark-$version" "pyspark==$version"
    SPARK_LOCAL_IP=127.0.0.1 PYTHONPATH=spark-$version python3 - "$version" <<'PYTHON'
import os
import sys

from pyspark.sql import SparkSession

version = sys.argv[1]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars.packages", "io.delta:delta-spark_2.13:4.0.0")
    .config("spark.jars.ivy", os.path.abspath("ivy"))
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.warehouse.dir", os.path.abspath(f"warehouse-{version}"))
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
table = f"delta.`{os.path.abspath(f'table-{version}')}`"
on = "tblproperties ('delta.enableDeletionVectors' = 'true')"
spark.sql(f"create table {table} (id int) using delta {on}")
spark.sql(f"insert into {table} select /*+ repartition(1) */ cast(id as int) from range(10)")
spark.sql(f"delete from {table} where id = 3")
try:
    spark.sql(f"reorg table {table} apply (purge)").collect()
    seen = "purged"
except Exception as problem:
    seen = "no such constructor" if "ParquetToSparkSchemaConverter.<init>" in str(problem) else str(problem)
print(f"Spark {version} with Delta 4.0.0: {seen}")
assert seen == {"4.0.0": "purged", "4.0.1": "no such constructor"}[version], seen
PYTHON
done

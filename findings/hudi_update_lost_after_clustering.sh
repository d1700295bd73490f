#!/usr/bin/env bash
# Hudi 1.2.0 on Spark 3.5.8, a merge-on-read table whose keys are found by consistent hashing: after
# a clustering that merged its buckets `insert into` replaces a row, and an `update` is done without
# an error and lost. Its log file has the instant of the first write in its name, so it belongs to
# what was there before the clustering, and nobody merges it.
#
# It needs Java 11 or 17.
#
# Seen: after the update of row 2 its value is still the one that was inserted.
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
strategies = "org.apache.hudi.client.clustering"
for name, value in {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "2",
    "hoodie.bucket.index.min.num.buckets": "1",
    "hoodie.bucket.index.max.num.buckets": "8",
    "hoodie.clustering.plan.strategy.class": f"{strategies}.plan.strategy.SparkConsistentBucketClusteringPlanStrategy",
    "hoodie.clustering.execution.strategy.class": f"{strategies}.run.strategy.SparkConsistentBucketClusteringExecutionStrategy",
    "hoodie.clustering.updates.strategy": f"{strategies}.update.strategy.SparkConsistentBucketDuplicateUpdateStrategy",
    "hoodie.spark.sql.insert.into.operation": "upsert",
}.items():
    spark.sql(f"set {name}={value}")
spark.sql(
    "create table t (id string, ts bigint, s string) using hudi "
    "tblproperties (primaryKey = 'id', preCombineField = 'ts', type = 'mor')"
)
rows = ", ".join(f"('{at}', 1, 'inserted')" for at in range(1, 7))
spark.sql(f"insert into t values {rows}")
spark.sql("call run_clustering(op => 'scheduleAndExecute', table => 't')")
spark.sql("insert into t values ('1', 2, 'replaced')")
spark.sql("update t set s = 'updated', ts = 3 where id = '2'")
seen = {row.id: row.s for row in spark.sql("select id, s from t").collect()}
print(f"Hudi 1.2.0, after the clustering: row 1 is {seen['1']}, row 2 is {seen['2']}")
assert (seen["1"], seen["2"]) == ("replaced", "inserted"), seen
PYTHON

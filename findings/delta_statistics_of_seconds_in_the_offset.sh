#!/usr/bin/env bash
# In 1850 clocks in Stockholm were 53 minutes and 28 seconds ahead of UTC. Spark with Delta 3.3.2
# writes the least and the greatest moment of a file into the log with the session's offset, and cuts
# that to minutes: the moment that it says is 28 seconds later than the only one in the file, where
# the protocol ("Per-file Statistics") has bounds. So a condition finds no row, though the table shows
# it. delta-io/delta#5249 has it.
#
# It needs Java 17 or 21 with the module jdk.incubator.vector, as a JDK has it.
#
# Seen: 1850-01-01T01:01:01.000+00:53 for 00:07:33 UTC; 1 row without a condition, 0 by it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --target lib pyspark==3.5.8
SPARK_LOCAL_IP=127.0.0.1 PYTHONPATH=lib python3 - <<'PYTHON'
import hashlib
import json
import os
from pathlib import Path

from pyspark.sql import SparkSession

SHA256 = {
    "io.delta_delta-spark_2.12-3.3.2.jar": "4e92085d5d794cf949c50bb665b91384857cad58680c2d0bfc9c7ad353e98e85",
    "io.delta_delta-storage-3.3.2.jar": "c096975a2ca97ccc9b4005aa5cce16c9ac3903139d340da6665b66ace67d7c36",
    "org.antlr_antlr4-runtime-4.9.3.jar": "131a6594969bc4f321d652ea2a33bc0e378ca312685ef87791b2c60b29d01ea5",
}
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars.packages", "io.delta:delta-spark_2.12:3.3.2")
    .config("spark.jars.ivy", os.path.abspath("ivy"))
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.session.timeZone", "Europe/Stockholm")
    .config("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
jars = Path("ivy/jars").glob("*.jar")
assert SHA256 == {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in jars}
table = f"delta.`{os.path.abspath('t')}`"
spark.sql(f"create table {table} (id int, at timestamp) using delta")
spark.sql(f"insert into {table} values (1, timestamp '1850-01-01 00:07:33Z')")
log = Path("t/_delta_log/00000000000000000001.json").read_text().splitlines()
(added,) = (json.loads(line)["add"] for line in log if '"add"' in line)
least = json.loads(added["stats"])["minValues"]["at"]


def found(where: str) -> int:
    return spark.sql(f"select * from {table} where {where}").count()


seen = least, found("true"), found("at = timestamp '1850-01-01 00:07:33Z'")
print(*seen)
spark.stop()
assert seen == ("1850-01-01T01:01:01.000+00:53", 1, 0), "the bound is of the moment, and finds the row"
PYTHON

"""Carries out read plans in the worker (`worker.py`), which this file is copied beside.

A request has what `harness.audit.spark_plan` makes of a plan: groups of Parquet files that have one
schema, and files of rows that are part of the table as they are. The rows become a view of the
session, each with its file and its position there. It imports nothing but for types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession


def call(spark: SparkSession, settings: Mapping[str, str], request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as `write_client.call`
    """Make the view `view`; return the files that Spark lists, by their groups."""
    frames, listed = [], []
    for group in request["groups"]:
        # A path may have what stands for other letters in patterns.
        reader = spark.read.schema(group["schema"]).option("__globPaths__", "false")
        stored = reader.format("parquet").load(group["paths"])
        listed.append(len(stored.inputFiles()))
        frames.append(_rows(spark, stored, group))
    if not frames and not request["ready"]:
        frames.append(spark.createDataFrame([], request["schema"]))
    elif request["ready"]:
        frames.append(spark.read.schema(request["schema"]).parquet(*request["ready"]))
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionAll(frame)
    whole.createOrReplaceTempView(request["view"])
    return listed


def _rows(spark: SparkSession, stored: DataFrame, group: Mapping[str, Any]) -> DataFrame:
    from pyspark.sql.functions import expr  # noqa: PLC0415 - only this process has it

    frame = stored.selectExpr(*group["stored"])
    if group["values"]:
        values = spark.read.parquet(group["values"]).hint("broadcast")
        frame = frame.join(values, "file")
    if group["deleted"]:
        deleted = spark.read.parquet(group["deleted"])
        # By a number alone Spark finds rows in less time than by a path as well.
        here = "position = deleted_position and array_contains(deleted_in, file)"
        frame = frame.join(deleted, expr(here), "left_anti")
    for path, equal in group["deleted_values"]:
        frame = frame.join(spark.read.parquet(path), expr(equal), "left_anti")
    return frame.selectExpr(*group["select"])

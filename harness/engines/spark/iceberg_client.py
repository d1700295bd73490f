"""Calls of Iceberg's library from the worker (`worker.py`), which this file is copied beside.

It imports nothing but for types, as the worker. Spark's SQL writes no equality deletes; Flink and
other writers do, by the classes that are called here (Iceberg specification, "Equality Delete
Files").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

FORMAT: Final = "write.delete.format.default"
"""The property of a table that names the format of its delete files."""


def call(spark: SparkSession, settings: Mapping[str, str], request: Mapping[str, Any]) -> None:  # noqa: ARG001 - as `write_client.call`
    """Commit an equality delete file: rows are gone where a column has one of some values.

    Args:
        spark: the session, which knows the table.
        settings: those of the session.
        request: `table` with its database, `column`, and `values` of it, which Py4J gives to the
            JVM as texts or as numbers of 32 bits.

    """
    jvm: Any = spark._jvm  # noqa: SLF001 - the only way to Iceberg's Java
    iceberg, session = jvm.org.apache.iceberg, spark._jsparkSession  # noqa: SLF001 - as above
    # Each thread has its own, and Iceberg's catalog asks for it.
    jvm.org.apache.spark.sql.SparkSession.setActiveSession(session)
    table = iceberg.spark.Spark3Util.loadIcebergTable(session, request["table"])
    column = table.schema().findField(request["column"])
    only = table.schema().select(_listed(jvm, [request["column"]]))
    gateway: Any = spark._sc._gateway  # noqa: SLF001 - as above
    ids = gateway.new_array(jvm.int, 1)
    ids[0] = column.fieldId()
    named = table.properties().getOrDefault(FORMAT, "parquet")
    kind = iceberg.FileFormat.fromString(named)
    factory = iceberg.data.GenericAppenderFactory(table.schema(), table.spec(), ids, only, None)
    files = iceberg.io.OutputFileFactory.builderFor(table, 1, 1).format(kind).build()
    writer = factory.newEqDeleteWriter(files.newOutputFile(), kind, None)
    try:
        for value in request["values"]:
            record = iceberg.data.GenericRecord.create(only)
            record.setField(request["column"], value)
            writer.write(record)
    finally:
        writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def _listed(jvm: Any, values: list[str]) -> Any:  # noqa: ANN401 - Py4J's objects
    made = jvm.java.util.ArrayList()
    for each in values:
        made.add(each)
    return made

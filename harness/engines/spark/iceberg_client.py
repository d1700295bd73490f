"""Calls of Iceberg's library from the worker (`worker.py`), which this file is copied beside.

Spark's SQL writes no equality deletes; other writers do, by the classes that are called here
(Iceberg specification, "Equality Delete Files"). Spark 3.5 gives columns no default values, and
forbids NULL in none that allows it. It imports nothing but for types, as the worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

FORMAT: Final = "write.delete.format.default"


def call(spark: SparkSession, settings: Mapping[str, str], request: Mapping[str, Any]) -> None:  # noqa: ARG001 - as `write_client.call`
    """Call a function of this module: `method` with named `arguments`, and a `table`."""
    jvm: Any = spark._jvm  # noqa: SLF001 - the only way to Iceberg's Java
    session = spark._jsparkSession  # noqa: SLF001 - as above
    # Each thread has its own, and Iceberg's catalog asks for it.
    jvm.org.apache.spark.sql.SparkSession.setActiveSession(session)
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session, request["table"])
    gateway: Any = spark._sc._gateway  # noqa: SLF001 - as above
    METHODS[request["method"]](gateway, table, **request["arguments"])


def delete_by_value(gateway: Any, table: Any, column: str, values: list[Any]) -> None:  # noqa: ANN401 - Py4J's objects
    """Commit an equality delete file: rows are gone where the column has one of the values.

    They are texts or numbers of 32 bits: of others Py4J makes what Iceberg does not take.
    """
    jvm, iceberg = gateway.jvm, gateway.jvm.org.apache.iceberg
    only = table.schema().select(_listed(jvm, [column]))
    ids = gateway.new_array(jvm.int, 1)
    ids[0] = table.schema().findField(column).fieldId()
    kind = iceberg.FileFormat.fromString(table.properties().getOrDefault(FORMAT, "parquet"))
    factory = iceberg.data.GenericAppenderFactory(table.schema(), table.spec(), ids, only, None)
    files = iceberg.io.OutputFileFactory.builderFor(table, 1, 1).format(kind).build()
    writer = factory.newEqDeleteWriter(files.newOutputFile(), kind, None)
    try:
        for value in values:
            record = iceberg.data.GenericRecord.create(only)
            record.setField(column, value)
            writer.write(record)
    finally:
        writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def add_column(
    gateway: Any,  # noqa: ANN401 - Py4J's objects
    table: Any,  # noqa: ANN401 - as above
    name: str,
    type_: str,
    default: Any,  # noqa: ANN401 - a value
    first: bool,  # noqa: FBT001 - named by who calls
    after: str | None,
) -> None:
    """Commit a column with a default value (Iceberg specification, "Default values")."""
    iceberg = gateway.jvm.org.apache.iceberg
    kind = iceberg.types.Types.fromTypeName(type_)
    literal = iceberg.expressions.Expressions.lit(default).to(kind)
    update = table.updateSchema().addColumn(name, kind, literal)
    if first:
        update = update.moveFirst(name)
    elif after is not None:
        update = update.moveAfter(name, after)
    update.commit()


def require_column(gateway: Any, table: Any, name: str) -> None:  # noqa: ANN401, ARG001 - as above
    """Forbid NULL in a column, whatever is there (`UpdateSchema`)."""
    table.updateSchema().allowIncompatibleChanges().requireColumn(name).commit()


def _listed(jvm: Any, values: list[str]) -> Any:  # noqa: ANN401 - Py4J's objects
    made = jvm.java.util.ArrayList()
    for value in values:
        made.add(value)
    return made


METHODS: Final[Mapping[str, Any]] = {
    "delete_by_value": delete_by_value,
    "add_column": add_column,
    "require_column": require_column,
}

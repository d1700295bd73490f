"""Calls of Iceberg's library from the worker (`worker.py`), which this file is copied beside.

Spark's SQL writes no equality deletes; other writers do, by the classes that are called here
(Iceberg specification, "Equality Delete Files"). Spark 3.5 gives columns no default values, and
forbids NULL in none that allows it. It imports nothing but for types, as the worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

FORMAT: Final = "write.delete.format.default"
JAVA_CLASS: Final = "JavaClass"
"""What Py4J has for a class that is there; for another one it has a package."""


def call(spark: SparkSession, settings: Mapping[str, str], request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as `write_client.call`
    """Call a function of this module: `method` with named `arguments`, and a `table`.

    Return where the table's metadata were and are, if the catalog must be told.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 - the only way to Iceberg's Java
    session = spark._jsparkSession  # noqa: SLF001 - as above
    # Each thread has its own, and Iceberg's catalog asks for it.
    jvm.org.apache.spark.sql.SparkSession.setActiveSession(session)
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(session, request["table"])
    gateway: Any = spark._sc._gateway  # noqa: SLF001 - as above
    return METHODS[request["method"]](gateway, table, **request["arguments"])


def delete_by_value(
    gateway: Any,  # noqa: ANN401 - Py4J's objects
    table: Any,  # noqa: ANN401 - as above
    columns: list[str],
    values: list[Any],
) -> None:
    """Commit an equality delete file: rows are gone where the columns have one of the tuples.

    `columns` are dotted paths, `values` one row's after the other's. They are texts, numbers of 32
    bits or NULL: of others Py4J makes what Iceberg does not take.
    """
    jvm, iceberg = gateway.jvm, gateway.jvm.org.apache.iceberg
    schema = table.schema()
    only = schema.select(_listed(jvm, columns))
    ids = gateway.new_array(jvm.int, len(columns))
    for at, column in enumerate(columns):
        ids[at] = schema.findField(column).fieldId()
    kind = iceberg.FileFormat.fromString(table.properties().getOrDefault(FORMAT, "parquet"))
    file = iceberg.io.OutputFileFactory.builderFor(table, 1, 1).format(kind).build().newOutputFile()
    factory: Any = iceberg.data.GenericAppenderFactory
    if type(factory).__name__ == JAVA_CLASS:
        made = factory(schema, table.spec(), ids, only, None)
        writer = made.newEqDeleteWriter(file, kind, None)
    else:  # Iceberg 1.12 has it no more, and what took its place is public since then
        builder = getattr(iceberg.data, "GenericFileWriterFactory$Builder")(table)
        builder = builder.dataSchema(schema).deleteFileFormat(kind).equalityFieldIds(ids)
        made = builder.equalityDeleteRowSchema(only).build()
        writer = made.newEqualityDeleteWriter(file, table.spec(), None)
    try:
        for at in range(0, len(values), len(columns)):
            row = dict(zip(columns, values[at : at + len(columns)], strict=True))
            writer.write(_record(iceberg, only, row))
    finally:
        writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def _record(iceberg: Any, schema: Any, row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - Py4J's objects
    record = iceberg.data.GenericRecord.create(schema)
    for path, value in row.items():
        *above, name = path.split(".")
        inner = record
        for part in above:
            if inner.getField(part) is None:
                kind = inner.struct().field(part).type().asStructType()
                inner.setField(part, iceberg.data.GenericRecord.create(kind))
            inner = inner.getField(part)
        inner.setField(name, value)
    return record


def add_column(
    gateway: Any,  # noqa: ANN401 - Py4J's objects
    table: Any,  # noqa: ANN401 - as above
    name: str,
    type_: str,
    default: Any,  # noqa: ANN401 - a value
    first: bool,  # noqa: FBT001 - named by who calls
    after: str | None,
    untold: bool = False,  # noqa: FBT001, FBT002 - as above
) -> list[str] | None:
    """Commit a column with a default value (Iceberg specification, "Default values"), if any.

    `untold`: Hive's metastore has no word for its type (`HiveSchemaUtil.convertToTypeString`), so
    that Iceberg's catalog takes no such table: the metadata are written and no catalog is asked.
    """
    iceberg = gateway.jvm.org.apache.iceberg
    kind = iceberg.types.Types.fromTypeName(type_)
    more = [] if default is None else [iceberg.expressions.Expressions.lit(default).to(kind)]
    *above, leaf = name.rsplit(".", 1)
    table.refresh()  # Spark keeps it, and knows of no such column that came before
    update = table.updateSchema().addColumn(*above, leaf, kind, *more)
    if first:
        update = update.moveFirst(name)
    elif after is not None:
        update = update.moveAfter(name, after)
    if not untold:
        update.commit()
        return None
    operations = table.operations()
    now = operations.current()
    number = int(now.metadataFileLocation().rpartition("/")[2].partition("-")[0]) + 1
    place = operations.metadataFileLocation(f"{number:05}-{uuid4()}.metadata.json")
    file = operations.io().newOutputFile(place)
    iceberg.TableMetadataParser.write(now.updateSchema(update.apply()), file)
    return [now.metadataFileLocation(), place]


def require_column(gateway: Any, table: Any, name: str) -> None:  # noqa: ANN401 - as above
    """Forbid NULL in a column, whatever is there (`UpdateSchema`)."""
    table.updateSchema().allowIncompatibleChanges().requireColumn(name).commit()


def remove_orphans(gateway: Any, table: Any) -> None:  # noqa: ANN401 - as above
    """Remove all files that no snapshot has (`DeleteOrphanFiles`)."""
    actions = gateway.jvm.org.apache.iceberg.spark.actions.SparkActions.get()
    actions.deleteOrphanFiles(table).olderThan(2**62).execute()


def _listed(jvm: Any, values: list[str]) -> Any:  # noqa: ANN401 - Py4J's objects
    made = jvm.java.util.ArrayList()
    for value in values:
        made.add(value)
    return made


METHODS: Final[Mapping[str, Any]] = {
    "delete_by_value": delete_by_value,
    "add_column": add_column,
    "require_column": require_column,
    "remove_orphans": remove_orphans,
}

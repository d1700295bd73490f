"""Writes of Hudi tables that are more than SQL: DataFrames, extra metadata, calls of the client.

The client is `BaseHoodieWriteClient` of Hudi 0.15.0, 1.0.2 and 1.2.0, whose methods are the same;
it does not tell the metastore, unlike `alter table`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.formats.api import StoredMetadata, VariantSettings
from harness.formats.files import avro
from harness.formats.hudi import records, timeline
from harness.formats.hudi import settings as hudi_settings
from harness.formats.hudi.settings import ALLOW_DROPS
from harness.model.datatypes import DataType
from harness.model.identifiers import TABLE
from harness.model.schema import schema_of
from harness.model.table import Table
from harness.model.truth import Truth
from harness.scenario.operations.columns import (
    AddColumn,
    ChangeNullability,
    ChangeType,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from harness.scenario.operations.row_writes import MetadataWay, WriteWithMetadata
from harness.scenario.operations.spark_sql import select_none, text
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.statements import (
    DATABASE,
    TABLE_ARGUMENT,
    ClientCall,
    FrameWrite,
    Sql,
    Statement,
    of_table,
)

PREFIX: Final = "hoodie.datasource.write.commitmeta.key.prefix"
"""Options whose names begin with it are copied into the commit (Hudi documentation)."""
WRITTEN_BY_HUDI: Final = ("schema", "latest_schema")
"""What Hudi itself writes into the extra metadata of a batch write or schema change."""


def write_with_metadata(
    operation: WriteWithMetadata, before: Truth, after: Truth, settings: VariantSettings
) -> tuple[Statement, ...]:
    """Return a write that is told of metadata, and what makes the next one forget it."""
    options = {PREFIX: operation.prefix, **operation.metadata}
    if operation.by is MetadataWay.FRAME:
        frame = WriteFrame(operation.keys)
        (write,) = frame_write(frame, before, after, settings)
        return (replace(write, options=(*write.options, *options.items())),)
    writes = of_table(operation.sql(before, after))
    if operation.by is MetadataWay.TABLE_OPTIONS:
        # The catalog's properties are changed before and after: the table has no such.
        listed = ", ".join(f"{text(name)} = {text(value)}" for name, value in options.items())
        names, table = ", ".join(map(text, options)), f"alter table {DATABASE}.{TABLE}"
        first = [f"{table} set tblproperties ({listed})"]
        back = [f"{table} unset tblproperties if exists ({names})"]
    else:
        if operation.by is MetadataWay.QUOTED_SET:
            options[PREFIX] = text(operation.prefix)
        first = [f"set {name}={value}" for name, value in options.items()]
        back = [f"reset {name}" for name in options]
    return (
        *(Sql(sql, commits=False) for sql in first),
        *writes,
        *(Sql(sql, in_any_case=True, commits=False) for sql in back),
    )


def stored_metadata(folder: Path, instant: str) -> StoredMetadata:
    """Return the extra metadata of a completed write, and the call that shows it."""
    at, table = f"{TABLE_ARGUMENT}, instant_time => '{instant}'", records.local(folder)
    stored = timeline.extra_metadata(table.record(table.writes[instant]))
    return StoredMetadata(stored, f"call show_commit_extra_metadata({at})", WRITTEN_BY_HUDI)


SchemaChange = AddColumn | DropColumn | RenameColumn | MoveColumn | ChangeType | ChangeNullability


def client_calls(change: SchemaChange, options: Sequence[tuple[str, str]]) -> tuple[Statement, ...]:
    """Return the call of a schema change; `options`: the table's own properties."""

    def schema(type_: DataType) -> str:
        return json.dumps(avro.schema(type_, change.name.rpartition(".")[2]))

    def position(after: str | None, *, first: bool) -> tuple[str, ...]:
        """Return the column that another one stands behind, and how: nothing at the end."""
        if first:
            return "", "FIRST"
        parent, dot, _ = change.name.rpartition(".")
        return (f"{parent}{dot}{after}", "AFTER") if after else ()

    arguments: tuple[str, ...]
    match change:
        case AddColumn(_, type_, first, after):
            at = position(after, first=first)
            no_comment = ("",) if at else ()
            method, arguments = "addColumn", (schema(type_), *no_comment, *at)
        case DropColumn():
            method, arguments = "deleteColumns", ()
        case RenameColumn(_, to):
            method, arguments = "renameColumn", (to,)
        case MoveColumn(_, first, after):
            method, arguments = "reOrderColPosition", position(after, first=first)
        case ChangeType(_, to):
            method, arguments = "updateColumnType", (schema(to),)
        case ChangeNullability(_, nullable):
            method, arguments = "updateColumnNullability", (str(nullable).lower(),)
    return (ClientCall(method, (change.name, *arguments), tuple(options)),)


RECONCILE: Final = "hoodie.datasource.write.reconcile.schema"
USUAL: Final = {
    "hoodie.table.name": TABLE,
    "hoodie.datasource.write.operation": "upsert",
    # A table made by SQL has such folders.
    "hoodie.datasource.write.hive_style_partitioning": "true",
    # The session allows `alter table` to drop columns; a frame that lacks one means none of it.
    ALLOW_DROPS: "false",
    # SQL tells the metastore by itself after each write (`ProvidesHoodieConfig`), and so.
    "hoodie.datasource.hive_sync.enable": "true",
    "hoodie.datasource.hive_sync.mode": "hms",
    "hoodie.datasource.hive_sync.support_timestamp": "true",
    "hoodie.datasource.hive_sync.database": DATABASE,
    "hoodie.datasource.hive_sync.table": TABLE,
}


TYPES: Final = {"cow": "COPY_ON_WRITE", "mor": "MERGE_ON_READ"}


def frame_creation(
    table: Table, settings: VariantSettings, properties: Sequence[tuple[str, str]]
) -> tuple[FrameWrite, ...]:
    """Return the write of a DataFrame without rows: it makes the table with `properties`."""
    listed = "\n".join(f"{name}={value}" for name, value in properties)
    options = {
        **USUAL,
        "hoodie.datasource.write.table.type": TYPES[dict(properties)["type"]],
        **_columns(table),
        **dict(hudi_settings.merge_properties(table)),
        **dict(hudi_settings.properties(settings)),
        "hoodie.datasource.hive_sync.table_properties": listed,
        "hoodie.datasource.hive_sync.serde_properties": listed,
    }
    query = select_none(schema_of(table.columns).fields)
    return (FrameWrite(query, "hudi", tuple(options.items())),)


def frame_write(
    operation: WriteFrame, before: Truth, after: Truth, settings: VariantSettings
) -> tuple[FrameWrite, ...]:
    """Return the write of one DataFrame, whose writer does not ask the catalog for properties."""
    (query,) = operation.sql(before, after)
    options = {
        **USUAL,
        RECONCILE: str(operation.reconcile).lower(),
        **_columns(after.table),
        **dict(hudi_settings.merge_properties(after.table)),
        **dict(hudi_settings.properties(settings)),
    }
    return (FrameWrite(query, "hudi", tuple(options.items())),)


def _columns(table: Table) -> Mapping[str, str]:
    """Return what the table's properties say of columns with a role, in the writer's words."""
    options = {"hoodie.datasource.write.recordkey.field": table.key}
    if table.order_by:
        options["hoodie.datasource.write.precombine.field"] = table.order_by
    if table.partition_by:
        by = ",".join(table.partition_by)
        options["hoodie.datasource.write.partitionpath.field"] = by
        options["hoodie.datasource.hive_sync.partition_fields"] = by
    return options

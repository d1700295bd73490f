"""How a DataFrame is written to a Hudi table, with the options that SQL sets by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.formats.api import VariantSettings
from harness.formats.hudi import settings as hudi_settings
from harness.formats.hudi.settings import ALLOW_DROPS
from harness.model.identifiers import TABLE
from harness.model.schema import schema_of
from harness.model.table import Table
from harness.model.truth import Truth
from harness.scenario.operations.spark_sql import select_none
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.statements import DATABASE, FrameWrite

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
    """Return the write of a DataFrame without rows: it makes the table, its columns as declared.

    `properties`: those that SQL would give the table. The sync gives them to the catalog's one,
    where later SQL looks for them.
    """
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
    """Return the write of one DataFrame.

    Its writer does not ask the catalog for the table's properties. Without that of its version Hudi
    1.0.2 and 1.2.0 upgrade a table of an older one (seen with version 6).
    """
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

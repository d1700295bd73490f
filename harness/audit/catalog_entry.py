"""What a metastore is told of a table that lies somewhere, so that engines find it.

Sources: Iceberg specification, "Metastore Tables"; `HiveExternalCatalog` of Spark, for tables of a
data source; Trino's manual, "Delta Lake connector".
"""

from dataclasses import replace
from typing import Final

from harness import formats
from harness.audit.projection import full_type
from harness.audit.tables import PinnedTable
from harness.engines.arrow_values import canonical_type
from harness.formats.hive.format import hive_type
from harness.formats.iceberg.table import POINTER
from harness.formats.read_plan import ReadPlan
from harness.model.datatypes import parse_type
from harness.model.identifiers import TABLE
from harness.model.partition_paths import NULL, folder_of, texts
from harness.runtime.metastore_objects import (
    DELTA,
    ICEBERG,
    PROVIDER,
    CatalogEntry,
    Columns,
    WriteIds,
    plain_entry,
    with_parameters,
)
from harness.usage.usage_file import UsedFormat

_HUDI: Final = {
    UsedFormat.HUDI_COW: "org.apache.hudi.hadoop.HoodieParquetInputFormat",
    UsedFormat.HUDI_MOR: "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat",
}


def catalog_entry(pinned: PinnedTable, plan: ReadPlan) -> CatalogEntry:
    """Return the entry of a table; raises UnreadableError.

    That of a table of Hive is the one that its metastore has.
    """
    table = pinned.table
    if entry := pinned.entry():
        parts = tuple({**part, "tableName": TABLE} for part in entry.partitions)
        return replace(
            entry, name=TABLE, table={**entry.table, "tableName": TABLE}, partitions=parts
        )
    location = table.location.removeprefix("file:").rstrip("/")
    path = {"path": f"file:{location}"}
    match table.format:
        case UsedFormat.ICEBERG:
            made = plain_entry(TABLE, _columns(plan), location)
            pointer = {POINTER: pinned.for_readers or table.metadata}
            return with_parameters(made, {**ICEBERG, **pointer})
        case UsedFormat.DELTA:
            # Engines take the columns from the log.
            made = plain_entry(TABLE, [("col", "array<string>")], location)
            return with_parameters(made, DELTA, path)
        case UsedFormat.HUDI_COW | UsedFormat.HUDI_MOR:
            made = plain_entry(TABLE, _columns(plan), location)
            made = with_parameters(made, {PROVIDER: "hudi"}, path)
            storage = {**made.table["sd"], "inputFormat": _HUDI[table.format]}
            return replace(made, table={**made.table, "sd": storage})
    kind = formats.facts(table.format).files
    keys = len(table.partition_keys)
    made = plain_entry(TABLE, _columns(plan)[: len(plan.columns) - keys], location, kind)
    if table.format is UsedFormat.HIVE_ACID:
        made = with_parameters(made, {"transactional": "true"})
        made = replace(made, write_ids=WriteIds(int(plan.version)))
    return _with_partitions(made, plan, _columns(plan)[len(plan.columns) - keys :])


def _with_partitions(made: CatalogEntry, plan: ReadPlan, keys: Columns) -> CatalogEntry:
    """Return the entry of a plain table with the partitions that its folders are."""
    if not keys:
        return made
    storage, names = made.table["sd"], [name for name, _ in keys]
    parts = [
        {
            "values": [NULL if text is None else text for text in texts(folder, names)],
            "tableName": TABLE,
            "sd": {**storage, "location": f"{storage['location']}/{folder}"},
            "parameters": {},
        }
        for folder in dict.fromkeys(folder_of(file.path) for file in plan.files)
    ]
    partition_keys = [{"name": name, "type": type_} for name, type_ in keys]
    table = {**made.table, "partitionKeys": partition_keys}
    return replace(made, table=table, partitions=tuple(parts))


def _columns(plan: ReadPlan) -> Columns:
    """Return names with Hive's words for the types; that of a text where it has none."""
    types = [canonical_type(full_type(part, plan.arrow_type)) for part in plan.columns]
    words = (hive_type(parse_type(type_)) if type_ else "string" for type_ in types)
    return tuple(zip((part.name for part in plan.columns), words, strict=True))

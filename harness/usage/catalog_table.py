"""A table as the catalog's entry describes it, and which format that is. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final

from harness.core.texts import printable
from harness.formats.iceberg.table import POINTER
from harness.usage.usage_file import (
    BASE_NAME,
    READ_OPTIMIZED,
    SNAPSHOT,
    Fact,
    UsedFormat,
    UsedTable,
)

HUDI_INPUTS: Final = ("org.apache.hudi.", "com.uber.hoodie.")


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """What a scan takes of an entry; nothing of its other parameters is kept."""

    name: str
    format: UsedFormat
    view: str = SNAPSHOT
    location: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    partition_keys: tuple[str, ...] = ()
    metadata: str = ""
    """Where the metadata of an Iceberg table is."""
    content: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The metadata of an Iceberg table, of a catalog that gives them."""
    kind: str = ""
    """What it is that is none of the formats: the last word of its input format."""
    insert_only: bool = False
    """Of a transactional table of Hive."""


Entries = tuple[CatalogTable, ...]
"""Entries of one table: those of a merge-on-read table's views have the same files and columns."""


@dataclass(frozen=True, slots=True)
class Listing:
    total: int
    """So many entries come, unless some cannot be read."""
    batches: Iterable[Sequence[Entries | UsedTable]]
    """They come as they are read; one that the catalog does not give is told already."""
    unlisted: Mapping[str, str]
    """What its tables are not known of, with the reason."""
    databases: int = 0
    """So many have been looked into; none are known of a folder."""
    metastore: str = ""
    """The address of the Hive metastore that has them."""


def fits(database: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(database.lower(), p.lower()) for p in patterns)


def catalog_table(table: Any) -> CatalogTable:  # noqa: ANN401 - Thrift's own class
    parameters = {str(k).lower(): str(v) for k, v in (table.parameters or {}).items()}
    storage = table.sd
    read_by = (storage and storage.inputFormat) or ""
    serializer = (storage and storage.serdeInfo and storage.serdeInfo.serializationLib) or ""
    format_ = _format(table.tableType or "", parameters, read_by, serializer)
    return CatalogTable(
        name=f"{table.dbName}.{table.tableName}",
        format=format_,
        view=_view(table, read_by) if format_ in _HUDI else SNAPSHOT,
        location=(storage and storage.location) or "",
        columns=tuple((col.name, col.type) for col in (storage and storage.cols) or ()),
        partition_keys=tuple(partitionkey.name for partitionkey in table.partitionKeys or ()),
        metadata=parameters.get(POINTER, ""),
        kind=parameters.get("storage_handler", read_by).rpartition(".")[2],
        insert_only=parameters.get("transactional_properties") == "insert_only",
    )


_HUDI: Final = (UsedFormat.HUDI, UsedFormat.HUDI_COW, UsedFormat.HUDI_MOR)


def _format(kind: str, parameters: dict[str, str], read_by: str, serializer: str) -> UsedFormat:
    """Return the format; what Hudi's table type is its own properties say."""
    provider = parameters.get("spark.sql.sources.provider", "").lower()
    handler = parameters.get("storage_handler", "")
    if kind.endswith("_VIEW"):
        return UsedFormat.VIEW
    if parameters.get("table_type", "").lower() == "iceberg" or "iceberg" in handler.lower():
        return UsedFormat.ICEBERG
    if provider == "delta" or "DeltaStorageHandler" in handler:
        return UsedFormat.DELTA
    if provider == "hudi" or read_by.startswith(HUDI_INPUTS):
        return UsedFormat.HUDI_MOR if "Realtime" in read_by else UsedFormat.HUDI
    if parameters.get("transactional", "").lower() == "true":
        return UsedFormat.HIVE_ACID
    if "Parquet" in read_by:
        return UsedFormat.HIVE_PARQUET
    if read_by.endswith("OrcInputFormat"):
        return UsedFormat.HIVE_ORC
    if read_by.endswith("AvroContainerInputFormat"):
        return UsedFormat.HIVE_AVRO
    # Files of text may be JSON or whatever else a serializer reads.
    of_text = read_by.endswith("TextInputFormat")
    delimited = of_text and serializer.endswith(("LazySimpleSerDe", "OpenCSVSerde"))
    return UsedFormat.HIVE_TEXT if delimited else UsedFormat.OTHER


def _view(table: Any, read_by: str) -> str:  # noqa: ANN401
    """Return which view of a merge-on-read table an entry is (`HiveSyncTool` of Hudi)."""
    serde = (table.sd.serdeInfo and table.sd.serdeInfo.parameters) or {}
    read_optimized = str(serde.get("hoodie.query.as.ro.table", "")).lower()
    name = str(table.tableName)
    if name.endswith("_rt") and "Realtime" in read_by:
        return SNAPSHOT
    if read_optimized == "true" or read_by.endswith("HoodieParquetInputFormat"):
        return READ_OPTIMIZED
    return BASE_NAME


def unread(entry: CatalogTable, why: str) -> UsedTable:
    """Return a table of which nothing is known but what its entry says."""
    surely = entry.format not in (UsedFormat.OTHER, UsedFormat.HUDI)
    unknown = tuple(fact for fact in Fact if not (fact is Fact.FORMAT and surely))
    view = entry.view if entry.format is UsedFormat.HUDI_MOR else SNAPSHOT
    return UsedTable(entry.name, entry.format, view, unknown=unknown, unread=printable(why))

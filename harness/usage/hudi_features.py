"""Words for what is particular about a Hudi table, of its properties and its timeline. Pure.

Source: `HoodieTableConfig` of Hudi 0.15 and 1.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.formats.hudi import timeline
from harness.formats.hudi.records import HudiRecords

_IF: Final = (
    ("hoodie.populate.meta.fields", "false", "no-meta-columns"),
    ("hoodie.datasource.write.drop.partition.columns", "true", "partition-columns-dropped"),
    ("hoodie.datasource.write.partitionpath.urlencode", "true", "encoded-partition-folders"),
    ("hoodie.table.cdc.enabled", "true", "change-data-capture"),
    ("hoodie.record.merge.mode", "COMMIT_TIME_ORDERING", "commit-time-ordering"),
    ("hoodie.record.merge.mode", "EVENT_TIME_ORDERING", "event-time-ordering"),
    ("hoodie.record.merge.mode", "CUSTOM", "custom-merge"),
    ("hoodie.table.multiple.base.file.formats.enable", "true", "several-base-file-formats"),
)
_IF_SET: Final = (
    ("hoodie.table.precombine.field", "ordering-field"),
    ("hoodie.table.ordering.fields", "ordering-field"),
    ("hoodie.bootstrap.base.path", "bootstrap"),
)
_INDEXES: Final = {
    "files": "metadata-table",
    "column_stats": "column-statistics",
    "record_index": "record-index",
    "bloom_filters": "bloom-filters-in-metadata",
    "partition_stats": "partition-statistics",
}
"""Of `hoodie.table.metadata.partitions`."""
_PAYLOADS: Final = ("OverwriteWithLatestAvroPayload", "DefaultHoodieRecordPayload")
_GENERATORS: Final = ("Simple", "Complex", "NonPartition", "Nonpartitioned", "NonPartitioned")
PENDING: Final = {
    "compaction": "pending-compaction",
    "logcompaction": "pending-log-compaction",
    "clustering": "pending-clustering",
    "replacecommit": "pending-replacement",
    "indexing": "pending-indexing",
    "rollback": "pending-rollback",
    "restore": "pending-restore",
    "clean": "pending-clean",
}
"""What a table has whose instant of an action is not completed; of others, a pending write."""
_ACTIONS: Final = {
    "replacecommit": "replaced-file-groups",
    "savepoint": "savepoint",
    "rollback": "rolled-back",
    "restore": "restored",
}
"""Completed actions that a table still has on its timeline."""


def of_properties(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield what a table's properties say of it."""
    yield from (
        word for name, value, word in _IF if properties.get(name, "").lower() == value.lower()
    )
    yield from (word for name, word in _IF_SET if properties.get(name))
    parts = properties.get("hoodie.table.metadata.partitions", "").split(",")
    yield from (_INDEXES[part] for part in parts if part in _INDEXES)
    if any(part.startswith(("func_index_", "expr_index_", "secondary_index_")) for part in parts):
        yield "expression-or-secondary-index"
    hive_style = properties.get("hoodie.datasource.write.hive_style_partitioning", "").lower()
    if properties.get("hoodie.table.partition.fields") and hive_style != "true":
        yield "plain-partition-folders"
    yield from _classes(properties)


def _classes(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield what is not usual among the classes and files that a table names."""
    payload = properties.get("hoodie.compaction.payload.class", "").rpartition(".")[2]
    if payload and payload not in _PAYLOADS:
        yield "custom-payload"
    name = properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    kind = properties.get("hoodie.table.keygenerator.type", "")
    if name.startswith("Timestamp") or kind.startswith("TIMESTAMP"):
        yield "timestamp-key-generator"
    elif name and not name.startswith(_GENERATORS):
        yield "other-key-generator"
    if (base := properties.get("hoodie.table.base.file.format", "PARQUET").upper()) != "PARQUET":
        yield f"{base.lower()}-base-files"


def of_timeline(records: HudiRecords) -> Iterator[str]:
    """Yield what is pending on a timeline, or was done on it."""
    clusterings = records.pending_clusterings()
    for entry in records.pending:
        action = "clustering" if entry.requested in clusterings else entry.action
        yield PENDING.get(action, "pending-write")
    done = (entry.action for entry in records.entries if entry.state == timeline.COMPLETED)
    yield from (_ACTIONS[action] for action in done if action in _ACTIONS)

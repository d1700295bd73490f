"""What a Hudi table's own records say of its use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.files import column_parts, footer
from harness.formats.files.column_parts import without
from harness.formats.files.footer import DataFooter
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.hudi import records, schema_history, timeline
from harness.formats.hudi.records import HudiRecords, Slices
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import Doubts, Fact, OldFiles, TableFacts, UsedChange, UsedFormat

BASE_FORMAT: Final = "hoodie.table.base.file.format"
PARQUET: Final = "PARQUET"
ADDED: Final = "_hoodie_"
"""How the columns begin that Hudi adds."""
SYNCED: Final = {"timestamp", "long"}
"""Into the catalog, a timestamp is synchronised as a number by default
(`hoodie.datasource.hive_sync.support_timestamp`): that is no change."""
_TYPES: Final = {"COPY_ON_WRITE": UsedFormat.HUDI_COW, "MERGE_ON_READ": UsedFormat.HUDI_MOR}


def read(folder: TableFolder, table: CatalogTable) -> TableFacts:
    table_, doubts = records.read(folder), Doubts()
    if (kind := table_.properties.get(BASE_FORMAT, PARQUET)) != PARQUET:
        doubts.add(Fact.SCHEMA_CHANGES, f"its base files are of {kind}, which are not looked at")
    slices = table_.slices(_replaced(table_, doubts))
    if slices.why:
        doubts.add(Fact.FEATURES, slices.why)
    base = _footer(folder, slices, doubts)
    changes = _history(table_, slices, doubts)
    if changes is None:
        changes = _seen_in_file(table, slices, base, doubts)
    features = {
        *property_words(table_.properties),
        *timeline_words(table_),
        *(["log-files"] if slices.logs else []),
    }
    return TableFacts(
        _TYPES.get(table_.properties["hoodie.table.type"], UsedFormat.HUDI),
        table_.properties.get("hoodie.table.version", ""),
        bool(table_.partition_fields),
        sorted(features),
        base.writers if base else (),
        changes,
        doubts.unknown,
        doubts.why,
    )


def _replaced(table_: HudiRecords, doubts: Doubts) -> frozenset[str]:
    groups: frozenset[str] = frozenset()
    try:
        for name, record in table_.replacements():
            try:
                groups |= timeline.replaced_by(record, name)
            except FileFactError as problem:
                doubts.add(Fact.SCHEMA_CHANGES, problem)
    except UnreadableError as problem:
        doubts.add(Fact.SCHEMA_CHANGES, problem)
    return groups


def _footer(folder: TableFolder, slices: Slices, doubts: Doubts) -> DataFooter | None:
    if not slices.base_file:
        return None
    try:
        return footer.read(folder, slices.base_file)
    except UnreadableError as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{slices.base_file}: {problem}")
        return None


def _history(table_: HudiRecords, slices: Slices, doubts: Doubts) -> Sequence[UsedChange] | None:
    """Return the changes in the table's own history of its schema; None where it has none."""
    if not (path := table_.newest_schemas()):
        return None
    try:
        text = (table_.folder.text(path) or b"").decode()
        return tuple(_changes(text, table_.partition_fields, slices, doubts))
    except (ValueError, KeyError, TypeError, UnreadableError) as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{path} cannot be understood: {problem}")
        return ()


def _changes(
    text: str, partitions: Sequence[str], slices: Slices, doubts: Doubts
) -> Iterator[UsedChange]:
    """Yield the changes of a history, oldest first; each file of it has all schemas so far."""
    for pair in pairwise(schema_history.schemas(text)):
        before, after = (without(schema_history.columns(schema), partitions) for schema in pair)
        yield from diff.between(before, after, _age(str(pair[1]["version_id"]), slices, doubts))


def _age(since: str, slices: Slices, doubts: Doubts) -> OldFiles:
    """Return whether a file that is read today is older than an instant."""
    if Fact.SCHEMA_CHANGES in doubts.facts:  # which files are read is not known
        return OldFiles.UNKNOWN
    if slices.oldest and slices.oldest < since:
        return OldFiles.YES
    return OldFiles.UNKNOWN if slices.why else OldFiles.NO


def _seen_in_file(
    table: CatalogTable, slices: Slices, base: DataFooter | None, doubts: Doubts
) -> Sequence[UsedChange]:
    """Return how the oldest base file's columns are not those of the catalog."""
    if base is None:
        if slices.logs:
            doubts.add(Fact.SCHEMA_CHANGES, "there are log files only, and they are not read")
        return ()
    if slices.why:
        doubts.add(Fact.SCHEMA_CHANGES, slices.why)
    today = column_parts.of_catalog(table.columns)
    before, after = (without(side, table.partition_keys, ADDED) for side in (base.columns, today))
    changes = diff.by_names(column_parts.comparable(before, after), after)
    return tuple(change for change in changes if {change.was, change.to} != SYNCED)


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


def property_words(properties: Mapping[str, str]) -> Iterator[str]:
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


def timeline_words(records: HudiRecords) -> Iterator[str]:
    """Yield what is pending on a timeline, or was done on it."""
    clusterings = records.pending_clusterings()
    for entry in records.pending:
        action = "clustering" if entry.requested in clusterings else entry.action
        yield PENDING.get(action, "pending-write")
    done = (entry.action for entry in records.entries if entry.state == timeline.COMPLETED)
    yield from (_ACTIONS[action] for action in done if action in _ACTIONS)

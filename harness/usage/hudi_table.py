"""What a Hudi table's own records say of its use."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.files import column_parts, data_files
from harness.formats.files.column_parts import without
from harness.formats.files.data_files import DataFooter
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.hudi import records, timeline
from harness.formats.hudi.records import BASE_FORMAT, HOODIE, PARQUET, TYPE, HudiTable, Slices
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.usage_file import Doubts, Fact, OldFiles, UsedChange, UsedFormat, UsedTable

ADDED: Final = "_hoodie_"
"""The prefix of the columns that Hudi adds."""
SYNCED: Final = {"timestamp", "long"}
"""Into the catalog, a timestamp is synchronised as a number by default
(`hoodie.datasource.hive_sync.support_timestamp`): that is no change."""
TYPES: Final = {"COPY_ON_WRITE": UsedFormat.HUDI_COW, "MERGE_ON_READ": UsedFormat.HUDI_MOR}


def read(folder: TableFolder, table: CatalogTable) -> UsedTable:
    hudi, doubts = HudiTable(folder), Doubts()
    if TYPE not in hudi.properties:
        raise UnreadableError(f"there is no {HOODIE}/hoodie.properties")
    if (kind := hudi.properties.get(BASE_FORMAT, PARQUET)) != PARQUET:
        doubts.add(Fact.SCHEMA_CHANGES, f"its base files are of {kind}, which are not looked at")
    replaced = frozenset[str]()
    for entry in hudi.replacements():
        try:
            replaced |= hudi.replaced_groups(entry)
        except (FileFactError, UnreadableError) as problem:
            doubts.add(Fact.SCHEMA_CHANGES, problem)
    slices, base = hudi.slices(replaced), None
    if slices.why:
        doubts.add(Fact.FEATURES, slices.why)
    if slices.base_file:
        try:
            base = data_files.read_data_footer(folder, slices.base_file)
        except UnreadableError as problem:
            doubts.add(Fact.SCHEMA_CHANGES, f"{slices.base_file}: {problem}")
    changes = _history(hudi, slices, doubts)
    if changes is None:
        changes = _seen_in_file(table, slices, base, doubts)
    features = {
        *_property_words(hudi.properties),
        *_timeline_words(hudi),
        *(["log-files"] if slices.logs else []),
    }
    return UsedTable(
        table.name,
        TYPES.get(hudi.properties[TYPE], UsedFormat.HUDI),
        table_version=hudi.version,
        partitioned=bool(hudi.partition_fields),
        features=tuple(sorted(features)),
        writers=base.writers if base else (),
        schema_changes=tuple(changes),
        unknown=doubts.unknown,
        why=doubts.why,
    )


def _history(hudi: HudiTable, slices: Slices, doubts: Doubts) -> Sequence[UsedChange] | None:
    """Return the changes in the table's own history of its schema; None where it has none."""
    if not (histories := hudi.histories()):
        return None
    path, changes = max(histories.values()), list[UsedChange]()
    try:
        # Each file of it has all schemas so far.
        text = (hudi.folder.text(path) or b"").decode()
        for pair in pairwise(records.schemas(text)):
            before, after = (
                without(records.columns(schema), hudi.partition_fields) for schema in pair
            )
            age = _age(str(pair[1]["version_id"]), slices, doubts)
            changes += diff.between(before, after, age)
    except (ValueError, KeyError, TypeError, UnreadableError) as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{path} cannot be understood: {problem}")
        return ()
    return changes


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
    if slices.why:
        doubts.add(Fact.SCHEMA_CHANGES, slices.why)
    if base is None:
        if slices.logs:
            doubts.add(Fact.SCHEMA_CHANGES, "there are log files only, and they are not read")
        return ()
    today = column_parts.of_catalog(table.columns)
    before, after = (without(side, table.partition_keys, ADDED) for side in (base.columns, today))
    changes = diff.by_names(column_parts.comparable(before, after), after)
    return tuple(change for change in changes if {change.was, change.to} != SYNCED)


_BY_VALUE: Final = (
    ("hoodie.populate.meta.fields", "false", "no-meta-columns"),
    ("hoodie.datasource.write.drop.partition.columns", "true", "partition-columns-dropped"),
    ("hoodie.datasource.write.partitionpath.urlencode", "true", "encoded-partition-folders"),
    ("hoodie.table.cdc.enabled", "true", "change-data-capture"),
    ("hoodie.record.merge.mode", "COMMIT_TIME_ORDERING", "commit-time-ordering"),
    ("hoodie.record.merge.mode", "EVENT_TIME_ORDERING", "event-time-ordering"),
    ("hoodie.record.merge.mode", "CUSTOM", "custom-merge"),
    ("hoodie.table.multiple.base.file.formats.enable", "true", "several-base-file-formats"),
)
_BY_PRESENCE: Final = (
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
"""The feature of a table whose instant of an action is not completed; of other actions it is
`pending-write`."""
_ACTIONS: Final = {
    "replacecommit": "replaced-file-groups",
    "savepoint": "savepoint",
    "rollback": "rolled-back",
    "restore": "restored",
}
"""Completed actions that a table still has on its timeline."""


def _property_words(properties: Mapping[str, str]) -> Iterator[str]:
    yield from (
        word for name, value, word in _BY_VALUE if properties.get(name, "").lower() == value.lower()
    )
    yield from (word for name, word in _BY_PRESENCE if properties.get(name))
    parts = properties.get("hoodie.table.metadata.partitions", "").split(",")
    yield from (_INDEXES[part] for part in parts if part in _INDEXES)
    if any(part.startswith(("func_index_", "expr_index_", "secondary_index_")) for part in parts):
        yield "expression-or-secondary-index"
    hive_style = properties.get("hoodie.datasource.write.hive_style_partitioning", "").lower()
    if properties.get("hoodie.table.partition.fields") and hive_style != "true":
        yield "plain-partition-folders"
    payload = properties.get("hoodie.compaction.payload.class", "").rpartition(".")[2]
    if payload and payload not in _PAYLOADS:
        yield "custom-payload"
    name = properties.get("hoodie.table.keygenerator.class", "").rpartition(".")[2]
    kind = properties.get("hoodie.table.keygenerator.type", "")
    if name.startswith("Timestamp") or kind.startswith("TIMESTAMP"):
        yield "timestamp-key-generator"
    elif name and not name.startswith(_GENERATORS):
        yield "other-key-generator"
    if (base := properties.get(BASE_FORMAT, PARQUET).upper()) != PARQUET:
        yield f"{base.lower()}-base-files"


def _timeline_words(hudi: HudiTable) -> Iterator[str]:
    """Yield what is pending on a timeline, or was done on it."""
    for entry in hudi.entries:
        if entry.state == timeline.COMPLETED:
            if entry.action in _ACTIONS:
                yield _ACTIONS[entry.action]
        else:
            action = "clustering" if hudi.is_clustering(entry) else entry.action
            yield PENDING.get(action, "pending-write")

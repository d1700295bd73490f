"""What a Hudi table's own records say of its use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.files import column_parts, footer
from harness.formats.files.column_parts import without
from harness.formats.files.footer import DataFooter
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.hudi import commit_metadata, records, schema_history
from harness.formats.hudi.records import HudiRecords, Slices
from harness.usage import hudi_features
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.doubts import Doubts
from harness.usage.used_tables import Fact, OldFiles, TableFacts, UsedChange, UsedFormat

BASE_FORMAT: Final = "hoodie.table.base.file.format"
PARQUET: Final = "PARQUET"
ADDED: Final = "_hoodie_"
"""How the columns begin that Hudi adds."""
SYNCED: Final = {"timestamp", "long"}
"""Into the catalog, a timestamp is synchronised as a number by default
(`hoodie.datasource.hive_sync.support_timestamp`): that is no change."""
_TYPES: Final = {"COPY_ON_WRITE": UsedFormat.HUDI_COW, "MERGE_ON_READ": UsedFormat.HUDI_MOR}


def read(folder: TableFolder, table: CatalogTable) -> TableFacts:
    """Read the records of a table."""
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
        *hudi_features.of_properties(table_.properties),
        *hudi_features.of_timeline(table_),
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
                groups |= commit_metadata.replaced_by(record, name)
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

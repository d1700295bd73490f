"""What a Hudi table's own records say: its properties, its timeline, its schemas, its file names.

Sources: Hudi technical specification, "Table properties", "Timeline", "Storage layout";
`HoodieTableConfig` for the properties' names; `FileBasedInternalSchemaStorageManager` for
`.hoodie/.schema`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.formats.hudi import files as hudi_files
from harness.formats.hudi import replaced_groups
from harness.usage import column_types, data_footer, hudi_features, hudi_slices, hudi_timeline
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.data_footer import DataFooter
from harness.usage.doubts import Doubts
from harness.usage.hudi_slices import Slices
from harness.usage.hudi_timeline import HudiTimeline
from harness.usage.table_folder import TableFolder, UnreadableError
from harness.usage.used_tables import Fact, OldFiles, TableFacts, UsedChange, UsedFormat

META: Final = hudi_files.META
SCHEMAS: Final = f"{META}/.schema"
SCHEMA_COMMIT: Final = ".schemacommit"
PROPERTIES: Final = ("hoodie.properties", "hoodie.properties.backup")
"""The second is there while the first is being written."""
BASE_FORMAT: Final = "hoodie.table.base.file.format"
PARQUET: Final = "PARQUET"
ADDED: Final = "_hoodie_"
"""How the columns begin that Hudi adds."""
SYNCED: Final = {"timestamp", "long"}
"""Into the catalog, a timestamp is synchronised as a number by default
(`hoodie.datasource.hive_sync.support_timestamp`): that is no change."""
_TYPES: Final = {"COPY_ON_WRITE": UsedFormat.HUDI_COW, "MERGE_ON_READ": UsedFormat.HUDI_MOR}
_CLUSTER: Final = b"CLUSTER"
"""The operation in the plan of a replacement that is a clustering (`WriteOperationType`)."""


def read(folder: TableFolder, table: CatalogTable) -> TableFacts:
    """Read the records of a table.

    Raises:
        UnreadableError: there are none, or they cannot be read.

    """
    found, doubts = _found(folder), Doubts()
    if (kind := found.properties.get(BASE_FORMAT, PARQUET)) != PARQUET:
        doubts.add(Fact.SCHEMA_CHANGES, f"its base files are of {kind}, which are not looked at")
    slices = hudi_slices.read(folder, found.timeline, _replaced(found, doubts))
    if slices.why:
        doubts.add(Fact.FEATURES, slices.why)
    footer = _footer(folder, slices, doubts)
    changes = _history(found, slices, doubts)
    if changes is None:
        changes = _seen_in_file(table, slices, footer, doubts)
    features = {
        *hudi_features.of_properties(found.properties),
        *hudi_features.of_timeline(found.timeline, _clusterings(found)),
        *(["log-files"] if slices.logs else []),
    }
    return TableFacts(
        _TYPES.get(found.properties["hoodie.table.type"], UsedFormat.HUDI),
        found.properties.get("hoodie.table.version", ""),
        bool(found.partition_fields),
        sorted(features),
        footer.writers if footer else (),
        changes,
        doubts.unknown,
        doubts.why,
    )


@dataclass(frozen=True, slots=True)
class _Records:
    """The folder's properties and timeline."""

    folder: TableFolder
    properties: Mapping[str, str]
    paths: Mapping[str, str]
    """Of the timeline's files, by their names."""
    timeline: HudiTimeline

    @property
    def partition_fields(self) -> tuple[str, ...]:
        """The columns that the table is partitioned by, without what makes a folder's name of them.

        They stand last, whatever is added behind the others.
        """
        told = self.properties.get("hoodie.table.partition.fields", "")
        return tuple(each.partition(":")[0] for each in told.split(",") if each)


def _found(folder: TableFolder) -> _Records:
    properties = _properties(folder)
    for home in _homes(properties):
        paths = {each.name: each.path for each in folder.listed(home) if not each.folder}
        timeline = hudi_timeline.of_names(paths)
        if timeline.begin:
            break
    return _Records(folder, properties, paths, timeline)


def _homes(properties: Mapping[str, str]) -> Sequence[str]:
    """Return where the timeline is; layout 2 came with table version 8, and may be left again."""
    if properties.get("hoodie.timeline.layout.version") != "2":
        return (META,)
    return (f"{META}/{properties.get('hoodie.timeline.path', 'timeline')}", META)


def _properties(folder: TableFolder) -> Mapping[str, str]:
    for name in PROPERTIES:
        text = folder.text(f"{META}/{name}")
        found = hudi_files.parsed(text.decode("utf-8", "replace")) if text else {}
        if "hoodie.table.type" in found:
            return found
    raise UnreadableError(f"there is no {META}/{PROPERTIES[0]}")


def _replaced(found: _Records, doubts: Doubts) -> frozenset[str]:
    groups: frozenset[str] = frozenset()
    for name, path in found.paths.items():
        if name.endswith(f".{replaced_groups.ACTION}"):
            try:
                groups |= replaced_groups.of_record(found.folder.text(path) or b"", name)
            except (UnreadableError, FileFactError) as problem:
                doubts.add(Fact.SCHEMA_CHANGES, problem)
    return groups


def _clusterings(found: _Records) -> frozenset[str]:
    """Return the pending replacements whose plans say that they are clusterings."""
    pending = (at for at, action in found.timeline.pending.items() if action == "replacecommit")
    plans = ((at, found.paths.get(f"{at}.replacecommit.requested", "")) for at in pending)
    return frozenset(
        at for at, path in plans if path and _CLUSTER in (found.folder.text(path) or b"")
    )


def _footer(folder: TableFolder, slices: Slices, doubts: Doubts) -> DataFooter | None:
    if not slices.base_file:
        return None
    try:
        return data_footer.read(folder, slices.base_file)
    except UnreadableError as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{slices.base_file}: {problem}")
        return None


def _history(found: _Records, slices: Slices, doubts: Doubts) -> Sequence[UsedChange] | None:
    """Return the changes that `.hoodie/.schema` tells; None where it tells no history."""
    paths = [e.path for e in found.folder.listed(SCHEMAS) if e.name.endswith(SCHEMA_COMMIT)]
    if not paths:
        return None
    try:
        text = found.folder.text(max(paths)) or b""
        return tuple(_told(text, found.partition_fields, slices, doubts))
    except (ValueError, KeyError, TypeError, UnreadableError) as problem:
        doubts.add(Fact.SCHEMA_CHANGES, f"{max(paths)} cannot be understood: {problem}")
        return ()


def _told(text: bytes, last: Sequence[str], slices: Slices, doubts: Doubts) -> Iterator[UsedChange]:
    """Yield the changes of a history, oldest first; each file of it has all schemas so far."""
    schemas: list[Any] = sorted(json.loads(text)["schemas"], key=lambda each: each["version_id"])
    for pair in pairwise(schemas):
        before, after = (data_footer.without(diff.parts_of(e["fields"]), last) for e in pair)
        yield from diff.between(before, after, _age(str(pair[1]["version_id"]), slices, doubts))


def _age(since: str, slices: Slices, doubts: Doubts) -> OldFiles:
    """Return whether a file that is read today is older than an instant."""
    if Fact.SCHEMA_CHANGES in doubts.facts:  # which files are read is not known
        return OldFiles.UNKNOWN
    if slices.oldest and slices.oldest < since:
        return OldFiles.YES
    return OldFiles.UNKNOWN if slices.why else OldFiles.NO


def _seen_in_file(
    table: CatalogTable, slices: Slices, footer: DataFooter | None, doubts: Doubts
) -> Sequence[UsedChange]:
    """Return how the oldest base file's columns are not those of the catalog."""
    if footer is None:
        if slices.logs:
            doubts.add(Fact.SCHEMA_CHANGES, "there are log files only, and they are not read")
        return ()
    if slices.why:
        doubts.add(Fact.SCHEMA_CHANGES, slices.why)
    today = column_types.of_catalog(table.columns)
    before, after = (
        data_footer.without(each, table.partition_keys, ADDED) for each in (footer.columns, today)
    )
    found = diff.by_names(column_types.comparable(before, after), after)
    return tuple(each for each in found if {each.was, each.to} != SYNCED)

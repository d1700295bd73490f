"""What the metadata file of an Iceberg table says, and its newest list of manifests."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from harness.core.setting_values import MERGE_ON_READ
from harness.formats.files import data_files, table_folder
from harness.formats.files.column_parts import parts_of
from harness.formats.files.table_folder import TableFolder, UnreadableError
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.manifests import FileContent, avro_records
from harness.formats.iceberg.settings import MODES
from harness.formats.iceberg.table import NAME_MAPPING, IcebergMetadata
from harness.usage import schema_changes as diff
from harness.usage.catalog_table import CatalogTable
from harness.usage.features import DEFAULTS
from harness.usage.usage_file import Doubts, Fact, OldFiles, UsedChange, UsedFormat, UsedTable

Metadata = Mapping[str, Any]
NO_FILES: Final = sys.maxsize
"""As the sequence number of the oldest file of a table without any."""
_TOTALS: Final = {
    "total-delete-files": "delete-files",
    "total-position-deletes": "position-deletes",
    "total-equality-deletes": "equality-deletes",
    "total-dvs": "deletion-vectors",
    "added-dvs": "deletion-vectors",
}
"""Of the newest snapshot's summary."""


def read(folder: TableFolder, table: CatalogTable) -> UsedTable:
    newest, doubts = _metadata(folder, table), Doubts()
    try:
        oldest = _oldest(folder, table, newest, doubts)
        return UsedTable(
            table.name,
            UsedFormat.ICEBERG,
            table_version=str(newest.metadata["format-version"]),
            partitioned=bool(newest.partition_fields),
            features=tuple(sorted(set(_features(newest)))),
            writers=data_files.short_names(_writers(newest.current)),
            schema_changes=_changes(newest.metadata, oldest, doubts),
            unknown=doubts.unknown,
            why=doubts.why,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UnreadableError(f"its metadata cannot be understood: {problem!r}") from problem


def _metadata(folder: TableFolder, table: CatalogTable) -> IcebergMetadata:
    if table.content:
        return IcebergMetadata(table.content)
    if not table.metadata:
        raise UnreadableError("the catalog names no metadata file; its own catalog has it")
    inside, path = table_folder.holding(folder, table.location, table.metadata)
    content = inside.text(path)
    if content is None:
        raise UnreadableError(f"the metadata file {path} is gone")
    try:
        return IcebergMetadata(iceberg_table.parse(content))
    except (ValueError, OSError, EOFError) as problem:
        raise UnreadableError(f"{path} is not JSON: {problem}") from problem


def _features(newest: IcebergMetadata) -> Iterator[str]:
    metadata, properties = newest.metadata, newest.properties
    summary = newest.current.get("summary", {})
    yield from (word for name, word in _TOTALS.items() if int(summary.get(name, 0) or 0))
    if len(metadata.get("partition-specs", ())) > 1:
        yield "partition-evolution"
    yield from (
        f"partition-by-{str(field['transform']).partition('[')[0]}"
        for field in newest.partition_fields
        if field["transform"] != "identity"
    )
    if metadata.get("default-sort-order-id"):
        yield "sort-order"
    if any(properties.get(mode) == MERGE_ON_READ for mode in MODES):
        yield "merge-on-read"
    if NAME_MAPPING in properties:
        yield "name-mapping"
    if set(metadata.get("refs", {})) - {"main"}:
        yield "branches-or-tags"
    if metadata.get("statistics"):
        yield "statistics-files"
    today = metadata.get("current-schema-id")
    schemas = (s for s in metadata.get("schemas", ()) if s.get("schema-id") == today)
    if any(_has_default(schema) for schema in schemas):
        yield DEFAULTS


def _has_default(type_: object) -> bool:
    """Return whether a field has a value in older rows ("Default values", `initial-default`)."""
    if isinstance(type_, list):
        return any(map(_has_default, type_))
    if not isinstance(type_, dict):
        return False
    return type_.get("initial-default") is not None or any(map(_has_default, type_.values()))


def _writers(snapshot: Metadata) -> Iterator[str]:
    summary = snapshot.get("summary", {})
    engine = summary.get("engine-name", "spark" if "spark.app.id" in summary else "")
    if engine and "engine-version" in summary:
        yield f"{engine} {summary['engine-version']}"
    yield summary.get("iceberg-version", "")


def _oldest(
    folder: TableFolder, table: CatalogTable, newest: IcebergMetadata, doubts: Doubts
) -> int | None:
    """Return the sequence number of the oldest live data file; None where that is not known."""
    if not newest.current:
        return NO_FILES
    try:
        manifests = newest.current["manifest-list"]
        inside, path = table_folder.holding(folder, table.location, manifests)
        if inside is not folder:  # of a folder that was copied, its metadata know where it was
            location = str(newest.metadata.get("location", table.location))
            inside, path = table_folder.holding(folder, location, manifests)
        numbers = [
            int(manifest.get("min_sequence_number") or 0)
            for manifest in avro_records(inside.text(path) or b"").records
            if manifest.get("content", FileContent.DATA) == FileContent.DATA
        ]
    except (UnreadableError, KeyError, ValueError, EOFError, IndexError) as problem:
        doubts.add(Fact.FEATURES, f"the list of manifests cannot be read: {problem}")
        return None
    return min(numbers, default=NO_FILES)


def _changes(metadata: Metadata, oldest: int | None, doubts: Doubts) -> tuple[UsedChange, ...]:
    """Return the changes between schemas by their ids, up to today's, which may be an older one."""
    schemas = sorted(metadata.get("schemas", ()), key=lambda schema: int(schema["schema-id"]))
    known = {int(schema["schema-id"]): schema for schema in schemas}
    if list(known) != list(range(len(known))) or not known:
        doubts.add(Fact.SCHEMA_CHANGES, "its metadata does not have all schemas any more")
    today = int(metadata.get("current-schema-id", -1))
    if today in known and schemas[-1] is not known[today]:
        schemas.append(known[today])
    return tuple(
        change
        for before, after in pairwise(schemas)
        for change in diff.between(
            parts_of(before["fields"]),
            parts_of(after["fields"]),
            _age(metadata, int(after["schema-id"]), oldest),
        )
    )


def _age(metadata: Metadata, schema: int, oldest: int | None) -> OldFiles:
    """Return whether a live data file is from before a schema, as far as snapshots tell."""
    snapshots: Sequence[Metadata] = metadata.get("snapshots", ())
    if oldest == NO_FILES:
        return OldFiles.NO
    numbered = [
        (int(snapshot.get("sequence-number", 0)), int(snapshot["schema-id"]))
        for snapshot in snapshots
        if snapshot.get("schema-id") is not None
    ]
    if oldest is None or metadata["format-version"] == 1 or len(numbered) < len(snapshots):
        return OldFiles.UNKNOWN
    before = [number for number, id_ in numbered if id_ < schema]
    since = [number for number, id_ in numbered if id_ >= schema]
    if not since or (before and oldest <= max(before)):
        return OldFiles.YES
    # A catalog that keeps one snapshot says of it the schema of now (seen with Nessie 0.99.0).
    return OldFiles.NO if before and oldest >= min(since) else OldFiles.UNKNOWN

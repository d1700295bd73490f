"""The newest metadata of an Iceberg table, and the files that it is made of.

Source: Iceberg table specification, "Table Metadata" and "Manifests". Absolute paths are looked up
below the folder by what follows the table's location, so a copy tells the same.
"""

from __future__ import annotations

import datetime
import gzip
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.formats.files.column_parts import leaves, parts_of
from harness.model.canonical import Value
from harness.runtime.metastore_objects import CatalogEntry

METADATA: Final = "metadata"
_GZIP: Final = b"\x1f\x8b"
POINTER: Final = "metadata_location"
"""The property of a catalog entry that names the metadata file which counts."""
NAME_MAPPING: Final = "schema.name-mapping.default"
_VERSION: Final = re.compile(r"(?P<number>\d+)-[0-9a-f-]{36}\.metadata\.json")
_STATE: Final = ("current-schema-id", "default-spec-id", "current-snapshot-id")
_DELETED: Final = 2
"""Status of a manifest's entry for a file that is no longer part of the table."""


class FileContent(IntEnum):
    """What a file of a table holds."""

    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2


@dataclass(frozen=True, slots=True)
class Live:
    """A file that is part of the table, as a manifest tells of it."""

    content: FileContent
    path: str
    """Relative to the table's folder."""
    snapshot: str
    """The one that added it."""
    sequence: int
    """Grows with the snapshots; a rewritten file keeps that of the rows in it."""
    entry: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """All that the manifest tells of the file."""
    spec: int = 0
    """The partition spec by which it was written."""
    partition: tuple[Value, ...] = ()
    """The values of the fields of that spec, in its order."""


@dataclass(frozen=True, slots=True)
class IcebergMetadata:
    """What a metadata file says."""

    metadata: Mapping[str, Any]

    @property
    def snapshots(self) -> tuple[str, ...]:
        """The ids of the snapshots that are, or once were, the current one, oldest first."""
        return self._ids(current=True)

    @property
    def staged(self) -> tuple[str, ...]:
        """The ids of the snapshots that never were the current one."""
        return self._ids(current=False)

    def _ids(self, *, current: bool) -> tuple[str, ...]:
        # The log has those that were the current one (specification, "Table Metadata").
        log = {entry["snapshot-id"] for entry in self.metadata.get("snapshot-log", ())}
        records = sorted(self._records, key=itemgetter("sequence-number"))
        ids = (record["snapshot-id"] for record in records)
        return tuple(str(number) for number in ids if (number in log) is current)

    @property
    def properties(self) -> Mapping[str, str]:
        properties: Mapping[str, str] = self.metadata.get("properties", {})
        return properties

    @property
    def tags(self) -> tuple[str, ...]:
        refs: Mapping[str, Any] = self.metadata.get("refs", {})
        return tuple(sorted(name for name, ref in refs.items() if ref["type"] == "tag"))

    @property
    def state(self) -> str:
        """What tells the table from the one before, where a change of it makes no snapshot."""
        return " ".join(str(self.metadata.get(literal)) for literal in _STATE)

    def ids(self, snapshot: str) -> Mapping[str, int]:
        """Return the ids of leaf columns by dotted name in a snapshot; nothing where it is gone."""
        records = (s for s in self._records if str(s["snapshot-id"]) == snapshot)
        number = next((record.get("schema-id") for record in records), None)
        schemas = (s for s in self.metadata["schemas"] if s["schema-id"] == number)
        return {
            name: int(part.id)
            for schema in schemas
            for name, part in leaves(parts_of(schema["fields"]))
        }

    @property
    def _records(self) -> Sequence[Mapping[str, Any]]:
        records: Sequence[Mapping[str, Any]] = self.metadata.get("snapshots", ())
        return records

    @property
    def current(self) -> Mapping[str, Any]:
        """The record of the current snapshot; empty where there is none."""
        newest = self.metadata.get("current-snapshot-id")
        return next((s for s in self._records if s["snapshot-id"] == newest), {})

    @property
    def partition_fields(self) -> Sequence[Mapping[str, Any]]:
        """The fields of the default partition specification that still divide anything."""
        return [
            field
            for spec in self.metadata.get("partition-specs", ())
            if spec["spec-id"] == self.metadata.get("default-spec-id")
            for field in spec["fields"]
            if field["transform"] != "void"
        ]


@dataclass(frozen=True, slots=True)
class IcebergTable(IcebergMetadata):
    """A table's newest metadata, and its folder."""

    folder: Path
    name: str
    """Of the metadata file."""
    others: tuple[str, ...] = ()
    """The names of metadata files that are not older, and are of commits that nobody completed."""

    def relative(self, path: str) -> str:
        """Return a path of the metadata relative to the folder; raises FileFactError."""
        location = f"{str(self.metadata['location']).rstrip('/')}/"
        if not path.startswith(location):
            raise FileFactError(f"{path}: it does not lie below the table's location {location}")
        return path.removeprefix(location)

    def live(self) -> Iterator[Live]:
        """Yield every file of the newest snapshot; raises FileFactError."""
        for manifest in self._entries(self.current.get("manifest-list", "")):
            for entry in self._entries(manifest["manifest_path"]):
                if entry["status"] != _DELETED:
                    yield self._live(entry, manifest)

    def _live(self, entry: Mapping[str, Any], manifest: Mapping[str, Any]) -> Live:
        # What a new file's entry leaves out it inherits from its manifest.
        snapshot, sequence = entry["snapshot_id"], entry["sequence_number"]
        return Live(
            FileContent(entry["data_file"]["content"]),
            self.relative(entry["data_file"]["file_path"]),
            str(manifest["added_snapshot_id"] if snapshot is None else snapshot),
            manifest["sequence_number"] if sequence is None else sequence,
            entry["data_file"],
            manifest["partition_spec_id"],
            tuple(map(_value, entry["data_file"].get("partition", {}).values())),
        )

    def _entries(self, path: str) -> Iterator[Mapping[str, Any]]:
        if not path:
            return
        relative = self.relative(path)
        try:
            yield from avro_records((self.folder / relative).read_bytes())
        except (ValueError, EOFError, IndexError, OSError) as problem:
            raise FileFactError(f"{relative}: {problem}") from problem


def avro_records(content: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a manifest or list; raises ValueError, EOFError or IndexError."""
    import fastavro  # noqa: PLC0415 - only reading needs it

    yield from fastavro.reader(io.BytesIO(content))  # type: ignore[misc] # records are mappings


def parse(content: bytes) -> Mapping[str, Any]:
    """Return what a plain or compressed file holds; raises ValueError, OSError, EOFError."""
    plain = gzip.decompress(content) if content.startswith(_GZIP) else content
    metadata: Mapping[str, Any] = json.loads(plain)
    return metadata


def table(folder: Path, entries: Iterable[CatalogEntry] = ()) -> IcebergTable:
    """Read the metadata that count, which may be empty; raises FileFactError.

    They are in the file that a catalog entry names (specification, "Metastore Tables"), else in the
    newest; of two of the same number, in that of the successor.
    """
    numbers: dict[str, int] = {}
    for path in (folder / METADATA).glob("*.metadata.json"):
        if match := _VERSION.fullmatch(path.name):
            numbers[path.name] = int(match["number"])
    if not numbers:
        return IcebergTable({}, folder, "")
    paths = (entry.table.get("parameters", {}).get(POINTER, "") for entry in entries)
    named = next((path.rpartition("/")[2] for path in paths if path), "")
    name = named or _newest(folder, numbers)
    if name not in numbers:
        raise FileFactError(f"the catalog names the metadata {name}, which is not there")
    later = (n for n, number in numbers.items() if number >= numbers[name] and n != name)
    return IcebergTable(_json(folder, name), folder, name, tuple(sorted(later)))


def _newest(folder: Path, numbers: Mapping[str, int]) -> str:
    names = [name for name, number in numbers.items() if number == max(numbers.values())]
    if len(names) == 1:
        return names[0]
    times = {name: _json(folder, name).get("last-updated-ms", 0) for name in names}
    newest = [name for name, at in times.items() if at == max(times.values())]
    if len(newest) > 1:
        raise FileFactError(
            f"which metadata is the newest is not clear: {', '.join(sorted(names))}"
        )
    return newest[0]


def _json(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        return parse((folder / METADATA / name).read_bytes())
    except ValueError as problem:
        raise FileFactError(f"{name}: {problem}") from problem


def _value(value: Any) -> Value:  # noqa: ANN401 - whatever Avro gives
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)  # a moment in UTC, or one without a zone
    return value


def is_unpartitioned(metadata: Mapping[str, Any], spec: int) -> bool:
    """Return whether a partition spec has no fields but dropped ones, whose transform is `void`."""
    return all(field["transform"] == "void" for field in _fields(metadata, spec))


def identity_columns(metadata: Mapping[str, Any], spec: int) -> tuple[str, ...]:
    """Return the column of each field of a partition spec; empty where it is another value."""
    schemas = (s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    names = {f["id"]: f["name"] for s in schemas for f in s["fields"]}
    return tuple(
        names.get(field["source-id"], "") if field["transform"] == "identity" else ""
        for field in _fields(metadata, spec)
    )


def _fields(metadata: Mapping[str, Any], spec: int) -> Sequence[Mapping[str, Any]]:
    fields: Sequence[Mapping[str, Any]]
    (fields,) = [s["fields"] for s in metadata["partition-specs"] if s["spec-id"] == spec]
    return fields

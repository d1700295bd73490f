"""The newest metadata of an Iceberg table, and the files that it is made of.

Source: Iceberg table specification, "Table Metadata", "Manifests" and "Name Mapping
Serialization". Absolute paths are looked up below the folder by what follows the table's location,
so a copy tells the same.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from harness.formats.api import FileFactError
from harness.formats.files.column_parts import in_path, leaves, parts_of
from harness.formats.files.locations import bare
from harness.formats.files.table_folder import TableFolder
from harness.formats.iceberg import manifests
from harness.formats.iceberg.manifests import Live
from harness.runtime.metastore_objects import CatalogEntry

METADATA: Final = "metadata"
_GZIP: Final = b"\x1f\x8b"
POINTER: Final = "metadata_location"
"""The property of a catalog entry that names the metadata file which counts."""
NAME_MAPPING: Final = "schema.name-mapping.default"
_VERSION: Final = re.compile(r"(?P<number>\d+)-[0-9a-f-]{36}\.metadata\.json")
NAME: Final = re.compile(r"v?(?P<number>\d+)(-[\w-]+)?(\.gz)?\.metadata\.json(\.gz)?")
"""Names of metadata files, with a catalog and without one (specification, "Metastore Tables" and
"File System Tables"; `TableMetadataParser.getFileExtension`)."""
_SUFFIX: Final = ".metadata.json"
_HINT: Final = "version-hint.text"
_STATE: Final = ("current-schema-id", "default-spec-id", "current-snapshot-id")


@dataclass(frozen=True, slots=True)
class IcebergMetadata:
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
        # Snapshots of format version 1 have no sequence numbers.
        records = sorted(
            self._records, key=lambda r: (r.get("sequence-number", 0), r.get("timestamp-ms", 0))
        )
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
        number = self.record(snapshot).get("schema-id")
        fields = self.schemas.get(number, ()) if number is not None else ()
        return {name: int(part.id) for name, part in leaves(parts_of(fields))}

    @property
    def schemas(self) -> Mapping[int, Sequence[Mapping[str, Any]]]:
        """The fields of all schemas by their numbers; old files of version 1 know but one."""
        schemas = self.metadata.get("schemas") or [self.metadata.get("schema", {"fields": ()})]
        return {int(schema.get("schema-id", 0)): schema["fields"] for schema in schemas}

    @property
    def current_schema(self) -> Sequence[Mapping[str, Any]]:
        """The fields of the table's schema; empty where its number is that of none."""
        schemas = self.schemas
        return schemas.get(self.metadata.get("current-schema-id", next(iter(schemas), 0)), ())

    @property
    def specs(self) -> Mapping[int, Sequence[Mapping[str, Any]]]:
        """The fields of all partition specs by their numbers; as `schemas`."""
        only = {"spec-id": 0, "fields": self.metadata.get("partition-spec", ())}
        specs = self.metadata.get("partition-specs") or [only]
        return {int(spec["spec-id"]): spec["fields"] for spec in specs}

    def record(self, snapshot: str) -> Mapping[str, Any]:
        """Return what is said of a snapshot; nothing where there is none."""
        return next((s for s in self._records if str(s["snapshot-id"]) == snapshot), {})

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
        fields = self.specs.get(self.metadata.get("default-spec-id", 0), ())
        return [field for field in fields if field["transform"] != "void"]


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
        there, below = bare(path), bare(location)
        if not there.startswith(below):
            raise FileFactError(f"{path}: it does not lie below the table's location {location}")
        return there.removeprefix(below)

    def live(self) -> Iterator[Live]:
        """Yield every file of the newest snapshot, by its relative path; raises FileFactError."""
        for file in manifests.live(self.current, self.specs, self._read):
            yield replace(file, path=self.relative(file.path))

    def _read(self, path: str) -> bytes:
        relative = self.relative(path)
        try:
            return (self.folder / relative).read_bytes()
        except OSError as problem:
            raise FileFactError(f"{relative}: {problem}") from problem


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
    name = named or newest(numbers, partial(_json, folder))
    if name not in numbers:
        raise FileFactError(f"the catalog names the metadata {name}, which is not there")
    later = (n for n, number in numbers.items() if number >= numbers[name] and n != name)
    return IcebergTable(_json(folder, name), folder, name, tuple(sorted(later)))


def newest(numbers: Mapping[str, int], read: Callable[[str], Mapping[str, Any]]) -> str:
    """Return the name of the newest metadata file by their numbers; raises FileFactError."""
    names = [name for name, number in numbers.items() if number == max(numbers.values())]
    if len(names) == 1:
        return names[0]
    times = {name: read(name).get("last-updated-ms", 0) for name in names}
    last = [name for name, at in times.items() if at == max(times.values())]
    if len(last) > 1:
        raise FileFactError(
            f"which metadata is the newest is not clear: {', '.join(sorted(names))}"
        )
    return last[0]


def _json(folder: Path, name: str) -> Mapping[str, Any]:
    try:
        return parse((folder / METADATA / name).read_bytes())
    except ValueError as problem:
        raise FileFactError(f"{name}: {problem}") from problem


def identity_columns(metadata: Mapping[str, Any], spec: int) -> tuple[str, ...]:
    """Return the column of each field of a partition spec; empty where it is another value."""
    schemas = (s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    names = {f["id"]: f["name"] for s in schemas for f in s["fields"]}
    return tuple(
        names.get(field["source-id"], "") if field["transform"] == "identity" else ""
        for field in IcebergMetadata(metadata).specs[spec]
    )


def current(folder: TableFolder) -> str:
    """Return the path of the newest metadata file in a folder, where no catalog says it.

    The hint's number counts and every one that follows it without a gap; without a hint the
    greatest number, else the file that was written last (specification, "File System Tables";
    `HadoopTableOperations`). Raises FileFactError, UnreadableError.
    """
    files = (file for file in folder.listed(METADATA) if _SUFFIX in file.name)
    listed = [file for file in files if not file.name.startswith(".")]
    names = [file.name for file in listed]
    numbers = {name: int(match["number"]) for name in names if (match := NAME.fullmatch(name))}
    if not numbers and names:  # other names than the specification's
        return max(listed, key=lambda file: (file.modified, file.name)).path
    if not numbers:
        raise FileFactError(f"there is no metadata file in its folder {METADATA}")
    hint = (folder.text(f"{METADATA}/{_HINT}") or b"").decode("utf-8", "replace").strip()
    hinted = _hinted({n: at for n, at in numbers.items() if n.startswith("v")}, hint)

    def metadata(name: str) -> Mapping[str, Any]:
        return read(folder, f"{METADATA}/{name}")

    return f"{METADATA}/{hinted or newest(numbers, metadata)}"


def _hinted(numbers: Mapping[str, int], hint: str) -> str:
    """Return the file that a hint leads to; none where it is no number or there is no such file."""
    if not hint.isdecimal() or int(hint) not in numbers.values():
        return ""
    number = int(hint)
    while number + 1 in numbers.values():
        number += 1
    return min(name for name, at in numbers.items() if at == number)


def read(folder: TableFolder, path: str) -> Mapping[str, Any]:
    """Return what a metadata file says; raises FileFactError, UnreadableError."""
    content = folder.text(path)
    if content is None:
        raise FileFactError(f"{path}: there is no such file")
    try:
        metadata = parse(content)
    except (ValueError, OSError, EOFError) as problem:
        raise FileFactError(f"{path}: it is not JSON: {problem}") from problem
    if "format-version" not in metadata:
        raise FileFactError(f"{path}: it is no metadata of an Iceberg table")
    return metadata


def mapped(stored: str) -> Mapping[str, int]:
    """Return the ids by dotted names of columns in files that say none, by a name mapping.

    A part stands below every name of its struct. Raises ValueError where the text is no mapping.
    """
    try:
        return dict(_of_names(json.loads(stored), ""))
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"it is not a list of names and ids: {problem!r}") from problem


def _of_names(fields: Any, above: str) -> Iterator[tuple[str, int]]:  # noqa: ANN401 - JSON
    if not isinstance(fields, list):
        raise TypeError(f"{fields!r:.40}")
    for field in fields:
        for name in field["names"]:
            if field.get("field-id") is not None:
                yield above + in_path(name), int(field["field-id"])
            yield from _of_names(field.get("fields") or [], f"{above}{in_path(name)}.")

"""The files of an Iceberg table: its newest metadata, and what its live data files say.

Source: Iceberg table specification, format version 2 ("Table Metadata", "Manifests", "Position
Delete Files"). Paths in metadata and manifests are absolute; they are looked up below the folder by
what follows the table's location, so a copy of the folder tells the same.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from harness.formats import parquet
from harness.formats.api import FileFactError
from harness.formats.parquet import Footer
from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.runtime.metastore_objects import CatalogEntry

METADATA: Final = "metadata"
POINTER: Final = "metadata_location"
"""The property of a catalog entry that names the metadata file which counts."""
_VERSION: Final = re.compile(r"(?P<number>\d+)-[0-9a-f-]{36}\.metadata\.json")
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
    partition: tuple[Value, ...] = ()
    """The values of the partition's fields, in the order of the specification."""


@dataclass(frozen=True, slots=True)
class IcebergTable:
    """A table's folder and its newest metadata."""

    folder: Path
    metadata: Mapping[str, Any]
    name: str
    """Of the metadata file."""

    @property
    def snapshots(self) -> tuple[str, ...]:
        """The ids of all snapshots, oldest first."""
        found = sorted(self.metadata.get("snapshots", ()), key=itemgetter("sequence-number"))
        return tuple(str(each["snapshot-id"]) for each in found)

    @property
    def properties(self) -> Mapping[str, str]:
        """The table's properties."""
        found: Mapping[str, str] = self.metadata.get("properties", {})
        return found

    def relative(self, path: str) -> str:
        """Return a path of the metadata relative to the folder.

        Raises:
            FileFactError: it does not lie below the table's location.

        """
        location = f"{str(self.metadata['location']).rstrip('/')}/"
        if not path.startswith(location):
            raise FileFactError(f"{path}: it does not lie below the table's location {location}")
        return path.removeprefix(location)

    def live(self) -> Iterator[Live]:
        """Yield every file of the newest snapshot.

        Raises:
            FileFactError: a manifest cannot be understood.

        """
        for manifest in self._manifests():
            for entry in self._records(manifest["manifest_path"]):
                if entry["status"] != _DELETED:
                    yield self._live(entry, manifest)

    def _manifests(self) -> Sequence[Mapping[str, Any]]:
        newest = self.metadata.get("current-snapshot-id")
        found = [s for s in self.metadata.get("snapshots", ()) if s["snapshot-id"] == newest]
        return list(self._records(found[0]["manifest-list"])) if found else []

    def _live(self, entry: Mapping[str, Any], manifest: Mapping[str, Any]) -> Live:
        # What a new file's entry leaves out it inherits from its manifest.
        snapshot, sequence = entry["snapshot_id"], entry["sequence_number"]
        return Live(
            FileContent(entry["data_file"]["content"]),
            self.relative(entry["data_file"]["file_path"]),
            str(manifest["added_snapshot_id"] if snapshot is None else snapshot),
            manifest["sequence_number"] if sequence is None else sequence,
            entry["data_file"],
            tuple(map(_value, entry["data_file"].get("partition", {}).values())),
        )

    def _records(self, path: str) -> Iterator[Mapping[str, Any]]:
        import fastavro  # noqa: PLC0415 - only reading needs it

        relative = self.relative(path)
        try:
            with (self.folder / relative).open("rb") as file:
                yield from fastavro.reader(file)  # type: ignore[misc] # its records are mappings
        except (ValueError, EOFError, IndexError, OSError) as problem:
            raise FileFactError(f"{relative}: {problem}") from problem


def table(folder: Path) -> IcebergTable | None:
    """Read the newest metadata of a table; None when there is none.

    Raises:
        FileFactError: two files claim to be the newest, or it is not JSON.

    """
    found: dict[int, list[Path]] = {}
    for path in (folder / METADATA).glob("*.metadata.json"):
        if match := _VERSION.fullmatch(path.name):
            found.setdefault(int(match["number"]), []).append(path)
    if not found:
        return None
    newest = found[max(found)]
    if len(newest) > 1:
        names = ", ".join(sorted(path.name for path in newest))
        raise FileFactError(f"which metadata is the newest is not clear: {names}")
    try:
        metadata = json.loads(newest[0].read_text(encoding="utf-8"))
    except ValueError as problem:
        raise FileFactError(f"{newest[0].name}: {problem}") from problem
    return IcebergTable(folder, metadata, newest[0].name)


def check_named(found: IcebergTable, entries: Iterable[CatalogEntry]) -> None:
    """Check that a catalog entry which names a metadata file names that of a table.

    Raises:
        FileFactError: it names another one.

    """
    paths = (each.table.get("parameters", {}).get(POINTER, "") for each in entries)
    for name in (path.rpartition("/")[2] for path in paths if path):
        if name != found.name:
            raise FileFactError(f"the newest metadata is {found.name}, the catalog names {name}")


def facts(folder: Path, key: str) -> tuple[FileFact, ...]:
    """Return a fact for each live data file, older rows first, and for what is deleted of each.

    A data file is a group of its own. A position delete file becomes a log fact for each data file
    it names, with the keys that stand at the positions; what it says of files that are no longer
    part of the table is left out.

    Raises:
        FileFactError: a file cannot be understood, or rows are deleted by their values.

    """
    found = table(folder)
    if found is None:
        return ()
    live = sorted(found.live(), key=lambda each: (each.sequence, each.path))
    footers = {
        each.path: parquet.read(folder / each.path, key)
        for each in live
        if each.content is FileContent.DATA
    }
    parts = _partition_columns(found.metadata)
    bases = [_base(each, footers[each.path], parts) for each in live if each.path in footers]
    deletes = [each for each in live if each.path not in footers]
    return (*bases, *(fact for each in deletes for fact in _logs(each, found, footers)))


def partition_values(folder: Path, path: str) -> Mapping[str, Value]:
    """Return the partition values of a live data file by their columns, as its manifest has them.

    Readers take them from there, whatever the file holds (Iceberg table specification, "Column
    Projection").

    Raises:
        FileFactError: a manifest cannot be understood.

    """
    found = table(folder)
    live = [each for each in found.live() if each.path == path] if found else []
    if found is None or not live:
        return {}
    pairs = zip(_partition_fields(found.metadata), live[0].partition, strict=False)
    return {name: value for name, value in pairs if name}


def _value(found: Any) -> Value:  # noqa: ANN401 - whatever Avro gives
    if isinstance(found, datetime.datetime):
        return found.replace(tzinfo=None)  # a moment in UTC, or one without a zone
    return found


def _partition_columns(metadata: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the columns that the table is partitioned by."""
    return frozenset(filter(None, _partition_fields(metadata)))


def _partition_fields(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the column of each of the partition's fields; empty where it is another value."""
    wanted = metadata["default-spec-id"]
    (spec,) = [each for each in metadata["partition-specs"] if each["spec-id"] == wanted]
    schemas = (s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
    names = {f["id"]: f["name"] for s in schemas for f in s["fields"]}
    return tuple(
        names.get(each["source-id"], "") if each["transform"] == "identity" else ""
        for each in spec["fields"]
    )


def _base(live: Live, footer: Footer, partition_columns: frozenset[str]) -> FileFact:
    # Other formats leave partition columns out of data files, and what reads facts counts on it.
    columns = tuple(each for each in footer.columns if each[0] not in partition_columns)
    return FileFact(live.path, FileKind.BASE, live.path, live.snapshot, columns, footer.keys)


def _logs(live: Live, found: IcebergTable, footers: Mapping[str, Footer]) -> Iterator[FileFact]:
    if live.content is not FileContent.POSITION_DELETES:
        raise FileFactError(f"{live.path}: rows are deleted by their values, which is not read")
    rows = sorted(parquet.rows(found.folder / live.path, ("file_path", "pos")))
    for path, places in groupby(rows, key=itemgetter(0)):
        group = found.relative(path)
        if group in footers:
            deleted = tuple(footers[group].keys[place] for _, place in places)
            yield FileFact(live.path, FileKind.LOG, group, live.snapshot, (), (), deleted)

"""The files that are part of an Iceberg table in a snapshot, as its manifests tell of them.

Source: Iceberg table specification, "Manifests", "Manifest Lists", "Snapshots", "Sequence Number
Inheritance", "First Row ID Inheritance" and "Scan Planning".
"""

import datetime
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, Final, TypeAlias

from harness.core.arrow import fastavro
from harness.formats.api import FileFactError
from harness.formats.files import avro
from harness.model.canonical import Value, same

Record: TypeAlias = Mapping[str, Any]
Read: TypeAlias = Callable[[str], bytes]
"""Returns what the file holds that metadata name by a path; raises FileFactError."""
PUFFIN: Final = "PUFFIN"
"""The format of the files that hold deletion vectors, as manifests call it."""
_ADDED: Final = 1
_DELETED: Final = 2
"""Status of a manifest's entry for a file that is no longer part of the table."""
_FIRST_DAY: Final = datetime.date(1970, 1, 1)
_FIRST_FIELD: Final = 1000
"""The id of the first field of a partition spec that has none ("Partition Specs")."""


class FileContent(IntEnum):
    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2


@dataclass(frozen=True, slots=True)
class Live:
    """A file that is part of the table, as a manifest tells of it."""

    content: FileContent
    path: str
    """As the manifest names it; `IcebergTable` has it relative to the table's folder."""
    snapshot: str
    """The one that added it."""
    sequence: int
    """Grows with the snapshots; a rewritten file keeps that of the rows in it."""
    entry: Record = field(default_factory=dict, compare=False, repr=False)
    """All that the manifest tells of the file."""
    spec: int = 0
    """The partition spec by which it was written."""
    partition: tuple[Value, ...] = ()
    """The values of the fields of that spec, in its order."""
    summaries: Sequence[Record] = field(default=(), compare=False, repr=False)
    """What the list of manifests tells of these fields in all files of one manifest."""
    first_row: int | None = None
    """The id of its first row; None of a file that was never part of a table of version 3."""

    @property
    def is_vector(self) -> bool:
        return str(self.entry.get("file_format", "")).upper() == PUFFIN


@dataclass(frozen=True, slots=True)
class AvroRecords:
    records: tuple[Record, ...]
    schema: Any
    """Avro's own, which says the ids of fields."""
    metadata: Mapping[str, str]


def avro_records(content: bytes) -> AvroRecords:
    """Read a manifest or list; raises ValueError, EOFError, IndexError or KeyError."""
    with avro.value_errors():
        reader = fastavro.reader(io.BytesIO(content))
        records: Any = tuple(reader)
    return AvroRecords(records, reader.writer_schema, reader.metadata)


def live(snapshot: Record, specs: Mapping[int, Sequence[Record]], read: Read) -> Iterator[Live]:
    """Yield every file of a snapshot; raises FileFactError.

    `specs`: the fields of the table's partition specs.
    """
    for manifest in _manifests(snapshot, read):
        path = manifest["manifest_path"]
        stored = _read(path, read)
        spec = manifest.get("partition_spec_id")
        number = int(stored.metadata.get("partition-spec-id", 0) if spec is None else spec)
        if number not in specs:
            raise FileFactError(f"{path}: the table has no partition spec {number}")
        order = _partition_order(stored.schema, specs[number])
        next_row = manifest.get("first_row_id")
        for entry in stored.records:
            if entry["status"] == _DELETED:
                continue
            assigned, rows = (
                entry["data_file"].get(name) for name in ("first_row_id", "record_count")
            )
            first = next_row if assigned is None else assigned
            yield replace(_live(entry, manifest, number, order), first_row=first)
            if assigned is None and next_row is not None:
                next_row += rows


def _manifests(snapshot: Record, read: Read) -> Iterator[Record]:
    """Yield the entries of a snapshot's list, or those of format version 1 that it names itself."""
    if path := snapshot.get("manifest-list"):
        yield from _read(path, read).records
    for path in snapshot.get("manifests", ()):
        yield {"manifest_path": path}


def _read(path: str, read: Read) -> AvroRecords:
    try:
        return avro_records(read(path))
    except (ValueError, EOFError, IndexError, KeyError) as problem:
        raise FileFactError(f"{path}: it is no Avro file: {problem}") from problem


def _partition_order(schema: Any, spec: Sequence[Record]) -> tuple[str, ...]:  # noqa: ANN401
    """Return what a manifest calls the fields of its spec, in the spec's order.

    They are known by their ids ("Partition Specs"); one that has none, by where it stands.
    """
    (data_file,) = (_record(f["type"]) for f in schema["fields"] if f["name"] == "data_file")
    partition = [_record(f["type"]) for f in data_file["fields"] if f["name"] == "partition"]
    fields = partition[0]["fields"] if partition else []
    known = {part.get("field-id"): part["name"] for part in fields}
    places = [part["name"] for part in fields]
    ids = [part.get("field-id", _FIRST_FIELD + at) for at, part in enumerate(spec)]
    return tuple(
        known.get(number, places[at] if at < len(places) else "") for at, number in enumerate(ids)
    )


def _record(type_: Any) -> Any:  # noqa: ANN401 - Avro's JSON
    """Return a record, which may be optional (BigQuery writes all fields so)."""
    return next(part for part in type_ if part != "null") if isinstance(type_, list) else type_


def _live(entry: Record, manifest: Record, spec: int, order: Sequence[str]) -> Live:
    # What a new file's entry leaves out it inherits from its manifest; lists of format version 1
    # have no sequence numbers, which are 0 then ("Sequence Number Inheritance").
    file, snapshot = entry["data_file"], entry.get("snapshot_id")
    sequence, of_manifest = entry.get("sequence_number"), manifest.get("sequence_number") or 0
    if sequence is None:
        sequence = of_manifest if entry["status"] == _ADDED else 0
    partition = file.get("partition") or {}
    return Live(
        FileContent(file.get("content") or 0),
        file["file_path"],
        str(manifest.get("added_snapshot_id", "") if snapshot is None else snapshot),
        sequence,
        file,
        spec,
        tuple(_value(partition.get(name)) for name in order),
        manifest.get("partitions") or (),
    )


def _value(value: Any) -> Value:  # noqa: ANN401 - whatever Avro gives
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)  # a moment in UTC, or one without a zone
    return value


def applies(deletes: Live, file: Live, specs: Mapping[int, Sequence[Record]]) -> bool:
    """Return whether a delete file applies to a data file ("Scan Planning").

    Both are of one partition of one spec; by value, deletes of a spec without partitions apply to
    all older files.
    """
    by_value = deletes.content is FileContent.EQUALITY_DELETES
    if file.sequence > deletes.sequence - by_value:
        return False
    # Dropped fields of a spec have the transform `void`.
    if by_value and all(part["transform"] == "void" for part in specs[deletes.spec]):
        return True
    parts = (map(_days, of.partition) for of in (deletes, file))
    return deletes.spec == file.spec and all(map(same, *parts))


def _days(value: Value) -> Value:
    """Return a day as its number since 1970, which ClickHouse writes without saying what it is."""
    return (value - _FIRST_DAY).days if type(value) is datetime.date else value

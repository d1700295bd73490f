"""What the live files of an Iceberg table say of its rows and columns, and its manifests of them.

Source: Iceberg table specification, "Scan Planning", "Row-level deletes", "Column Projection",
"Name Mapping Serialization", "Manifests" and "Appendix D: Single-value serialization"; Puffin
specification, "deletion-vector-v1 blob type".
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from harness.core.arrow import kinds, pa
from harness.formats.api import FileFactError
from harness.formats.files import avro, data_files, parquet
from harness.formats.files.parquet import Footer
from harness.formats.iceberg import puffin
from harness.formats.iceberg.manifests import FileContent, Live, applies
from harness.formats.iceberg.table import (
    NAME_MAPPING,
    IcebergTable,
    identity_columns,
    mapped,
    table,
)
from harness.model.canonical import Look, Value, look_of
from harness.model.file_facts import ColumnStatistics, FileFact, FileKind, StatisticsSource, bound
from harness.model.query import at
from harness.runtime.metastore_objects import CatalogEntry

FIELD_ID: Final = b"PARQUET:field_id"
_FIRST_SPEC: Final = 0
"""The id of the partition spec that a table is created with."""
_POSITION_COLUMNS: Final = ("file_path", "pos")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A live data file, and the keys of its rows in their order."""

    live: Live
    footer: Footer


def _delete_facts(
    deletes: Live, table: IcebergTable, data: Mapping[str, DataFile], vectors: Collection[str]
) -> Iterator[FileFact]:
    """Yield a log fact for each live data file of which a file deletes rows, with their keys.

    `vectors`: the data files that have a deletion vector, which must have all that position delete
    files of before have of its rows, so that these do not apply ("Scan Planning").
    """
    deleted: dict[str, tuple[str, ...]] = {}
    if deletes.content is FileContent.EQUALITY_DELETES:
        deleted = dict(_by_value(deletes, table, data))
    else:
        by_vector = deletes.is_vector
        for path, at in (_vector if by_vector else _positions)(deletes, table):
            in_vector = path in vectors and not by_vector
            if path in data and not in_vector and applies(deletes, data[path].live, table.specs):
                keys = data[path].footer.keys
                deleted[path] = tuple(keys[position] for position in at)
    for path, keys in deleted.items():
        yield FileFact(deletes.path, FileKind.LOG, path, deletes.snapshot, (), (), keys)


def _vectors(
    deletes: Iterable[Live], table: IcebergTable, data: Mapping[str, DataFile]
) -> Iterator[str]:
    for vector in (file for file in deletes if file.is_vector):
        path = table.relative(vector.entry["referenced_data_file"])
        if path in data and applies(vector, data[path].live, table.specs):
            yield path


def _positions(deletes: Live, table: IcebergTable) -> Iterator[tuple[str, list[int]]]:
    columns, rows = data_files.content(table.folder / deletes.path)
    alone = deletes.entry.get("referenced_data_file")
    at = itemgetter(*(columns.index(position_column) for position_column in _POSITION_COLUMNS))
    for path, positions in groupby(sorted(map(at, rows)), key=itemgetter(0)):
        if alone in {None, path}:
            yield table.relative(str(path)), [position for _, position in positions]


def _vector(deletes: Live, table: IcebergTable) -> Iterator[tuple[str, list[int]]]:
    """Yield the one data file that a deletion vector is about, with positions in order."""
    begin, size = deletes.entry["content_offset"], deletes.entry["content_size_in_bytes"]
    try:
        stored = (table.folder / deletes.path).read_bytes()
        positions = puffin.blob_positions(stored[begin : begin + size])
    except ValueError as problem:
        why = "no deletion vector is where its manifest says"
        raise FileFactError(f"{deletes.path}: {why}; {problem}") from problem
    yield table.relative(deletes.entry["referenced_data_file"]), sorted(positions)


def _by_value(
    deletes: Live, table: IcebergTable, data: Mapping[str, DataFile]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the data files to which deletes by value apply, with the deleted keys in them.

    NULL is equal to NULL, and a column that a data file lacks is NULL there ("Equality Delete
    Files").
    """
    ids = tuple(deletes.entry["equality_ids"])
    gone = set(_tuples(deletes, table, ids, lacking=False))
    for file in (file for file in data.values() if applies(deletes, file.live, table.specs)):
        pairs = zip(file.footer.keys, _tuples(file.live, table, ids), strict=True)
        if keys := tuple(key for key, values in pairs if values in gone):
            yield file.live.path, keys


def _tuples(
    live: Live, table: IcebergTable, ids: Sequence[int], *, lacking: bool = True
) -> Iterator[tuple[Look, ...]]:
    """Yield how the values of these columns and parts look in each row of a file.

    `lacking`: whether it may lack some.
    """
    columns, rows = data_files.content(table.folder / live.path)
    names = {
        id_: name for id_, name in _names(live, table).items() if name.partition(".")[0] in columns
    }
    if not lacking and set(ids) - names.keys():
        raise FileFactError(f"{live.path}: it lacks a column by which it deletes rows")
    for row in rows:
        values = dict(zip(columns, row, strict=True))
        yield tuple(look_of(at(values, names[id_])) if id_ in names else None for id_ in ids)


def _names(live: Live, table: IcebergTable) -> Mapping[int, str]:
    """Return the dotted names of a file's columns and parts by their ids.

    A file that says no ids has the names that the table had when it was written.
    """
    names = {id_: name for id_, name, _ in _columns(live, table) if id_}
    return names or {id_: name for name, id_ in table.ids(live.snapshot).items()}


def facts(folder: Path, key: str, entries: Iterable[CatalogEntry] = ()) -> tuple[FileFact, ...]:
    """Return a fact for each live data file, older rows first, and for what is deleted of each."""
    newest = table(folder, entries)
    live = sorted(newest.live(), key=lambda live: (live.sequence, live.path))
    data = {
        file.path: DataFile(file, data_files.read_footer(folder / file.path, key))
        for file in live
        if file.content is FileContent.DATA
    }
    bases = [_base(file, newest) for file in data.values()]
    deletes = [file for file in live if file.path not in data]
    vectors = frozenset(_vectors(deletes, newest, data))
    logs = (fact for d in deletes for fact in _delete_facts(d, newest, data, vectors))
    return (*bases, *logs)


def partition_values(folder: Path, path: str) -> Mapping[str, Value]:
    """Return the partition values of a live data file, which readers take from its manifest."""
    newest = table(folder)
    for live in newest.live():
        if live.path == path:
            pairs = zip(identity_columns(newest.metadata, live.spec), live.partition, strict=False)
            return {name: value for name, value in pairs if name}
    return {}


def _base(file: DataFile, newest: IcebergTable) -> FileFact:
    # Other formats leave the partition columns of a table out of data files, and what reads facts
    # counts on it. A field that the spec got later is made of a column like any other.
    live, metadata = file.live, newest.metadata
    begun, written = (set(identity_columns(metadata, spec)) for spec in (_FIRST_SPEC, live.spec))
    columns = tuple(column for column in file.footer.columns if column[0] not in begun & written)
    lost, misled = _wrong_names(live, newest)
    made = live.path, FileKind.BASE, live.path, live.snapshot, columns, file.footer.keys
    return FileFact(*made, lost_names=lost, misled_names=misled)


_ID_OF: Final[Mapping[str, bytes]] = {"PARQUET": FIELD_ID, "ORC": b"iceberg.id"}
"""What a column's id is called in two kinds of files (Iceberg specification, "Parquet", "ORC")."""
AVRO: Final = "AVRO"
_ID_IN_AVRO: Final = "field-id"
"""The same of a field in an Avro schema (Iceberg specification, "Avro")."""


def _wrong_names(live: Live, table: IcebergTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the dotted names by which readers do not find columns of a file without ids.

    The mapping has them under no id, or under that of another column than the table had there when
    the file became part of it: these are the second.
    """
    stored = table.properties.get(NAME_MAPPING)
    if not stored or live.entry["file_format"] not in {*_ID_OF, AVRO}:
        return (), ()
    ids, due = mapped(stored), table.ids(live.snapshot)
    lost = [name for name in _without_id(live, table) if ids.get(name) != due.get(name)]
    return tuple(lost), tuple(name for name in lost if name in ids)


def _without_id(live: Live, table: IcebergTable) -> Iterator[str]:
    kind, path = live.entry["file_format"], table.folder / live.path
    if kind == AVRO:
        fields = avro.leaves(avro.written_schema(path))
        yield from (name for name, field in fields if _ID_IN_AVRO not in field)
        return
    for name, leaf in parquet.leaves(data_files.schema(path)):
        if _ID_OF[kind] not in (leaf.metadata or {}):
            yield name


_DAY: Final = datetime.date(1970, 1, 1)
_MOMENT: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone
_FLOATS: Final = {4: "<f", 8: "<d"}


def manifest_statistics(folder: Path) -> tuple[ColumnStatistics, ...]:
    """Read what is said of the data files that are part of the newest snapshot."""
    newest = table(folder)
    data = (live for live in newest.live() if live.content is FileContent.DATA)
    return tuple(column for live in data for column in _of_file(live, newest))


def _of_file(live: Live, table: IcebergTable) -> Iterator[ColumnStatistics]:
    counts, nulls = _map(live, "value_counts"), _map(live, "null_value_counts")
    least, greatest = _map(live, "lower_bounds"), _map(live, "upper_bounds")
    rows = live.entry["record_count"]
    for id_, name, type_ in _columns(live, table):
        # What is in a list or a map has more. Parts of a struct may have fewer: of the NULLs of the
        # whole ORC's writer counts none, and readers leave out the file (seen on 1.10.1).
        if counts.get(id_, rows) <= rows and {id_} & (nulls.keys() | least.keys()):
            yield ColumnStatistics(
                StatisticsSource.ICEBERG,
                live.path,
                name,
                rows,
                nulls.get(id_),
                bound_of(least.get(id_), type_),
                bound_of(greatest.get(id_), type_),
            )


def _columns(live: Live, table: IcebergTable) -> Iterator[tuple[int, str, pa.DataType]]:
    """Yield id, name and type of leaf columns; ORC's ids are told by the names of its snapshot."""
    path, kind = table.folder / live.path, live.entry["file_format"]
    if kind not in {"PARQUET", "ORC"}:
        return
    ids = table.ids(live.snapshot) if kind == "ORC" else {}
    for name, leaf in parquet.leaves(data_files.schema(path)):
        number = ids.get(name, 0) if ids else (leaf.metadata or {}).get(FIELD_ID, 0)
        yield int(number), name, leaf.type


def _map(live: Live, name: str) -> Mapping[int, Any]:
    return {pair["key"]: pair["value"] for pair in live.entry.get(name) or ()}


def bound_of(stored: bytes | None, type_: pa.DataType) -> str:
    try:
        return bound(_value(stored, type_))
    except (OverflowError, ValueError):  # a day or a moment that Python does not have
        return ""


def _value(stored: bytes | None, type_: pa.DataType) -> Value:
    """Return a bound, a number by how many bytes are stored; None where its kind is not known."""
    if stored is None:
        return None
    number = int.from_bytes(stored, "little", signed=True)
    if kinds.is_boolean(type_):
        return bool(number)
    if kinds.is_integer(type_):
        return number
    if kinds.is_floating(type_) and len(stored) in _FLOATS:
        (real,) = struct.unpack(_FLOATS[len(stored)], stored)
        return float(real)
    if kinds.is_date(type_):
        return _DAY + datetime.timedelta(days=number)
    if kinds.is_timestamp(type_):
        return _MOMENT + datetime.timedelta(microseconds=number)
    if kinds.is_decimal(type_):
        return Decimal(f"{int.from_bytes(stored, 'big', signed=True)}e{-type_.scale}")
    if kinds.is_string(type_) or kinds.is_large_string(type_):
        return stored.decode("utf-8", "replace")
    return stored if kinds.is_binary(type_) else None

"""What the live files of an Iceberg table say of its rows.

Source: Iceberg table specification, "Scan Planning" and "Column Projection".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.files import data_files, deletion_vectors
from harness.formats.files.parquet import Footer
from harness.formats.iceberg import name_mapping as iceberg_name_mapping
from harness.formats.iceberg.table import FileContent, IcebergTable, Live, identity_columns, table
from harness.model.canonical import Value
from harness.model.file_facts import FileFact, FileKind
from harness.runtime.metastore_objects import CatalogEntry

PUFFIN: Final = "PUFFIN"
"""The format of the files that hold deletion vectors, as manifests call it."""
_LENGTH: Final = struct.Struct(">I")
"""How long the bitmap is."""
_POSITION_COLUMNS: Final = ("file_path", "pos")


@dataclass(frozen=True, slots=True)
class DataFile:
    """A live data file, and the keys of its rows in their order."""

    live: Live
    footer: Footer


def delete_facts(
    deletes: Live, table: IcebergTable, data: Mapping[str, DataFile], key: str
) -> Iterator[FileFact]:
    """Yield a log fact for each live data file of which a file deletes rows, with their keys.

    `data`: the live data files by their paths; what is said of others is left out.
    """
    for path, keys in _deleted(deletes, table, data, key):
        yield FileFact(deletes.path, FileKind.LOG, path, deletes.snapshot, (), (), keys)


def _deleted(
    deletes: Live, table: IcebergTable, data: Mapping[str, DataFile], key: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the path of each data file, and the keys of its deleted rows."""
    if deletes.content is FileContent.EQUALITY_DELETES:
        yield from _by_value(deletes, table, data, key)
        return
    by_vector = deletes.entry["file_format"] == PUFFIN
    positions = _vector(deletes, table) if by_vector else _positions(deletes, table)
    for path, at in positions:
        if path in data:
            keys = data[path].footer.keys
            yield path, tuple(keys[position] for position in at)


def _positions(deletes: Live, table: IcebergTable) -> Iterator[tuple[str, list[int]]]:
    columns, rows = data_files.content(table.folder / deletes.path)
    at = itemgetter(*(columns.index(position_column) for position_column in _POSITION_COLUMNS))
    for path, positions in groupby(sorted(map(at, rows)), key=itemgetter(0)):
        yield table.relative(str(path)), [position for _, position in positions]


def _vector(deletes: Live, table: IcebergTable) -> Iterator[tuple[str, list[int]]]:
    """Yield the one data file that a deletion vector is about."""
    begin, size = deletes.entry["content_offset"], deletes.entry["content_size_in_bytes"]
    stored = (table.folder / deletes.path).read_bytes()[begin : begin + size]
    yield table.relative(deletes.entry["referenced_data_file"]), vector(stored, deletes.path)


def vector(stored: bytes, name: str) -> list[int]:
    """Return the positions that a deletion vector holds, in order.

    Args:
        stored: the blob, in which the length stands before the bitmap, and a checksum behind it.
        name: of the file, for errors.
    """
    try:
        (length,) = _LENGTH.unpack_from(stored)
        return sorted(deletion_vectors.positions(stored[_LENGTH.size : _LENGTH.size + length]))
    except (ValueError, struct.error) as problem:
        raise FileFactError(
            f"{name}: no deletion vector is where its manifest says; {problem}"
        ) from problem


def _by_value(
    deletes: Live, table: IcebergTable, data: Mapping[str, DataFile], key: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the older data files that have rows with the deleted keys.

    A file of deletes is about those whose sequence number is less than its own.
    """
    path: Path = table.folder / deletes.path
    columns, rows = data_files.content(path)
    if columns != (key,):
        names = ", ".join(columns)
        raise FileFactError(f"{deletes.path}: rows are deleted by {names}, and not by {key} alone")
    gone = {str(value) for (value,) in rows}
    for file in data.values():
        keys = tuple(text for text in file.footer.keys if text in gone)
        if keys and file.live.sequence < deletes.sequence:
            yield file.live.path, keys


_FIRST_SPEC: Final = 0
"""The id of the partition spec that a table is created with."""


def facts(folder: Path, key: str, entries: Iterable[CatalogEntry] = ()) -> tuple[FileFact, ...]:
    """Return a fact for each live data file, older rows first, and for what is deleted of each.

    A data file is a group of its own. What deletes rows becomes a log fact for each data file of
    which it does, with their keys; what it says of files that are no longer part of the table is
    left out.
    """
    newest = table(folder, entries)
    if newest is None:
        return ()
    live = sorted(newest.live(), key=lambda live: (live.sequence, live.path))
    data = {
        file.path: DataFile(file, data_files.read_footer(folder / file.path, key))
        for file in live
        if file.content is FileContent.DATA
    }
    bases = [_base(file, newest) for file in data.values()]
    deletes = [file for file in live if file.path not in data]
    logs = (fact for delete in deletes for fact in delete_facts(delete, newest, data, key))
    return (*bases, *logs)


def partition_values(folder: Path, path: str) -> Mapping[str, Value]:
    """Return the partition values of a live data file by their columns, as its manifest has them.

    Readers take them from there, whatever the file holds (Iceberg table specification, "Column
    Projection").
    """
    newest = table(folder)
    live = [live for live in newest.live() if live.path == path] if newest else []
    if newest is None or not live:
        return {}
    pairs = zip(identity_columns(newest.metadata, live[0].spec), live[0].partition, strict=False)
    return {name: value for name, value in pairs if name}


def _base(file: DataFile, newest: IcebergTable) -> FileFact:
    # Other formats leave the partition columns of a table out of data files, and what reads facts
    # counts on it. A field that the spec got later is made of a column like any other.
    live, metadata = file.live, newest.metadata
    begun, written = (set(identity_columns(metadata, spec)) for spec in (_FIRST_SPEC, live.spec))
    columns = tuple(column for column in file.footer.columns if column[0] not in begun & written)
    keys, wrong = file.footer.keys, iceberg_name_mapping.wrong_names(live, newest)
    made = live.path, FileKind.BASE, live.path, live.snapshot, columns, keys
    return FileFact(*made, lost_names=wrong.lost, misled_names=wrong.misled)

"""What the live files of an Iceberg table say of its rows and columns, and its manifests of them.

Source: Iceberg table specification, "Scan Planning", "Row-level deletes", "Column Projection",
"Name Mapping Serialization", "Row Lineage", "Manifests" and "Appendix D: Single-value
serialization"; Puffin specification, "deletion-vector-v1 blob type".
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from harness.core.arrow import kinds, pa
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file, data_files, parquet
from harness.formats.files.column_parts import FIELD_ID
from harness.formats.files.locations import Locations, bare
from harness.formats.files.parquet import Footer
from harness.formats.files.table_folder import UnreadableError
from harness.formats.iceberg.manifests import FileContent, Live
from harness.formats.iceberg.read_plan import TableAt
from harness.formats.iceberg.table import (
    NAME_MAPPING,
    IcebergTable,
    identity_columns,
    mapped,
    table,
)
from harness.model.canonical import Value
from harness.model.file_facts import (
    ColumnStatistics,
    FileFact,
    FileKind,
    Lineage,
    StatisticsSource,
    bound,
)
from harness.runtime.metastore_objects import CatalogEntry

_LINEAGE: Final = 2147483540, 2147483539
"""Reserved ids of the columns `_row_id` and `_last_updated_sequence_number`."""
LINEAGE_SINCE: Final = 3
"""The first format version whose tables say where rows come from."""
_FIRST_SPEC: Final = 0
"""The id of the partition spec that a table is created with."""


def facts(folder: Path, key: str, entries: Iterable[CatalogEntry] = ()) -> tuple[FileFact, ...]:
    """Return a fact for each live data file, older rows first, and for what is deleted of each."""
    newest = table(folder, entries)
    moved = Locations({bare(str(newest.metadata.get("location"))): str(folder)})
    table_at, bases, logs = TableAt(newest, moved, ""), [], dict[int, list[FileFact]]()
    try:
        live = sorted(table_at.live, key=lambda file: (file.sequence, file.path))
        for file in (file for file in live if file.content is FileContent.DATA):
            path = newest.relative(file.path)
            footer = data_files.read_footer(folder / path, key)
            bases.append(_base(replace(file, path=path), footer, newest))
            for deletes, gone in table_at.rows_deleted(file):
                keys = tuple(footer.keys[at] for at in gone)
                log = newest.relative(deletes.path), FileKind.LOG, path, deletes.snapshot
                logs.setdefault(id(deletes), []).append(FileFact(*log, (), (), keys))
    except UnreadableError as problem:
        raise FileFactError(str(problem)) from problem
    return (*bases, *(log for file in live for log in logs.get(id(file), ()) if log.deleted))


def lineage(folder: Path, key: str, entries: Iterable[CatalogEntry] = ()) -> Lineage | None:
    """Return what live files say of where their rows come from; nothing before format version 3."""
    newest, rows = table(folder, entries), list[tuple[str, int | None, int | None]]()
    if int(newest.metadata.get("format-version", 0)) < LINEAGE_SINCE:
        return None
    table_at = TableAt(newest, Locations({bare(str(newest.metadata["location"])): str(folder)}), "")
    for file in (file for file in table_at.live if file.content is FileContent.DATA):
        path, first = folder / newest.relative(file.path), file.first_row
        gone = {at for _, places in table_at.rows_deleted(file) for at in places}
        stored = arrow_file.read(str(path))
        ids = [int((field.metadata or {}).get(FIELD_ID, 0)) for field in stored.schema]
        numbers = (
            stored.column(ids.index(id_)).to_pylist() if id_ in ids else [None] * stored.num_rows
            for id_ in _LINEAGE
        )
        keys = data_files.read_footer(path, key).keys
        for at, (text, row, since) in enumerate(zip(keys, *numbers, strict=True)):
            number = (first + at if row is None else row) if first is not None else None
            newest_at = file.sequence if since is None else since
            rows += [(text, number, None if first is None else newest_at)] if at not in gone else ()
    return Lineage(int(newest.current.get("sequence-number", 0)), tuple(rows))


def partition_values(folder: Path, path: str) -> Mapping[str, Value]:
    """Return the partition values of a live data file, which readers take from its manifest."""
    newest = table(folder)
    for live in newest.live():
        if live.path == path:
            pairs = zip(identity_columns(newest.metadata, live.spec), live.partition, strict=False)
            return {name: value for name, value in pairs if name}
    return {}


def _base(live: Live, footer: Footer, newest: IcebergTable) -> FileFact:
    # Other formats leave the partition columns of a table out of data files, and what reads facts
    # counts on it. A field that the spec got later is made of a column like any other.
    specs = _FIRST_SPEC, live.spec
    begun, written = (set(identity_columns(newest.metadata, spec)) for spec in specs)
    columns = tuple(column for column in footer.columns if column[0] not in begun & written)
    lost, misled = _wrong_names(live, newest)
    made = live.path, FileKind.BASE, live.path, live.snapshot, columns, footer.keys
    return FileFact(*made, lost_names=lost, misled_names=misled)


def _wrong_names(live: Live, table: IcebergTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the dotted names by which readers do not find columns of a file without ids.

    The mapping has them under no id, or under that of another column than the table had there when
    the file became part of it: these are the second.
    """
    stored = table.properties.get(NAME_MAPPING)
    if not stored:
        return (), ()
    ids, due = mapped(stored), table.ids(live.snapshot)
    lost = [name for name in _without_id(live, table) if ids.get(name) != due.get(name)]
    return tuple(lost), tuple(name for name in lost if name in ids)


def _without_id(live: Live, table: IcebergTable) -> Iterator[str]:
    for name, leaf in parquet.leaves(arrow_file.schema(str(table.folder / live.path))):
        if FIELD_ID not in (leaf.metadata or {}):
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
    fields = zip(table.specs[live.spec], live.summaries, strict=False)
    # Without a bound every value is NULL or NaN ("Manifest Lists"), and so are those it is made of.
    empty = {
        field["source-id"]
        for field, all_files in fields
        if all_files.get("lower_bound") is None
        and not all_files.get("contains_nan")
        and field["transform"] != "void"
    }
    for id_, name, type_ in _columns(live, table):
        if id_ in empty:
            yield ColumnStatistics(StatisticsSource.ICEBERG_LIST, live.path, name, rows, rows)
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
    # ClickHouse writes `Parquet`.
    path, kind = str(table.folder / live.path), live.entry["file_format"].upper()
    if kind not in {"PARQUET", "ORC"}:
        return
    ids = table.ids(live.snapshot) if kind == "ORC" else {}
    for name, leaf in parquet.leaves(arrow_file.schema(path)):
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

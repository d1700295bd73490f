"""A data file as an Arrow table, its columns with the field ids that the file gives them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import SEEK_END, BytesIO
from typing import IO, Final, TypeVar

from harness.core.arrow import arrow_orc, pa, pq
from harness.engines.arrow_values import with_parts
from harness.formats.api import FileFactError
from harness.formats.files import avro, avro_table, orc, table_folder
from harness.formats.files.column_parts import FIELD_ID
from harness.formats.files.table_folder import UnreadableError

_Read = TypeVar("_Read")
_STORED_IDS: Final = (b"PARQUET:field_id", b"iceberg.id")
"""What Arrow calls the ids of Parquet, and Iceberg those in ORC's attributes (specification,
"Parquet", "ORC")."""


def read(location: str, only: Sequence[int] | None = None) -> pa.Table:
    """Read a Parquet, ORC or Avro file, told by its first bytes; raises FileFactError.

    `only`: the positions of the rows to be read, the first ones first; all if None.
    """
    return _opened(location, partial(_read, only=only))


def schema(location: str) -> pa.Schema:
    """Return the columns of a file without its rows; raises FileFactError."""
    return _opened(location, _schema)


def size(location: str) -> int:
    """Return the number of a file's bytes; raises FileFactError."""
    return _opened(location, lambda file: file.seek(0, SEEK_END))


@dataclass(frozen=True, slots=True)
class ParquetFooter:
    """The columns of a Parquet file, those with times of 96 bits as moments; and its rows."""

    schema: pa.Schema
    groups: tuple[int, ...]
    """The rows of each row group."""


def parquet_footer(location: str) -> ParquetFooter | None:
    """Return what a file says of itself; raises FileFactError.

    None of one that is not Parquet, or has times of 96 bits inside of other types.
    """
    return _opened(location, _parquet_footer)


def _parquet_footer(file: IO[bytes]) -> ParquetFooter | None:
    begin = _begin(file)
    if begin == avro.MAGIC or begin.startswith(orc.MAGIC):
        return None
    with pq.ParquetFile(file) as stored:
        columns = (stored.schema.column(at) for at in range(len(stored.schema)))
        old = {column.path for column in columns if column.physical_type == "INT96"}
        fields = [_with_id(field) for field in stored.schema_arrow]
        moment, total = pa.timestamp("us", "UTC"), stored.num_row_groups
        if old - {field.name for field in fields}:
            return None
        return ParquetFooter(
            pa.schema([f.with_type(moment) if f.name in old else f for f in fields]),
            tuple(stored.metadata.row_group(at).num_rows for at in range(total)),
        )


def _opened(location: str, read: Callable[[IO[bytes]], _Read]) -> _Read:
    head, _, name = location.rpartition("/")
    with _named(name), table_folder.at(head).opened(name) as file:
        return read(file)


def of_bytes(content: bytes, name: str) -> pa.Table:
    """Read what is a whole file inside of another; raises FileFactError."""
    with _named(name):
        return _read(BytesIO(content))


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Raise what reading raises as FileFactError with the name of the file."""
    of_content = pa.ArrowException, ValueError, EOFError, IndexError, KeyError
    try:
        yield
    except (UnreadableError, *of_content) as problem:
        raise FileFactError(f"{name}: {problem}") from problem


def _read(file: IO[bytes], only: Sequence[int] | None = None) -> pa.Table:
    begin = _begin(file)
    if begin == avro.MAGIC:
        table = avro_table.read(file)
    elif begin.startswith(orc.MAGIC):
        table = orc.read(file)
    else:
        # Else times of 96 bits become nanoseconds, which from the year 2262 on are other times.
        with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as stored:
            if only is None:
                table = stored.read()
            else:
                groups, only = _in_groups(stored.metadata, only)
                table = stored.read_row_groups(groups)
    rows = table if only is None else table.take(pa.array(only, pa.int64()))
    if begin == avro.MAGIC:
        return rows
    return rows.cast(pa.schema([_with_id(field) for field in rows.schema]))


def _in_groups(
    footer: pq.FileMetaData, positions: Sequence[int]
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the row groups that have rows, and where these are in them."""
    groups, inside = list[int](), list[int]()
    begin = before = 0
    for group in range(footer.num_row_groups):
        size = footer.row_group(group).num_rows
        first, last = (bisect_left(positions, at) for at in (begin, begin + size))
        if first < last:
            inside += (at - begin + before for at in positions[first:last])
            groups.append(group)
            before += size
        begin += size
    if len(inside) < len(positions):
        raise ValueError(f"it has no row {positions[-1]}")
    return groups, inside


def _begin(file: IO[bytes]) -> bytes:
    """Return the bytes that say of which kind a file is, and leave it at its beginning."""
    begin = file.read(len(avro.MAGIC))
    file.seek(0)
    if begin != avro.MAGIC and not begin.startswith((orc.MAGIC, b"PAR1", b"PARE")):
        raise ValueError("it is no Parquet, ORC or Avro file")
    return begin


def _schema(file: IO[bytes]) -> pa.Schema:
    begin = _begin(file)
    if begin == avro.MAGIC:
        return avro_table.schema(file)
    if begin.startswith(orc.MAGIC):
        fields = arrow_orc.ORCFile(file).schema
    else:
        with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as stored:
            fields = stored.schema_arrow
    return pa.schema([_with_id(field) for field in fields])


def _with_id(field: pa.Field) -> pa.Field:
    """Return a field with its id under one name, and so its parts."""
    type_, metadata = with_parts(field.type, _with_id), field.metadata or {}
    ids = [metadata[key] for key in _STORED_IDS if key in metadata]
    return pa.field(field.name, type_, field.nullable, {FIELD_ID: ids[0]} if ids else None)

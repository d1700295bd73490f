"""A data file as an Arrow table, its columns with the field ids that the file gives them."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from harness.formats.api import FileFactError
from harness.formats.files import avro, avro_table, orc, orc_table, table_folder
from harness.formats.files.column_parts import FIELD_ID
from harness.formats.files.table_folder import UnreadableError

if TYPE_CHECKING:
    import pyarrow as pa

_Read = TypeVar("_Read")
_STORED_IDS: Final = (b"PARQUET:field_id", b"iceberg.id")
"""What Arrow calls the ids of Parquet, and Iceberg those in ORC's attributes (specification,
"Parquet", "ORC")."""


def read(location: str) -> pa.Table:
    """Read a Parquet, ORC or Avro file, told by its first bytes; raises FileFactError."""
    return _opened(location, _read)


def schema(location: str) -> pa.Schema:
    """Return the columns of a file without its rows; raises FileFactError."""
    return _opened(location, _schema)


def _opened(location: str, read: Callable[[IO[bytes]], _Read]) -> _Read:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    head, _, name = location.rpartition("/")
    try:
        with table_folder.at(head).opened(name) as file:
            return read(file)
    except UnreadableError as problem:
        raise FileFactError(f"{name}: {problem}") from problem
    except (pa.ArrowException, ValueError, EOFError, IndexError, KeyError) as problem:
        raise FileFactError(f"{name}: {problem}") from problem


def of_bytes(content: bytes, name: str) -> pa.Table:
    """Read what is a whole file inside of another; raises FileFactError."""
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    try:
        return _read(BytesIO(content))
    except (pa.ArrowException, ValueError, EOFError, IndexError, KeyError) as problem:
        raise FileFactError(f"{name}: {problem}") from problem


def _read(file: IO[bytes]) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    begin = file.read(len(avro.MAGIC))
    file.seek(0)
    if begin == avro.MAGIC:
        return avro_table.read(file)
    if begin.startswith(orc.MAGIC):
        table = orc_table.read(file)
    else:
        # Else times of 96 bits become nanoseconds, which from the year 2262 on are other times.
        with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as stored:
            table = stored.read()
    return table.cast(pa.schema([_with_id(field) for field in table.schema]))


def _schema(file: IO[bytes]) -> pa.Schema:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    import pyarrow.parquet as pq  # noqa: PLC0415

    begin = file.read(len(avro.MAGIC))
    file.seek(0)
    if begin == avro.MAGIC:
        return avro_table.schema(file)
    if begin.startswith(orc.MAGIC):
        from pyarrow.orc import ORCFile  # noqa: PLC0415

        fields = ORCFile(file).schema
    else:
        with pq.ParquetFile(file, coerce_int96_timestamp_unit="us") as stored:
            fields = stored.schema_arrow
    return pa.schema([_with_id(field) for field in fields])


def _with_id(field: pa.Field) -> pa.Field:
    """Return a field with its id under one name, and so its parts."""
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    import pyarrow.types as kinds  # noqa: PLC0415

    type_: Any = field.type
    if kinds.is_struct(type_):
        type_ = pa.struct([_with_id(part) for part in type_])
    elif kinds.is_map(type_):
        type_ = pa.map_(_with_id(type_.key_field), _with_id(type_.item_field))
    elif kinds.is_list(type_) or kinds.is_large_list(type_):
        type_ = pa.list_(_with_id(type_.value_field))
    metadata = field.metadata or {}
    ids = [metadata[key] for key in _STORED_IDS if key in metadata]
    return pa.field(field.name, type_, field.nullable, {FIELD_ID: ids[0]} if ids else None)

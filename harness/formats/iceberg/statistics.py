"""What the manifests of an Iceberg table say of the columns of its data files.

Source: Iceberg table specification, "Manifests" (`value_counts`, `null_value_counts`,
`lower_bounds`, `upper_bounds`) and "Appendix D: Single-value serialization". A bound of a text may
be cut: it is a bound all the same.
"""

from __future__ import annotations

import datetime
import struct
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.formats.files import orc, parquet
from harness.formats.iceberg.table import FileContent, IcebergTable, Live, table
from harness.model.canonical import Value
from harness.model.column_statistics import ColumnStatistics, StatisticsSource, bound

if TYPE_CHECKING:
    import pyarrow

_DAY: Final = datetime.date(1970, 1, 1)
_MOMENT: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical moments have no zone
_FLOATS: Final = {4: "<f", 8: "<d"}
FIELD_ID: Final = b"PARQUET:field_id"


def manifest_statistics(folder: Path) -> tuple[ColumnStatistics, ...]:
    """Read what is said of the data files that are part of the newest snapshot."""
    newest = table(folder)
    if newest is None:
        return ()
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


def _columns(live: Live, table: IcebergTable) -> Iterator[tuple[int, str, pyarrow.DataType]]:
    """Yield id, dotted name and type of the columns of a file, and of parts that have no parts.

    Arrow reads the ids of Parquet's alone; those of ORC's are told by the names of its snapshot.
    """
    path, kind = table.folder / live.path, live.entry["file_format"]
    if kind == "PARQUET":
        with parquet.opened(path) as file:
            for name, leaf in parquet.leaves(file.schema_arrow):
                yield int((leaf.metadata or {}).get(FIELD_ID, 0)), name, leaf.type
    elif kind == "ORC":
        ids = table.ids(live.snapshot)
        for name, leaf in parquet.leaves(orc.schema(path)):
            yield ids.get(name, 0), name, leaf.type


def _map(live: Live, name: str) -> Mapping[int, Any]:
    """Return one of the maps of a manifest's entry; Avro has no maps by number."""
    return {pair["key"]: pair["value"] for pair in live.entry.get(name) or ()}


def bound_of(stored: bytes | None, type_: pyarrow.DataType) -> str:
    """Return a stored bound as it is recorded; empty where it is not known, or has no form."""
    try:
        return bound(_value(stored, type_))
    except (OverflowError, ValueError):  # a day or a moment that Python does not have
        return ""


def _value(stored: bytes | None, type_: pyarrow.DataType) -> Value:
    """Return a bound; None where its kind is not known here.

    The bytes tell how long a number is, which a column of a longer type may have kept.
    """
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

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

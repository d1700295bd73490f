"""What a Parquet file says of itself.

Arrow itself leaves out what it knows to be wrong in statistics of files of old writers.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from harness.core.arrow import kinds, pa, pq
from harness.formats.api import FileFactError, FileRows
from harness.formats.files import variant
from harness.model.canonical import MapValue, Value, map_leaves
from harness.model.file_facts import ColumnStatistics, StatisticsSource, bound


@dataclass(frozen=True, slots=True)
class Footer:
    """Columns in the file's order with Arrow's words for their types, and one column's values."""

    columns: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]


def schema(path: Path) -> pa.Schema:
    with _opened(path) as file:
        return file.schema_arrow


ZONE: Final = b"writer.time.zone"
"""Under this name Hive since 3.1.3 says in which zone the moments of a file are the times that were
written (`DataWritableWriteSupport`, WRITER_TIMEZONE)."""


def written_times(path: Path, rows: Iterable[tuple[Value, ...]]) -> tuple[tuple[Value, ...], ...]:
    """Return the rows of a file with the times that were written; raises FileFactError."""
    with _opened(path) as file:
        name = (file.metadata.metadata or {}).get(ZONE, b"UTC").decode()

    def there(value: Value) -> Value:
        if not isinstance(value, datetime.datetime):
            return value
        return value.replace(tzinfo=datetime.UTC).astimezone(zone).replace(tzinfo=None)

    try:
        zone = ZoneInfo(name)
        return tuple(tuple(map_leaves(value, there) for value in row) for row in rows)
    except (ValueError, OverflowError, ZoneInfoNotFoundError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def canonical(table: pa.Table, name: str) -> FileRows:
    """Return the rows of what has a name as canonical values; raises FileFactError."""
    try:
        columns = [
            [text for chunk in column.chunks for text in variant.json_texts(chunk)]
            if variant.is_variant(column.type)
            else [canonical_value(value, column.type) for value in column.to_pylist()]
            for column in table.columns
        ]
    except (ValueError, OverflowError) as problem:
        raise FileFactError(f"{name}: {problem}") from problem
    return tuple(table.column_names), tuple(zip(*columns, strict=True))


def canonical_value(value: Any, type_: pa.DataType) -> Value:  # noqa: ANN401 - Arrow's
    """Return what Arrow made of a value in canonical form; raises ValueError where it has none."""
    if value is None:
        return None
    if kinds.is_timestamp(type_):
        return _moment(value)
    if kinds.is_struct(type_):
        return {part.name: canonical_value(value[part.name], part.type) for part in type_}
    if kinds.is_map(type_):
        key, item = type_.key_type, type_.item_type
        return MapValue.of([(canonical_value(k, key), canonical_value(v, item)) for k, v in value])
    if kinds.is_list(type_) or kinds.is_large_list(type_):
        return tuple(canonical_value(element, type_.value_type) for element in value)
    return value


def _moment(value: Any) -> datetime.datetime:  # noqa: ANN401 - pandas' own kind for nanoseconds
    if getattr(value, "nanosecond", 0):
        raise ValueError(f"{value} is finer than a microsecond")
    plain: datetime.datetime = value.to_pydatetime() if hasattr(value, "nanosecond") else value
    return plain.replace(tzinfo=None)  # written in UTC


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        # Else times of 96 bits become nanoseconds, which from the year 2262 on are other times.
        with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
            yield file
    except (pa.ArrowException, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def statistics(path: Path, relative: str) -> tuple[ColumnStatistics, ...]:
    with _opened(path) as file:
        return tuple(_group_statistics(file, relative))


def leaves(fields: pa.Schema | pa.StructType) -> Iterator[tuple[str, pa.Field]]:
    """Yield the dotted name of each column and of each part of a struct that has no parts."""
    for field in fields:
        if kinds.is_struct(field.type) and not variant.is_variant(field.type):
            yield from ((f"{field.name}.{name}", leaf) for name, leaf in leaves(field.type))
        elif not kinds.is_nested(field.type):
            yield field.name, field


def _group_statistics(file: pq.ParquetFile, relative: str) -> Iterator[ColumnStatistics]:
    types, first = {name: leaf.type for name, leaf in leaves(file.schema_arrow)}, 0
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        for at in range(group.num_columns):
            chunk = group.column(at)
            name, stored = chunk.path_in_schema, chunk.statistics
            if name in types and stored is not None:
                yield ColumnStatistics(
                    StatisticsSource.PARQUET,
                    relative,
                    name,
                    group.num_rows,
                    stored.null_count if stored.has_null_count else None,
                    *_bounds(stored, types[name]),
                    first,
                )
        first += group.num_rows


def _bounds(stored: Any, type_: pa.DataType) -> tuple[str, str]:  # noqa: ANN401 - of Arrow's
    """Return the least and the greatest value; nothing where Arrow has no form for them."""
    try:
        if not stored.has_min_max:
            return "", ""
        least, greatest = (canonical_value(end, type_) for end in (stored.min, stored.max))
        return bound(least), bound(greatest)
    except (NotImplementedError, TypeError, ValueError, OverflowError):
        return "", ""

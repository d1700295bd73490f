"""What the footer of a Parquet file says of its columns, row group by row group.

Source: Apache Parquet format, `Statistics`, as Arrow reads it: what it knows to be wrong in files
of old writers it leaves out itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.formats.files import parquet
from harness.model.column_statistics import ColumnStatistics, StatisticsSource, bound

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.parquet import ParquetFile


def read(path: Path, relative: str) -> tuple[ColumnStatistics, ...]:
    """Read the statistics of the columns, and of parts of structs; not of what is in a list or map.

    Raises:
        FileFactError: it is no Parquet file.

    """
    with parquet.opened(path) as file:
        return tuple(_of_groups(file, relative))


def leaves(fields: pyarrow.Schema | pyarrow.StructType) -> Iterator[tuple[str, pyarrow.Field]]:
    """Yield the dotted name of each column and of each part of a struct that has no parts."""
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

    for field in fields:
        if kinds.is_struct(field.type):
            yield from ((f"{field.name}.{name}", leaf) for name, leaf in leaves(field.type))
        elif not kinds.is_nested(field.type):
            yield field.name, field


def _of_groups(file: ParquetFile, relative: str) -> Iterator[ColumnStatistics]:
    types, first = {name: leaf.type for name, leaf in leaves(file.schema_arrow)}, 0
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        for at in range(group.num_columns):
            chunk = group.column(at)
            name, statistics = chunk.path_in_schema, chunk.statistics
            if name in types and statistics is not None:
                yield ColumnStatistics(
                    StatisticsSource.PARQUET,
                    relative,
                    name,
                    group.num_rows,
                    statistics.null_count if statistics.has_null_count else None,
                    *_bounds(statistics, types[name]),
                    first,
                )
        first += group.num_rows


def _bounds(statistics: Any, type_: pyarrow.DataType) -> tuple[str, str]:  # noqa: ANN401 - of Arrow's
    """Return the least and the greatest value; nothing where Arrow has no form for them."""
    try:
        if not statistics.has_min_max:
            return "", ""
        least, greatest = (
            parquet.canonical_value(end, type_) for end in (statistics.min, statistics.max)
        )
        return bound(least), bound(greatest)
    except (NotImplementedError, TypeError, ValueError, OverflowError):
        return "", ""

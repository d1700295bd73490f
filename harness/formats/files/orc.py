"""An ORC file as an Arrow table, attributes of columns as metadata of fields, and its statistics.

Arrow gives no statistics of stripes (ORC specification, "Column Statistics", "File Tail").
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final

from harness.core.arrow import arrow_orc, pa, pyorc
from harness.engines.arrow_values import array_of, with_parts
from harness.formats.api import FileFactError
from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, StatisticsSource, bound

MAGIC: Final = b"ORC"
"""What an ORC file begins with (ORC specification, "File Tail")."""


def read(file: IO[bytes]) -> pa.Table:
    """Read all rows; raises Arrow's errors, pyorc's as ValueError.

    Arrow has moments of ORC in nanoseconds, and so none before 1677 or after 2262: a column that
    has such is read by pyorc, which has microseconds.
    """
    stored = arrow_orc.ORCFile(file)
    try:
        return stored.read()
    except pa.ArrowInvalid:
        fields = [_in_micros(field) for field in stored.schema]
        if fields == [*stored.schema]:
            raise
    columns = [_column(file, field) for field in fields]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _in_micros(field: pa.Field) -> pa.Field:
    if pa.types.is_timestamp(field.type):
        return field.with_type(pa.timestamp("us", field.type.tz))
    return field.with_type(with_parts(field.type, _in_micros))


def _column(file: IO[bytes], field: pa.Field) -> pa.Array:
    file.seek(0)
    try:
        reader = pyorc.Reader(
            file,  # type: ignore[arg-type] # it has what is asked of it
            column_names=[field.name],
            struct_repr=pyorc.StructRepr.DICT,
        )
        rows: list[Any] = [row[field.name] for row in reader]
    except (pyorc.errors.ORCError, OverflowError) as problem:
        raise ValueError(str(problem)) from problem
    return array_of(rows, field.type)


def schema(path: Path) -> pa.Schema:
    try:
        return arrow_orc.ORCFile(path).schema
    except (pa.ArrowException, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def statistics(path: Path, relative: str) -> tuple[ColumnStatistics, ...]:
    try:
        with path.open("rb") as file:
            return tuple(_stripe_statistics(pyorc.Reader(file), relative))
    except (pyorc.errors.ORCError, OSError) as problem:
        raise FileFactError(f"{path.name}: {problem}") from problem


def _stripe_statistics(reader: pyorc.Reader[Any], relative: str) -> Iterator[ColumnStatistics]:
    columns = tuple(_numbered_leaves(reader.schema))
    for stripe in reader.iter_stripes():
        for name, column_id in columns:
            try:
                stored = stripe[column_id].statistics
            except OverflowError:  # a bound is a moment that Python does not have
                continue
            least, greatest = _bounds(stored)
            yield ColumnStatistics(
                StatisticsSource.ORC,
                relative,
                name,
                len(stripe),
                len(stripe) - stored["number_of_values"],
                bound(least),
                bound(greatest),
                stripe.row_offset,
            )


def _numbered_leaves(type_: pyorc.TypeDescription) -> Iterator[tuple[str, int]]:
    """Yield the dotted name and the number of each column and part of a struct without parts."""
    collections = {pyorc.TypeKind.LIST, pyorc.TypeKind.MAP, pyorc.TypeKind.UNION}
    for name, field in type_.fields.items() if isinstance(type_, pyorc.Struct) else ():
        if isinstance(field, pyorc.Struct):
            yield from ((f"{name}.{part}", number) for part, number in _numbered_leaves(field))
        elif field.kind not in collections:
            yield name, field.column_id


def _bounds(statistics: Mapping[str, Any]) -> tuple[Value, Value]:
    """Return the least and the greatest value; None where it is not stored."""
    if "true_count" in statistics:
        there = [False] * statistics["false_count"] + [True] * statistics["true_count"]
        return (there[0], there[-1]) if there else (None, None)
    least = statistics.get("lower_bound", statistics.get("minimum"))
    greatest = statistics.get("upper_bound", statistics.get("maximum"))
    return _without_zone(least), _without_zone(greatest)


def _without_zone(value: Any) -> Value:  # noqa: ANN401 - the library's
    # Written in UTC, as the values are.
    return value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value

"""An ORC file as an Arrow table, with the attributes of its columns as metadata of the fields."""

from __future__ import annotations

from typing import IO, Any, Final

from harness.core.arrow import arrow_orc, pa, pyorc
from harness.engines.arrow_values import array_of, with_parts

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

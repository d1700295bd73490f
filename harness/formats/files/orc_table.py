"""An ORC file as an Arrow table, with the attributes of its columns as metadata of the fields."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def read(file: IO[bytes]) -> pa.Table:
    """Read all rows; raises Arrow's errors, pyorc's as ValueError.

    Arrow has moments of ORC in nanoseconds, and so none before 1677 or after 2262: a column that
    has such is read by pyorc, which has microseconds.
    """
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    from pyarrow.orc import ORCFile  # noqa: PLC0415

    stored = ORCFile(file)
    try:
        return stored.read()
    except pa.ArrowInvalid:
        fields = [_in_micros(field) for field in stored.schema]
        if fields == [*stored.schema]:
            raise
    columns = [_column(file, field) for field in fields]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _in_micros(field: pa.Field) -> pa.Field:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    type_ = field.type
    if pa.types.is_timestamp(type_):
        return field.with_type(pa.timestamp("us", type_.tz))
    if pa.types.is_struct(type_):
        return field.with_type(pa.struct([_in_micros(part) for part in type_]))
    if pa.types.is_map(type_):
        inner = _in_micros(type_.key_field), _in_micros(type_.item_field)
        return field.with_type(pa.map_(*inner))
    if pa.types.is_list(type_):
        return field.with_type(pa.list_(_in_micros(type_.value_field)))
    return field


def _column(file: IO[bytes], field: pa.Field) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it
    import pyorc  # noqa: PLC0415

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
    return pa.array([_pairs(value, field.type) for value in rows], field.type)


def _pairs(value: Any, type_: pa.DataType) -> Any:  # noqa: ANN401 - what Python has
    """Return a value with maps as Arrow takes them."""
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

    if value is None:
        return None
    if kinds.is_struct(type_):
        return {part.name: _pairs(value[part.name], part.type) for part in type_}
    if kinds.is_map(type_):
        types = type_.key_type, type_.item_type
        return [tuple(map(_pairs, pair, types)) for pair in value.items()]
    if kinds.is_list(type_):
        return [_pairs(part, type_.value_type) for part in value]
    return value

"""The columns of a table out of those of one of its files, found as a read plan says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING

from harness.engines.arrow_values import array_of, canonical, variant
from harness.formats.files.column_parts import ARRAY, FIELD_ID, MAP, STRUCT, ColumnPart
from harness.formats.files.variant import decoded
from harness.formats.read_plan import ArrowType, DeletedValues, Id, PlannedFile, ReadPlan
from harness.model.canonical import Look, Value, look_of
from harness.model.datatypes import ELEMENT, KEY, VALUE

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class _StoredColumn:
    """A column of a file, or a part of one, with its dotted name in the file."""

    field: pa.Field
    values: pa.Array
    path: str


@dataclass(frozen=True)  # no slots: what is derived is kept
class Projection:
    """Every method raises ValueError or Arrow's own errors where a value has no form in a type."""

    plan: ReadPlan
    file: PlannedFile
    stored: pa.Table

    def table(self) -> pa.Table:
        """Return all rows of the file as the columns of the table."""
        import pyarrow as pa  # noqa: PLC0415 - only reading needs it

        arrays = [self._column(part, self._columns.get(part.id)) for part in self.plan.columns]
        return pa.Table.from_arrays(arrays, [part.name for part in self.plan.columns])

    def positions(self, deleted: DeletedValues) -> Iterator[int]:
        """Yield the positions of the rows that are deleted by their values."""
        for at, looks in enumerate(self.looks(deleted.ids, deleted.types)):
            if looks in deleted.rows:
                yield at

    def looks(self, ids: Iterable[Id], types: Iterable[str] = ()) -> Iterator[tuple[Look, ...]]:
        """Yield how the values of columns look in each row."""
        return (tuple(map(look_of, values)) for values in self.values(ids, types))

    def values(self, ids: Iterable[Id], types: Iterable[str] = ()) -> Iterator[tuple[Value, ...]]:
        """Yield the values of columns in each row, in the file's types if no others are given."""
        arrow_types = chain(map(self.plan.arrow_type, types), repeat(None))
        return zip(*map(self._values, ids, arrow_types), strict=True)

    def has(self, id_: Id) -> bool:
        """Return whether the file has a column."""
        return id_ in self._columns

    def _values(self, id_: Id, type_: pa.DataType | None) -> list[Value]:
        # A column may have been dropped since, so that the table has no type for it.
        stored = self._leaf(id_, self._columns)
        if stored is None:
            return [self._constant(id_)] * self.stored.num_rows
        values = stored.values if type_ is None else converted(stored.values, type_)
        return list(map(canonical, values))

    def _leaf(self, id_: Id, inside: Mapping[Id, _StoredColumn]) -> _StoredColumn | None:
        import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

        if id_ in inside:
            return inside[id_]
        structs = (column for column in inside.values() if kinds.is_struct(column.field.type))
        parts = (self._leaf(id_, self._parts(struct, flat=True)) for struct in structs)
        return next((part for part in parts if part is not None), None)

    @cached_property
    def _columns(self) -> Mapping[Id, _StoredColumn]:
        columns = zip(self.stored.schema, self.stored.columns, strict=True)
        return self._known(
            _StoredColumn(field, _whole(column), field.name) for field, column in columns
        )

    def _parts(self, struct: _StoredColumn, *, flat: bool = False) -> Mapping[Id, _StoredColumn]:
        """Return the parts of a struct; `flat`: NULL where the struct is."""
        values = struct.values
        arrays = values.flatten() if flat else [values.field(at) for at in range(len(values.type))]
        pairs = zip(struct.field.type, arrays, strict=True)
        return self._known(
            _StoredColumn(field, array, f"{struct.path}.{field.name}") for field, array in pairs
        )

    def _known(self, columns: Iterable[_StoredColumn]) -> Mapping[Id, _StoredColumn]:
        known = ((self._id(column), column) for column in columns)
        unread = {None, *self.file.columns.unread}
        return {id_: column for id_, column in known if id_ is not None and id_ not in unread}

    @cached_property
    def _has_ids(self) -> bool:
        return self.file.columns.by_id and any(map(_has_id, self.stored.schema))

    def _id(self, column: _StoredColumn) -> Id | None:
        if self._has_ids:
            stored = (column.field.metadata or {}).get(FIELD_ID)
            return None if stored is None else int(stored)
        return self.file.columns.names.get(column.path)

    def _constant(self, id_: Id) -> Value:
        constants = self.file.constants
        return constants[id_] if id_ in constants else self.plan.defaults.get(id_)

    def _column(
        self, part: ColumnPart, stored: _StoredColumn | None, length: int | None = None
    ) -> pa.Array:
        """Return a column, or a part of one, of `length` values where that is not all rows."""
        import pyarrow as pa  # noqa: PLC0415 - only reading needs it

        type_ = full_type(part, self.plan.arrow_type)
        if stored is None:
            count = self.stored.num_rows if length is None else length
            return pa.repeat(array_of([self._constant(part.id)], type_)[0], count)
        values, nulls = stored.values, stored.values.is_null()
        if part.parts and not _fits(part.type, values.type):
            raise ValueError(f"{stored.path} is {values.type} in it, which is no {part.type}")
        match part.type:
            case "struct":
                inside = self._parts(stored)
                arrays = [self._column(p, inside.get(p.id), len(values)) for p in part.parts]
                return pa.StructArray.from_arrays(arrays, fields=[*type_], mask=nulls)
            case "array":
                (element,) = part.parts
                inner = self._inner(element, stored, ELEMENT, values.values)
                return pa.ListArray.from_arrays(values.offsets, inner, type_, mask=nulls)
            case "map":
                key, value_part = part.parts
                keys = self._inner(key, stored, KEY, values.keys)
                items = self._inner(value_part, stored, VALUE, values.items)
                return pa.MapArray.from_arrays(values.offsets, keys, items, type_, mask=nulls)
        return converted(values, type_)

    def _inner(
        self, part: ColumnPart, outer: _StoredColumn, name: str, values: pa.Array
    ) -> pa.Array:
        import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

        type_ = outer.field.type
        if kinds.is_map(type_):
            field = type_.key_field if name == KEY else type_.item_field
        else:
            field = type_.value_field
        return self._column(part, _StoredColumn(field, values, f"{outer.path}.{name}"))


def full_type(part: ColumnPart, arrow_type: ArrowType) -> pa.DataType:
    """Return Arrow's type of a column or a part with all its parts; raises ValueError."""
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    inner = [full_type(child, arrow_type) for child in part.parts]
    if part.type == STRUCT:
        names = (child.name for child in part.parts)
        return pa.struct(list(zip(names, inner, strict=True)))
    if part.type == ARRAY:
        return pa.list_(*inner)
    return pa.map_(*inner) if part.type == MAP else arrow_type(part.type)


def converted(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return values in another type that holds them all; raises Arrow's errors, ValueError."""
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    if values.type == type_:
        return values
    if type_ == variant():
        return decoded(values)
    if type_ == pa.uuid():  # Avro and ORC have it as bytes
        return values.cast(pa.binary(16)).cast(type_)
    return values.cast(type_)


def _fits(kind: str, type_: pa.DataType) -> bool:
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

    match kind:
        case "struct":
            return bool(kinds.is_struct(type_))
        case "map":
            return bool(kinds.is_map(type_))
    return bool(kinds.is_list(type_) or kinds.is_large_list(type_))


def _has_id(field: pa.Field) -> bool:
    import pyarrow.types as kinds  # noqa: PLC0415 - only reading needs it

    if FIELD_ID in (field.metadata or {}):
        return True
    type_ = field.type
    if kinds.is_struct(type_):
        return any(map(_has_id, type_))
    if kinds.is_map(type_):
        return any(map(_has_id, (type_.key_field, type_.item_field)))
    return kinds.is_list(type_) and _has_id(type_.value_field)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 - only reading needs it

    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)

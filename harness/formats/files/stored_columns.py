"""The columns of a data file, and parts of them, by the ids that a read plan knows them by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.core.arrow import kinds, pa
from harness.engines.arrow_values import variant
from harness.formats.files.column_parts import FIELD_ID, in_path
from harness.formats.files.variant import decoded
from harness.formats.read_plan import FileColumns, Id
from harness.model.datatypes import KEY


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column of a file, or a part of one, with its dotted name in the file."""

    field: pa.Field
    values: pa.Array
    path: str


@dataclass(frozen=True)  # no slots: what is derived is kept
class StoredColumns:
    """The columns of a file as its table in Arrow has them, and how they are known."""

    table: pa.Table
    known_by: FileColumns

    @cached_property
    def top(self) -> Mapping[Id, StoredColumn]:
        columns = zip(self.table.schema, self.table.columns, strict=True)
        return self._known(
            StoredColumn(field, _whole(column), in_path(field.name)) for field, column in columns
        )

    def parts(self, struct: StoredColumn, *, flat: bool = False) -> Mapping[Id, StoredColumn]:
        """Return the parts of a struct; `flat`: NULL where the struct is."""
        values = struct.values
        arrays = values.flatten() if flat else [values.field(at) for at in range(len(values.type))]
        pairs = zip(struct.field.type, arrays, strict=True)
        return self._known(
            StoredColumn(field, array, f"{struct.path}.{in_path(field.name)}")
            for field, array in pairs
        )

    def leaf(self, id_: Id) -> StoredColumn | None:
        """Return a column, or a part of structs, wherever it is."""
        return self._leaf(id_, self.top)

    def _leaf(self, id_: Id, inside: Mapping[Id, StoredColumn]) -> StoredColumn | None:
        if id_ in inside:
            return inside[id_]
        structs = (column for column in inside.values() if kinds.is_struct(column.field.type))
        parts = (self._leaf(id_, self.parts(struct, flat=True)) for struct in structs)
        return next((part for part in parts if part is not None), None)

    def _known(self, columns: Iterable[StoredColumn]) -> Mapping[Id, StoredColumn]:
        known = ((self._id(column), column) for column in columns)
        unread = {None, *self.known_by.unread}
        return {id_: column for id_, column in known if id_ is not None and id_ not in unread}

    @cached_property
    def _has_ids(self) -> bool:
        return self.known_by.by_id and any(map(has_id, self.table.schema))

    def _id(self, column: StoredColumn) -> Id | None:
        if self._has_ids:
            stored = (column.field.metadata or {}).get(FIELD_ID)
            return None if stored is None else int(stored)
        return self.known_by.names.get(column.path)


def inner(outer: StoredColumn, name: str, values: pa.Array) -> StoredColumn:
    """Return what is in a list or a map, by what it is called there."""
    type_ = outer.field.type
    if kinds.is_map(type_):
        field = type_.key_field if name == KEY else type_.item_field
    else:
        field = type_.value_field
    return StoredColumn(field, values, f"{outer.path}.{name}")


def converted(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return values in another type that holds them all; raises Arrow's errors, ValueError."""
    if values.type == type_:
        return values
    values = getattr(values, "storage", values)  # of an extension type
    if type_ == variant():
        return decoded(values)
    if type_ == pa.uuid():  # Avro and ORC have it as bytes
        return values.cast(pa.binary(16)).cast(type_)
    return values.cast(type_)


def has_id(field: pa.Field) -> bool:
    if FIELD_ID in (field.metadata or {}):
        return True
    type_ = field.type
    if kinds.is_struct(type_):
        return any(map(has_id, type_))
    if kinds.is_map(type_):
        return any(map(has_id, (type_.key_field, type_.item_field)))
    return kinds.is_list(type_) and has_id(type_.value_field)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)

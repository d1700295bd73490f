"""The columns of a table out of those of one of its files, found as a read plan says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat

from harness.core.arrow import kinds, pa
from harness.engines.arrow_values import array_of, canonical_values
from harness.formats.files.column_parts import ARRAY, MAP, STRUCT, ColumnPart
from harness.formats.files.stored_columns import StoredColumn, StoredColumns, converted, inner
from harness.formats.read_plan import ArrowType, DeletedValues, Id, PlannedFile, ReadPlan
from harness.model.canonical import Look, Value, look_of
from harness.model.datatypes import ELEMENT, KEY, VALUE


@dataclass(frozen=True)  # no slots: what is derived is kept
class Projection:
    """Every method raises ValueError or Arrow's own errors where a value has no form in a type."""

    plan: ReadPlan
    file: PlannedFile
    stored: pa.Table

    def table(self) -> pa.Table:
        """Return all rows of the file as the columns of the table."""
        arrays = [self._column(part, self._columns.top.get(part.id)) for part in self.plan.columns]
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
        return id_ in self._columns.top

    @cached_property
    def _columns(self) -> StoredColumns:
        return StoredColumns(self.stored, self.file.columns)

    def _values(self, id_: Id, type_: pa.DataType | None) -> list[Value]:
        # A column may have been dropped since, so that the table has no type for it.
        stored = self._columns.leaf(id_)
        if stored is None:
            return [self._constant(id_)] * self.stored.num_rows
        values = stored.values if type_ is None else self._converted(stored, type_)
        return canonical_values(values)

    def _constant(self, id_: Id) -> Value:
        constants = self.file.constants
        return constants[id_] if id_ in constants else self.plan.defaults.get(id_)

    def _column(
        self, part: ColumnPart, stored: StoredColumn | None, length: int | None = None
    ) -> pa.Array:
        """Return a column, or a part of one, of `length` values where that is not all rows."""
        type_ = full_type(part, self.plan.arrow_type)
        if stored is None:
            count = self.stored.num_rows if length is None else length
            return pa.repeat(array_of([self._constant(part.id)], type_)[0], count)
        values, nulls = stored.values, stored.values.is_null()
        if part.parts and not fits(part.type, values.type):
            raise ValueError(f"{stored.path} is {values.type} in it, which is no {part.type}")
        match part.type:
            case "struct":
                inside = self._columns.parts(stored)
                arrays = [self._column(p, inside.get(p.id), len(values)) for p in part.parts]
                return pa.StructArray.from_arrays(arrays, fields=[*type_], mask=nulls)
            case "array":
                (element,) = part.parts
                elements = self._column(element, inner(stored, ELEMENT, values.values))
                return pa.ListArray.from_arrays(values.offsets, elements, type_, mask=nulls)
            case "map":
                key, value_part = part.parts
                keys = self._column(key, inner(stored, KEY, values.keys))
                items = self._column(value_part, inner(stored, VALUE, values.items))
                return pa.MapArray.from_arrays(values.offsets, keys, items, type_, mask=nulls)
        return self._converted(stored, type_)

    def _converted(self, stored: StoredColumn, type_: pa.DataType) -> pa.Array:
        if not self.plan.may_become(stored.values.type, type_):
            raise ValueError(f"{stored.path} is {stored.values.type} in it, which is no {type_}")
        try:
            return converted(stored.values, type_)
        except (ValueError, pa.ArrowException) as problem:
            kind = f"{stored.path} is {stored.values.type} in it"
            raise ValueError(f"{kind}, and no {type_}: {problem}") from problem


def full_type(part: ColumnPart, arrow_type: ArrowType) -> pa.DataType:
    """Return Arrow's type of a column or a part with all its parts; raises ValueError."""
    inside = [full_type(child, arrow_type) for child in part.parts]
    if part.type == STRUCT:
        names = (child.name for child in part.parts)
        return pa.struct(list(zip(names, inside, strict=True)))
    if part.type == ARRAY:
        return pa.list_(*inside)
    return pa.map_(*inside) if part.type == MAP else arrow_type(part.type)


def fits(kind: str, type_: pa.DataType) -> bool:
    match kind:
        case "struct":
            return bool(kinds.is_struct(type_))
        case "map":
            return bool(kinds.is_map(type_))
    return bool(kinds.is_list(type_))

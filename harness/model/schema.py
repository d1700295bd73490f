"""A table's schema with field ids: immutable, ids never reused.

A rename keeps the id, a drop ends it, an added column gets the next one, at every depth: the
children of a struct, the element of an array, the key and the value of a map have ids of their
own (as in the Iceberg specification, "Schemas and Data Types", and Hudi's `InternalSchema`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from harness.model.canonical import Value
from harness.model.column_options import ALLOWED, TIMES, ColumnOption
from harness.model.conversion import convert
from harness.model.datatypes import Array, DataType, Map, Struct, parts_of, with_parts


class SchemaChangeError(ValueError):
    """The change is not possible on this schema or table; the message says what is allowed.

    Whatever changes a schema or evolves a truth may raise it.
    """


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a part of one."""

    id: int
    name: str
    type: DataType
    children: tuple[Field, ...] = ()
    """A struct's fields, an array's one `element`, a map's `key` and `value`."""
    exact: bool = True
    """Whether each value must have an exact form in the type; else one without is not settled."""
    default: Value = None
    """What rows have there that were written before the column was added."""
    option: ColumnOption | None = None
    """What the column has where a write leaves it out; None for NULL."""
    sources: tuple[int, ...] = ()
    """The ids of the columns that it is generated of."""

    def walk(self) -> Iterator[Field]:
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class ColumnPosition:
    """Where a column is put: `first`, or `after` a sibling; at the end when neither is said."""

    first: bool = False
    after: str | None = None


END = ColumnPosition()


@dataclass(frozen=True)  # no slots: what is derived is kept
class Schema:
    fields: tuple[Field, ...]
    last_id: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    def walk(self) -> Iterator[Field]:
        for field in self.fields:
            yield from field.walk()

    def by_id(self, field_id: int) -> Field | None:
        return self._by_id.get(field_id)

    @cached_property
    def _by_id(self) -> Mapping[int, Field]:
        return {field.id: field for field in self.walk()}

    def path_of(self, field_id: int) -> str | None:
        return _path_of(self.fields, field_id)

    def find(self, path: str) -> Field:
        siblings, field = self.fields, None
        for name in path.split("."):
            field = next((sibling for sibling in siblings if sibling.name == name), None)
            if field is None:
                have = ", ".join(sibling.name for sibling in siblings) or "none"
                raise SchemaChangeError(f"there is no column '{path}'; there are: {have}")
            siblings = field.children
        if field is None:
            raise SchemaChangeError("a column's name is missing")
        return field

    def has(self, path: str) -> bool:
        try:
            self.find(path)
        except SchemaChangeError:
            return False
        return True

    def add(
        self, path: str, type_: DataType, position: ColumnPosition = END, default: Value = None
    ) -> Schema:
        parent, name = _split(path)
        siblings = self._named(parent)
        if name in (sibling.name for sibling in siblings):
            raise SchemaChangeError(f"there is a column '{path}' already")
        made, last = number(name, type_, self.last_id)
        field = replace(made, default=default)
        return replace(self._with(parent, _insert(siblings, field, position)), last_id=last)

    def drop(self, path: str) -> Schema:
        field = self.find(path)
        parent, _ = _split(path)
        rest = tuple(sibling for sibling in self._named(parent) if sibling is not field)
        if not rest:
            raise SchemaChangeError(f"'{path}' is the only column there; the last one cannot go")
        return self._with(parent, rest)

    def rename(self, path: str, to: str) -> Schema:
        field = self.find(path)
        if to in (sibling.name for sibling in self._named(_split(path)[0])):
            raise SchemaChangeError(f"there is a column '{to}' beside '{path}' already")
        return self._replaced(path, replace(field, name=to))

    def move(self, path: str, position: ColumnPosition) -> Schema:
        field = self.find(path)
        parent, name = _split(path)
        if position.after == name:
            raise SchemaChangeError(f"'{path}' cannot be put after itself")
        rest = tuple(sibling for sibling in self._named(parent) if sibling is not field)
        return self._with(parent, _insert(rest, field, position))

    def ordered(self, names: Sequence[str]) -> Schema:
        """Return the schema with its columns in the order of names; as it is without all of them.

        What else is named does not count, and neither does upper or lower case.
        """
        places = {name.casefold(): at for at, name in enumerate(names)}
        if any(field.name.casefold() not in places for field in self.fields):
            return self
        return replace(
            self, fields=tuple(sorted(self.fields, key=lambda f: places[f.name.casefold()]))
        )

    def change_type(self, path: str, to: DataType, *, exact: bool = True) -> Schema:
        field = self.find(path)
        if field.children or isinstance(to, Struct | Array | Map):
            raise SchemaChangeError(
                f"the type of '{path}' cannot become {to}: only types without parts change; "
                "change the parts by their dotted path"
            )
        if any(field.id in other.sources for other in self.fields):
            raise SchemaChangeError(f"a column is generated of '{path}', so its type stays")
        return self._replaced(path, replace(field, type=to, exact=exact and field.exact))

    def fill(self, path: str, option: ColumnOption) -> Schema:
        """Return the schema with another option of a column."""
        field, (names, made, _) = self.find(path), option.parsed()
        sources, type_ = [self.find(name) for name in names], str(field.type)
        types = {str(source.type) for source in sources}
        fits = types <= TIMES and type_ == made if made else types == {type_} <= {"int", "long"}
        if option.generated and not fits:
            raise SchemaChangeError(f"'{path}' cannot be so generated as {type_}; {ALLOWED}")
        if field.children or "." in path or (option.identity and type_ != "long"):
            raise SchemaChangeError(f"'{path}' is {type_}, which has no such option")
        try:
            option = replace(option, default=convert(option.default, field.type))
        except ValueError as wrong:
            raise SchemaChangeError(f"the default: {wrong}") from wrong
        ids = tuple(source.id for source in sources)
        after = self._replaced(path, replace(field, option=option, sources=ids))
        of_others = {id_ for field in after.fields for id_ in field.sources}
        if field.id in self.worked_out or not after.worked_out.isdisjoint(of_others):
            why = "what is generated or numbered has no default, and nothing is generated of it"
            raise SchemaChangeError(f"'{path}': {why}")
        return after

    @property
    def worked_out(self) -> set[int]:
        """Return the ids of the columns whose values the writer makes."""
        return {f.id for f in self.fields if f.sources or (f.option and f.option.identity)}

    def _named(self, parent: str) -> tuple[Field, ...]:
        """Return siblings below a struct: parts of arrays and maps have no names of their own."""
        if not parent:
            return self.fields
        field = self.find(parent)
        if not field.children:
            raise SchemaChangeError(f"'{parent}' is {field.type}: it has no parts")
        if not isinstance(field.type, Struct):
            raise SchemaChangeError(
                f"'{parent}' is {field.type}: only the type of its parts changes"
            )
        return field.children

    def _with(self, parent: str, children: tuple[Field, ...]) -> Schema:
        if not parent:
            return replace(self, fields=children)
        field = self.find(parent)
        type_ = with_parts(field.type, ((child.name, child.type) for child in children))
        return self._replaced(parent, replace(field, children=children, type=type_))

    def _replaced(self, path: str, new: Field) -> Schema:
        parent, name = _split(path)
        siblings = self.find(parent).children if parent else self.fields
        return self._with(parent, tuple(new if one.name == name else one for one in siblings))


def schema_of(
    columns: tuple[tuple[str, DataType], ...], options: tuple[tuple[str, ColumnOption], ...] = ()
) -> Schema:
    """Number the columns of a new table: ids from 1, the columns first, then their parts."""
    heads = [Field(at, name, type_) for at, (name, type_) in enumerate(columns, start=1)]
    last, fields = len(heads), []
    for head in heads:
        children, last = _number_children(head.type, last)
        fields.append(replace(head, children=children))
    schema = Schema(tuple(fields), last)
    for name, option in options:
        schema = schema.fill(name, option)
    return schema


def number(name: str, type_: DataType, last_id: int) -> tuple[Field, int]:
    """Return a new field, ids after `last_id` for itself and its parts, and the last one given."""
    children, last = _number_children(type_, last_id + 1)
    return Field(last_id + 1, name, type_, children), last


def _number_children(type_: DataType, last: int) -> tuple[tuple[Field, ...], int]:
    children = []
    for name, child in parts_of(type_):
        field, last = number(name, child, last)
        children.append(field)
    return tuple(children), last


def _insert(
    siblings: tuple[Field, ...], field: Field, position: ColumnPosition
) -> tuple[Field, ...]:
    if position.first:
        return (field, *siblings)
    if position.after is None:
        return (*siblings, field)
    names = [sibling.name for sibling in siblings]
    if position.after not in names:
        raise SchemaChangeError(
            f"there is no column '{position.after}' to stand after; there are: {', '.join(names)}"
        )
    at = names.index(position.after) + 1
    return (*siblings[:at], field, *siblings[at:])


def _split(path: str) -> tuple[str, str]:
    parent, _, name = path.rpartition(".")
    return parent, name


def _path_of(fields: tuple[Field, ...], field_id: int) -> str | None:
    for field in fields:
        if field.id == field_id:
            return field.name
        below = _path_of(field.children, field_id)
        if below is not None:
            return f"{field.name}.{below}"
    return None


class MergeMode(StrEnum):
    """Which of two versions of a row stands (Hudi documentation, "Record Merger")."""

    EVENT_TIME = "event_time"
    """The one with the greater ordering value, whichever was written last."""
    COMMIT_TIME = "commit_time"
    """The one that was written last."""
    PARTIAL_UPDATE = "partial_update"
    """Of each column the newest value, by the ordering column, that is not NULL."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[tuple[str, DataType], ...]
    """In the order of `create table`."""
    key: str
    """The column that tells rows apart."""
    order_by: tuple[str, ...] = ()
    """The ordering (precombine) columns: the version of a row with the greater values is newer."""
    partition_by: tuple[str, ...] = ()
    merge_mode: MergeMode | None = None
    """What the table declares; None for what its format does by itself, which makes no difference
    unless a version comes late."""
    options: tuple[tuple[str, ColumnOption], ...] = ()
    """Of columns that have one."""

    @property
    def fixed(self) -> tuple[str, ...]:
        """The columns that schema changes may not touch: key, ordering and partition columns."""
        return (self.key, *self.order_by, *self.partition_by)

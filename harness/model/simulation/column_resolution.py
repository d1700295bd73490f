"""Which column of a file a reader takes for a table's column, and what it shows of a row in it.

A file's columns are known by name and position; which field each is, the schema of the step that
wrote the file tells. Parts of a struct are found by name when the columns are found by position,
unless files have no names at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from harness.model.canonical import MapValue, Unpredicted, Value, has_unsettled
from harness.model.conversion import convert
from harness.model.datatypes import Array, DataType, Map, Primitive, Struct
from harness.model.file_facts import FileFact, FileKind
from harness.model.schema import Field, Schema
from harness.model.simulation import late_versions
from harness.model.simulation.late_versions import record_keys
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from harness.model.simulation.value_conversions import (
    cast_differs,
    cast_value,
    converted_differs,
    converted_value,
    stored_differs,
    stored_value,
)
from harness.model.truth import History, Row, named

META: Final = {
    name: Field(-number, name, Primitive("string"))
    for number, name in enumerate(
        (
            "_hoodie_commit_time",
            "_hoodie_commit_seqno",
            "_hoodie_record_key",
            "_hoodie_partition_path",
            "_hoodie_file_name",
        ),
        start=1,
    )
}
"""The columns that Hudi's base files begin with (`HoodieRecord.HOODIE_META_COLUMNS`), as fields of
no schema: their ids are negative."""


class LayoutError(Exception):
    """The files do not fit the history; nothing can be said of how they are read."""


Slices = Sequence[tuple[FileFact | None, Sequence[FileFact]]]
"""Each file group's newest base file with the log blocks that came after it."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class WrittenFiles:
    """Files of a table beside the history whose steps wrote them."""

    history: History
    facts: Sequence[FileFact]
    steps: Mapping[str, int]
    """The step that made each instant."""

    @cached_property
    def slices(self) -> Slices:
        """The newest of each file group; raises LayoutError, as what is made of them does."""
        return tuple(slices(self.facts, self.steps))

    @cached_property
    def newest(self) -> Sequence[FileFact]:
        return [fact for base, logs in self.slices for fact in (base, *logs) if fact]

    @cached_property
    def bases(self) -> Sequence[FileFact]:
        return [base for base, _ in self.slices if base is not None]

    def step(self, fact: FileFact) -> int:
        return self.steps[fact.instant]

    def columns_step(self, fact: FileFact) -> int:
        """Return the step whose columns a file has: that of its rows, or a later one.

        A compaction that waited has the rows of the day on which it was scheduled, and the columns
        of that day only if the table had a history of its schema (seen on Hudi 0.15.0, 1.0.2 and
        1.2.0).
        """
        step, history = self.step(fact), self.history
        there = {name for name, _ in fact.columns} - META.keys()
        if there <= set(history[step].schema.names):
            return step
        names = {name for truth in history for name in truth.schema.names if name in there}
        if names <= set(history[step].schema.names):
            return step
        later = range(step, len(history))
        return next((at for at in later if set(history[at].schema.names) == names), step)

    def written_schema(self, fact: FileFact) -> Schema:
        """Return the columns that a file has; a record's key and the folder's name tell theirs."""
        schema, table = self.history[self.columns_step(fact)].schema, self.history[0].table
        if not fact.partial:
            return schema
        there = {table.key, *table.partition_by, *(name for name, _ in fact.columns)}
        return replace(schema, fields=tuple(f for f in schema.fields if f.name in there))

    def version(self, fact: FileFact, key: str) -> Row:
        """Return the row that a file holds under a record key; raises LayoutError."""
        rows = late_versions.file_rows(self.history[self.step(fact)], fact)
        there = (row for value, row in rows.items() if key in record_keys(self.history, value))
        if (row := next(there, None)) is None:
            raise LayoutError(f"{fact.path}: the truth has no row {key} at instant {fact.instant}")
        return row

    def sources(
        self, fact: FileFact, by: ColumnMapping, catalog: Schema | None = None
    ) -> list[tuple[Field, Field | None]]:
        """Return the columns of the table, or a catalog, each with the file's one taken for it."""
        now, written = self.history[-1], self.written_schema(fact)
        names = [name for name, _ in fact.columns]
        pairs = zip(fact.stored_names or names, names, strict=True)
        in_file = [p for p in pairs if by is ColumnMapping.COUNTED or p[1] not in META]
        result: list[tuple[Field, Field | None]] = []
        first = [field.id for field in self.history[0].schema.fields]
        position = 0
        for field in (catalog or now.schema).fields:
            keyed = fact.partial and field.name == now.table.key
            if field.name in now.table.partition_by or keyed:
                # Its value comes from the partition's path, or the record's key, not from the file.
                result.append((field, written.by_id(field.id)))
                continue
            index = first.index(field.id) if by is ColumnMapping.RENUMBERED else position
            result.append((field, _in_file(field, index, in_file, written, by)))
            position += 1
        return result

    def meeting_other_types(self, *, counted: bool) -> tuple[ColumnMapping, ...]:
        """Return the column mappings that lead to one of another type in some base file."""
        mappings = column_mappings(self.history, counted=counted)
        return tuple(by for by in mappings if any(_differ(*pair, by) for pair in self._met(by)))

    def converting(
        self, conversion: Conversion, mappings: Iterable[ColumnMapping]
    ) -> frozenset[ColumnMapping]:
        """Return those by which a conversion meets values that it may show otherwise."""
        return frozenset(
            by for by in mappings if any(_converts(*pair, conversion) for pair in self._met(by))
        )

    def _met(self, by: ColumnMapping) -> Iterator[tuple[Field, Field]]:
        """Yield the columns of the table, each with the one taken for it in some base file."""
        for base in self.bases:
            for field, source in self.sources(base, by):
                if source is not None:
                    yield field, source


def column_mappings(
    history: History,
    *,
    counted: bool,
    renumbered: bool = False,
    outside: bool = False,
    nameless: bool = False,
) -> tuple[ColumnMapping, ...]:
    """Return the column mappings that can differ on such a history.

    `counted`: whether a reader by position may count meta columns. `renumbered`: whether ids that
    are given anew can be other ones. `outside`: whether parts of structs may be found otherwise
    than columns. `nameless`: whether files say nothing of columns, and parts of structs have moved.
    """
    names = {field.name for truth in history for field in truth.schema.walk()}
    folds = len({name.casefold() for name in names}) < len(names)
    never = {
        ColumnMapping.FOLDED: not folds,
        ColumnMapping.COUNTED: not counted,
        ColumnMapping.RENUMBERED: not renumbered,
        ColumnMapping.PARTS_TOO: not nameless,
        ColumnMapping.ID_OUTSIDE: not outside,
        ColumnMapping.ID_ALONE: all(field.default is None for field in history[-1].schema.walk()),
    }
    return tuple(by for by in ColumnMapping if not never.get(by))


def _differ(field: Field, source: Field, by: ColumnMapping) -> bool:
    if type(field.type) is not type(source.type) or not field.children:
        return field.type != source.type
    parts = {child.id if by.inside else child.name: child for child in source.children}
    pairs = [(part, parts.get(part.id if by.inside else part.name)) for part in field.children]
    return any(there is not None and _differ(part, there, by) for part, there in pairs)


def _converts(field: Field, source: Field, conversion: Conversion) -> bool:
    parts = {child.name: child for child in source.children}
    pairs = [(part, parts[part.name]) for part in field.children if part.name in parts]
    differs = conversion.differs(source.type, field.type)
    return differs or any(_converts(*pair, conversion) for pair in pairs)


def slices(
    files: Sequence[FileFact], steps: Mapping[str, int]
) -> Iterator[tuple[FileFact | None, list[FileFact]]]:
    """Yield each file group's newest base file with the log blocks that came after it."""
    groups: dict[str, list[FileFact]] = {}
    for fact in files:
        if fact.instant not in steps:
            raise LayoutError(f"{fact.path}: no step made the instant {fact.instant}")
        groups.setdefault(fact.file_group, []).append(fact)
    for facts in groups.values():
        facts.sort(key=lambda fact: steps[fact.instant])
        bases = [fact for fact in facts if fact.kind is FileKind.BASE]
        base = bases[-1] if bases else None
        since = steps[base.instant] if base else -1
        logs = [f for f in facts if f.kind is FileKind.LOG and steps[f.instant] > since]
        yield base, logs


_NAMED: Final = (ColumnMapping.NAME, ColumnMapping.FOLDED)


def _in_file(
    field: Field,
    position: int,
    in_file: Sequence[tuple[str, str]],
    written: Schema,
    by: ColumnMapping,
) -> Field | None:
    """Return the field that a column is taken from; `in_file`: names there and in the table."""
    if by.placed:
        name = in_file[position][1] if position < len(in_file) else None
    elif by in _NAMED:
        stored_name = _named_as(field.name, [stored for stored, _ in in_file], by)
        name = next((name for stored, name in in_file if stored == stored_name), None)
    else:
        return next((column for column in written.fields if column.id == field.id), None)
    return next((column for column in written.fields if column.name == name), META.get(name or ""))


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a reader makes of values of another type, other than the same value or a refusal."""

    differs: Callable[[DataType, DataType], bool]
    """Whether a value of the file's type may be shown as something else in the table's type."""
    value: Callable[[Value, DataType, DataType], Value]
    """Of a value, its type and the one shown; raises ValueError where it is not predicted."""


AS_STORED: Final = Conversion(stored_differs, lambda value, _, to: stored_value(value, to))
"""What is stored is taken for a value of the column's type."""
AS_CONVERTED: Final = Conversion(converted_differs, converted_value)
"""As ORC's library converts; it may cut or lose something."""
AS_CAST: Final = Conversion(cast_differs, lambda value, _, to: cast_value(value, to))
"""NULL is shown where a cast cannot be done."""


def shown(
    row: Row,
    field: Field,
    source: Field | None,
    by: ColumnMapping,
    conversion: Conversion | None = None,
) -> Value:
    exact = conversion is None
    if source is None:
        return field.default if exact and by in _WITH_DEFAULTS else None
    value = row.of(source)
    if exact and by.inside:
        # One of Hudi's columns under another: of another type it is refused.
        fits = source.id > 0 or field.type == source.type
        known = field if by in _WITH_DEFAULTS else _without_defaults(field)
        return named(value, known) if fits else Unpredicted()
    try:
        return _by_name(value, source, field, by, conversion)
    except ValueError:
        if exact:
            raise
        return Unpredicted()


_WITH_DEFAULTS: Final = {ColumnMapping.ID, ColumnMapping.ID_OUTSIDE}


def _without_defaults(field: Field) -> Field:
    return replace(field, default=None, children=tuple(map(_without_defaults, field.children)))


def _by_name(
    value: Value, source: Field, field: Field, by: ColumnMapping, conversion: Conversion | None
) -> Value:
    if value is None:
        return None
    if nested(source) != nested(field):
        return named(value, source)
    match field.type:
        case Struct():
            pairs = [(child, part_in(source, field, child, by)) for child in field.children]
            return {
                part.name: _by_name(value.get(there.id), there, part, by, conversion)
                if there
                else None
                for part, there in pairs
            }
        case Array():
            inner = source.children[0], field.children[0]
            return tuple(_by_name(element, *inner, by, conversion) for element in value)
        case Map():
            (key, part), (to, now) = source.children, field.children
            return MapValue.of(
                [
                    (_by_name(k, key, to, by, conversion), _by_name(v, part, now, by, conversion))
                    for k, v in value.pairs
                ]
            )
    if not source.exact and has_unsettled(named(value, source)):
        return Unpredicted()  # nobody knows what the file holds
    stored = convert(value, source.type)
    if conversion and conversion.differs(source.type, field.type):
        return conversion.value(stored, source.type, field.type)
    if source.type == field.type:
        return stored
    try:
        return convert(stored, field.type)
    except (ValueError, ArithmeticError):
        return stored


def part_in(source: Field, field: Field, part: Field, by: ColumnMapping) -> Field | None:
    if by is ColumnMapping.PARTS_TOO:
        return dict(zip(field.children, source.children, strict=False)).get(part)
    if by is ColumnMapping.ID:
        return next((child for child in source.children if child.id == part.id), None)
    names = [child.name for child in source.children]
    name = _named_as(part.name, names, by)
    return source.children[names.index(name)] if name is not None else None


def _named_as(name: str, names: Sequence[str], by: ColumnMapping) -> str | None:
    """Return the name that a reader takes for another; case counts unless it is folded."""
    if by is ColumnMapping.FOLDED:
        return next((text for text in names if text.casefold() == name.casefold()), None)
    return name if name in names else None


def nested(field: Field) -> type | None:
    return type(field.type) if isinstance(field.type, Struct | Array | Map) else None


def conversion_of(strategy: ReadStrategy) -> Conversion | None:
    if strategy.cast:
        return AS_CONVERTED if strategy.mapping.placed else AS_CAST
    return AS_STORED if strategy.stored else None


def unplaced(by: ColumnMapping) -> ColumnMapping:
    """Return how columns are found where they have no place, as parts of structs."""
    return ColumnMapping.NAME if by.placed and by is not ColumnMapping.PARTS_TOO else by


def in_logs(strategy: ReadStrategy) -> ColumnMapping:
    if strategy.logs is Logs.BY_NAME:
        return ColumnMapping.NAME
    if strategy.logs is Logs.BY_ID or strategy.mapping is ColumnMapping.RENUMBERED:
        return ColumnMapping.ID
    return unplaced(strategy.mapping)


def may_be_partless(field: Field, source: Field | None, by: ColumnMapping) -> bool:
    """Return whether a file has none of the parts of a column, or of something inside it."""
    if source is None or nested(source) is None or nested(field) != nested(source):
        return False
    pairs = _pairs(field, source, by)
    return _lacks_parts(field, source, by) or any(may_be_partless(*pair, by) for pair in pairs)


def without_partless(value: Value, field: Field, source: Field | None, by: ColumnMapping) -> Value:
    """Return what is shown with NULL for each struct or array none of whose parts the file has."""
    if value is None or source is None or nested(field) != nested(source):
        return value
    if _lacks_parts(field, source, by):
        return None
    pairs = _pairs(field, source, by)
    match value:
        case dict():
            return {p.name: without_partless(value[p.name], p, of, by) for p, of in pairs}
        case tuple():
            return tuple(without_partless(element, *pairs[0], by) for element in value)
        case MapValue():
            return MapValue(tuple((k, without_partless(v, *pairs[1], by)) for k, v in value.pairs))
    return value


def _lacks_parts(field: Field, source: Field | None, by: ColumnMapping) -> bool:
    """Return whether a file has no innermost part of a column; a map always has its keys."""
    if source is None:
        return True
    if not isinstance(field.type, Struct | Array) or nested(field) != nested(source):
        return False
    return all(_lacks_parts(*pair, by) for pair in _pairs(field, source, by))


def _pairs(field: Field, source: Field, by: ColumnMapping) -> list[tuple[Field, Field | None]]:
    if isinstance(field.type, Struct):
        return [(child, part_in(source, field, child, by)) for child in field.children]
    return list(zip(field.children, source.children, strict=True))

"""What the truth knows about a judged step: its rows, and everything that was ever written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter

from harness.core.records import Expected, Origin
from harness.judge import text_rows
from harness.judge.difference import NULLS
from harness.model.canonical import Look, MapValue, Value, look_of, same, text_of
from harness.model.conversion import nested_text
from harness.model.datatypes import Struct
from harness.model.query import Query, at
from harness.model.schema import Field, Schema
from harness.model.simulation.row_files import RowFile
from harness.model.truth import History, Row, Rows, Truth, named, row_values


@dataclass(frozen=True)  # no slots: what is derived is kept
class Index:
    """Everything that was ever written."""

    looks: Mapping[Look, tuple[Origin, ...]]
    """Who wrote a value that is not NULL, by how it looks."""
    cells: Mapping[tuple[int, str], Mapping[int, frozenset[Look]]]
    """By field id and key: the looks of the values, NULL too, that each step wrote."""

    @cached_property
    def owned(self) -> Mapping[Look, tuple[str, frozenset[int]]]:
        """The one key that ever had a value, and in which fields, by how the value looks."""
        return {
            look: (origins[0].key, frozenset(origin.field_id for origin in origins))
            for look, origins in self.looks.items()
            if len({origin.key for origin in origins}) == 1
        }


def index_of(history: History) -> Index:
    """List every version of every value: as it was shown when it was written, and ever since."""
    looks: dict[Look, dict[Origin, None]] = {}
    cells: dict[tuple[int, str], dict[int, frozenset[Look]]] = {}
    for truth in history:
        fields = truth.schema.fields
        since = {field.id: _definitions(field, history[truth.step :]) for field in fields}
        sent = (row for row in truth.sent_contested.values() if row is not None)
        for row in (*truth.rows.values(), *truth.failed, *sent):
            written = [field.id for field in fields if row.written.get(field.id) == truth.step]
            for origin, value in (
                form for id_ in written for form in _forms(row, since[id_], truth)
            ):
                by_step = cells.setdefault((origin.field_id, origin.key), {})
                look = look_of(value)
                by_step[origin.step] = by_step.get(origin.step, frozenset()) | {look}
                for look_ in (look, *_as_text(value)) if look not in NULLS else ():
                    looks.setdefault(look_, {})[origin] = None
    return Index({look: tuple(origins) for look, origins in looks.items()}, cells)


def _as_text(value: Value) -> Iterator[Look]:
    # As which a text column may show it.
    if isinstance(value, dict | tuple | MapValue) and value:
        with suppress(ValueError):
            yield nested_text(value)


def _forms(row: Row, since: Sequence[Field], truth: Truth) -> Iterator[tuple[Origin, Value]]:
    """Yield a value and its parts, as shown under each definition its column has had since."""
    key = text_of(row.key)
    for later in since:
        try:
            shown = named(row.of(later), later)
        except ValueError:
            continue  # an overwritten version has no exact form in a type that came after it
        for part, value in _parts(shown, later):
            name = truth.schema.path_of(part.id)
            if name is not None:
                yield Origin(part.id, name, truth.step, key), value


def _definitions(field: Field, history: History) -> tuple[Field, ...]:
    """Return what a column is from a step on, each definition once."""
    result = (truth.schema.by_id(field.id) for truth in history)
    return tuple(dict.fromkeys(field for field in result if field is not None))


def _parts(value: Value, field: Field) -> Iterator[tuple[Field, Value]]:
    """Yield a shown value and all its parts; those of NULL are NULL."""
    yield field, value
    match value:
        case tuple() if field.children:
            for element in value:
                yield from _parts(element, field.children[0])
        case MapValue():
            for _, element in value.pairs:
                yield from _parts(element, field.children[1])
        case dict() | None:
            for child in field.children:
                yield from _parts(value.get(child.name) if value else None, child)


def column_types(schema: Schema, query: Query) -> tuple[tuple[str, str], ...]:
    """Return the columns that answer a query to a table, each with its type, in our words."""
    paths = () if query.count else query.columns or schema.names
    types = [str(schema.find(path).type) for path in paths] or ["long"]
    return tuple(zip(query.labels(schema.names), types, strict=True))


Looks = tuple[tuple[str, Look], ...]
"""A row of an answer: the labels, sorted, each with how its value looks."""


def looks_of(labels: Sequence[str], row: Sequence[Value]) -> Looks:
    """Return a row of an answer as rows are compared: the order of their columns does not count."""
    return tuple(sorted(zip(labels, map(look_of, row), strict=True), key=itemgetter(0)))


@dataclass(frozen=True, slots=True)
class PredictedRows:
    """The rows that a read strategy gives, with whose each value is."""

    keys: Mapping[Looks, Sequence[str]]
    """The texts of the keys of all rows that look the same."""
    origins: Mapping[tuple[str, str], Origin]
    """Whose value stands in a row, by its key's text, under a dotted name; none where the file has
    nothing that could be read there."""

    def owners(self, labels: Sequence[str], rows: Sequence[Sequence[Value]]) -> list[str]:
        """Return the key's text of each row; those of rows that look the same in any order.

        Raises LookupError: they are not these rows.
        """
        left = {looks: list(keys) for looks, keys in self.keys.items()}
        return [left[looks_of(labels, row)].pop() for row in rows]


@dataclass(frozen=True)  # no slots: what is derived is kept
class ExpectedState:
    """What checks may ask: the history up to the judged step, and what was ever written."""

    history: History
    index: Index
    rows: Rows
    """The rows that the judged view should show to the question."""
    left_out: Rows = field(default_factory=dict)
    """The rows of the view that the question's predicate leaves out."""
    row_files: Mapping[str, Sequence[RowFile]] = field(default_factory=dict)
    """The files which hold a row now, by the text of its key; empty when that is not known."""
    base: Rows | None = None
    """The rows that base files hold, as the files tell; None for as the model lays them out."""
    newer: Sequence[Rows] | None = None
    """The rows that the question asks for of each table that came after the judged one: of now,
    where the view shows base files alone, of each later step, where it goes back to an earlier one;
    None where it shows what is now."""
    later: History = ()
    """What came after the judged step until the question was asked, where the view goes back."""
    predicted: PredictedRows | None = None
    """What the answer's rows were read from, where that is known of all of them."""
    catalog: int | None = None
    """The step by whose schema the answer was read, where that is not the judged one, and known."""

    @cached_property
    def keys(self) -> Mapping[str, Row]:
        return {text_of(row.key): row for row in self.rows.values()}

    @cached_property
    def structs(self) -> frozenset[int]:
        """Return the ids of all fields that ever were structs."""
        fields = (f for truth in (*self.history, *self.later) for f in truth.schema.walk())
        return frozenset(field.id for field in fields if isinstance(field.type, Struct))

    @cached_property
    def text_lines(self) -> Mapping[str, Sequence[text_rows.Line]]:
        """What a text file has of each row whose texts hold its signs, by the text of its key."""
        lines = (
            (key, text_rows.lines_of(self.shown(row).values())) for key, row in self.keys.items()
        )
        return {key: of_row for key, of_row in lines if of_row}

    @cached_property
    def in_base_files(self) -> Mapping[str, Row]:
        base = self.history[-1].base if self.base is None else self.base
        return {text_of(row.key): row for row in base.values()}

    @cached_property
    def _shown(self) -> dict[int, tuple[Row, Mapping[str, Value]]]:
        return {}

    def shown(self, row: Row) -> Mapping[str, Value]:
        """Return a row's values by the names of the columns, as readers should show them.

        What a later step wrote may have no form in the type of then: it stands as it is.
        """
        if id(row) not in self._shown:
            values = dict[str, Value]()
            for column in self.schema.fields:
                value = row.of(column)
                with suppress(ValueError):
                    value = named(value, column)
                values[column.name] = value
            self._shown[id(row)] = row, values
        return self._shown[id(row)][1]

    def right_values(self, row: Row, names: Sequence[str], actual: Sequence[Value]) -> int:
        expected = self.shown(row)
        return sum(
            name.partition(".")[0] in expected and same(at(expected, name), value)
            for name, value in zip(names, actual, strict=True)
        )

    def narrowed(self, query: Query) -> ExpectedState:
        """Return the state of which only the rows that a query asks for should be seen."""

        def asked(rows: Rows) -> Rows:
            return {key: row for key, row in rows.items() if query.takes(self.shown(row))}

        if not query.conditions:
            return self
        rows = asked(self.rows)
        others = {key: row for key, row in self.rows.items() if key not in rows}
        newer = self.newer and tuple(map(asked, self.newer))
        return replace(self, rows=rows, left_out={**self.left_out, **others}, newer=newer)

    def table(self, query: Query) -> Expected:
        schema, rows = self.schema, sorted(self.rows.values(), key=lambda row: text_of(row.key))
        shown = query.answer(schema.names, [row_values(row, schema) for row in rows])
        return Expected(column_types(schema, query), tuple(shown))

    @property
    def schema(self) -> Schema:
        return self.history[-1].schema

    @property
    def key_id(self) -> int:
        return self.history[0].column_id(self.history[0].table.key)

    @property
    def step(self) -> int:
        return self.history[-1].step

    @property
    def now(self) -> Truth:
        # When the question was asked.
        return (self.later or self.history)[-1]

    def at(self, step: int) -> Truth:
        return (*self.history, *self.later)[step]

    def names_of(self, field_id: int) -> tuple[str, ...]:
        """Return the dotted paths that a field has had, oldest first."""
        paths = (truth.schema.path_of(field_id) for truth in self.history)
        return tuple(dict.fromkeys(path for path in paths if path))

    def stored_names_of(self, field_id: int, key: str) -> frozenset[str]:
        """Return the dotted paths of a field under which files hold its value of a row, or may.

        Files that are not known hold the version of the newest base file and all later ones, each
        under the name of its time or, written again, of a later one.
        """
        versions = self.index.cells.get((field_id, key), {})
        if key not in self.row_files:
            in_base = self.in_base_files.get(key)
            since = in_base.written.get(self.root_of(field_id), 0) if in_base else 0
            written_at = (at for at, looks in versions.items() if looks != NULLS)
            steps = [at for at in written_at if since <= at <= self.step]
            times = self.history[min(steps) :] if steps else ()
            paths = (truth.schema.path_of(field_id) for truth in times)
            return frozenset(path for path in paths if path)
        result = set[str]()
        for row_file in self.row_files[key]:
            written = max((at for at in versions if at <= row_file.step), default=None)
            path = self.history[row_file.step].schema.path_of(field_id)
            if path and written is not None and versions[written] != NULLS:
                result |= row_file.stored_as(path)
        return frozenset(result.intersection(self.names_of(field_id)))

    def root_of(self, field_id: int) -> int:
        """Return the id of the column that a field is, or is a part of."""
        for truth in reversed(self.history):
            for column in truth.schema.fields:
                if any(field.id == field_id for field in column.walk()):
                    return column.id
        return field_id

    def step_naming(self, names: Iterable[str], parent: Field | None = None) -> int | None:
        """Return the latest earlier step with exactly these columns, or children of a struct.

        A view that goes back may show those of a later step. Where both an earlier and a later one
        had them, how the answer was read tells which of the two it is; None where it does not.
        """
        sorted_names = sorted(names)

        def had(truth: Truth) -> bool:
            there = truth.schema.by_id(parent.id) if parent else None
            siblings = truth.schema.fields if parent is None else there.children if there else ()
            return sorted(sibling.name for sibling in siblings) == sorted_names

        newest = (next(filter(had, reversed(t)), None) for t in (self.history[:-1], self.later))
        result = [truth.step for truth in newest if truth is not None]
        if len(result) > 1 and self.catalog is not None:
            return result[self.catalog > self.step]
        if not result and parent is None:
            return self.catalog
        return result[0] if len(result) == 1 else None

    def had_columns(self, names: Collection[str]) -> bool:
        """Return whether the table has, or had in an earlier or a later step, exactly these."""
        return any(
            sorted(truth.schema.names) == sorted(names) for truth in (*self.history, *self.later)
        )

    def expected_step(self, field_id: int, key: str) -> int:
        """Return the step that wrote the value which the judged view should show; -1 for none."""
        row = self.keys.get(key)
        return row.written.get(self.root_of(field_id), -1) if row else -1

    def older(self, origin: Origin) -> bool:
        """Return whether a value is of an older version of its row than the one to be shown.

        Older is also what came late, with a smaller ordering value, and does not stand.
        """
        expected = self.expected_step(origin.field_id, origin.key)
        sent = self.history[-1].contested.get(origin.step, {})
        late = origin.step > expected and origin.key in map(text_of, sent)
        return origin.step < expected or late

    def unborn(self, field_id: int) -> bool:
        """Return whether a field came only after the judged step."""
        came = any(truth.schema.by_id(field_id) for truth in self.later)
        return came and not self.names_of(field_id)

    def named_later(self, field: Field) -> bool:
        """Return whether the answer was read by a later schema, where another field is called so.

        In whatever case: who has all names in lower case does not tell them apart.
        """
        if self.catalog is None or self.catalog <= self.step:
            return False
        there, current = self.at(self.catalog).schema, self.schema.path_of(field.id) or ""
        paths = ((field.id, there.path_of(field.id) or "") for field in there.walk())
        return any(at != field.id and path.lower() == current.lower() for at, path in paths)

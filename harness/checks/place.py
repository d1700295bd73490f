"""A wrong place of an answer, and what the truth knows about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from harness.model.canonical import MapValue, Value, text_of
from harness.model.schema import Field, Schema
from harness.model.truth import History, Row, Rows, named
from harness.record import Origin


class What(Enum):
    """The kinds of places that can be wrong."""

    CELL = auto()
    """The value of a column, or of a part of one, in a row."""
    EXTRA_ROW = auto()
    """A row with a key that the truth does not show."""
    SECOND_ROW = auto()
    """Another row with the key of a row that is there already."""
    ABSENT_ROW = auto()
    EXTRA_COLUMN = auto()
    ABSENT_COLUMN = auto()
    COLUMN_TYPE = auto()
    """The type that the engine declares for a column."""


@dataclass(frozen=True, slots=True)
class Place:
    """One wrong place."""

    what: What
    key: str
    column: str
    """Dotted path, empty for a whole row."""
    expected: Value
    found: Value
    field: Field | None = None
    """The field that should be seen here."""
    origin: Origin | None = None
    """Whose value was found, chosen over the whole column; None when nobody's is recognised."""


Index = Mapping[str, tuple[Origin, ...]]
"""Everything that was ever written, by the text of the value."""


def leaves(value: Value, field: Field, path: str) -> Iterator[tuple[str, Field, Value]]:
    """Give the parts of a shown value down to plain ones: path, field, value."""
    match value:
        case dict():
            for child in field.children:
                if child.name in value:
                    yield from leaves(value[child.name], child, f"{path}.{child.name}")
        case tuple() if field.children:
            for at, each in enumerate(value):
                yield from leaves(each, field.children[0], f"{path}[{at}]")
        case MapValue() if len(field.children) > 1:
            for key, each in value.pairs:
                yield from leaves(each, field.children[1], f"{path}[{text_of(key)}]")
        case _:
            yield path, field, value


def index_of(history: History) -> Index:
    """List every version of every value by its text, as it was shown when it was written."""
    found: dict[str, dict[Origin, None]] = {}
    for truth in history:
        for row in truth.rows.values():
            for origin, value in _written_at(row, truth.step, truth.schema):
                if value is not None:
                    found.setdefault(text_of(value), {})[origin] = None
    return {text: tuple(origins) for text, origins in found.items()}


def _written_at(row: Row, step: int, schema: Schema) -> Iterator[tuple[Origin, Value]]:
    for field in schema.fields:
        if row.written.get(field.id) != step:
            continue
        shown = named(row.values.get(field.id), field)
        whole = Origin(field.id, field.name, step, text_of(row.key))
        yield whole, shown
        for _, leaf, value in leaves(shown, field, field.name):
            if leaf is not field:
                name = schema.path_of(leaf.id) or leaf.name
                yield Origin(leaf.id, name, step, text_of(row.key)), value


@dataclass(frozen=True, slots=True)
class World:
    """What checks may ask: the history up to the judged step, and what was ever written."""

    history: History
    index: Index
    rows: Rows
    """The rows that the judged view should show."""

    @property
    def schema(self) -> Schema:
        """The schema of the judged step."""
        return self.history[-1].schema

    def names_of(self, field_id: int) -> tuple[str, ...]:
        """Give the dotted paths that a field has had, oldest first."""
        paths = (truth.schema.path_of(field_id) for truth in self.history)
        return tuple(dict.fromkeys(path for path in paths if path))

    def names_written(self, field_id: int, key: str) -> frozenset[str]:
        """Give the dotted paths under which versions of a row's value were written."""
        root = self.root_of(field_id)
        found = set()
        for truth in self.history:
            for row in truth.rows.values():
                if text_of(row.key) == key and row.written.get(root) == truth.step:
                    found.add(truth.schema.path_of(field_id))
        return frozenset(path for path in found if path)

    def root_of(self, field_id: int) -> int:
        """Give the id of the column that a field is, or is a part of."""
        for truth in reversed(self.history):
            for column in truth.schema.fields:
                if any(each.id == field_id for each in column.walk()):
                    return column.id
        return field_id

    def has_column(self, path: str, step: int) -> bool:
        """Tell whether there was a column at a dotted path after a step."""
        schema = self.history[step].schema
        return any(schema.path_of(field.id) == path for field in schema.walk())

    def expected_step(self, field_id: int, key: str) -> int:
        """Give the step that wrote the value which the judged view should show; -1 for none."""
        row = next((row for row in self.rows.values() if text_of(row.key) == key), None)
        return row.written.get(self.root_of(field_id), -1) if row else -1

    def live(self, field_id: int) -> bool:
        """Tell whether a field is in the schema of the judged step."""
        return self.schema.by_id(field_id) is not None

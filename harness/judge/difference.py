"""A difference of an answer, and what the truth knows about it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from harness.core.records import Origin
from harness.model.canonical import MapValue, Value, look_of, text_of
from harness.model.schema import Field

ROW_ID, UPDATED, OTHER_ID, SIZE = 2147483540, 2147483539, -1, -2
"""Ids of fields of `answer_tables`: the reserved ones of Iceberg, and two of ours."""
ShownRows = Mapping[str, Sequence[tuple[Field, Value]]]
"""What was found in each row, by the text of its key: the columns with their values."""


class DifferenceKind(Enum):
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
    COUNT = auto()
    """The answer to a count: the numbers of rows expected and found, or what came instead."""
    EXTREME = auto()
    """The same of the least or the greatest value of a column."""


VALUES: Final = frozenset({DifferenceKind.CELL, DifferenceKind.EXTREME})
"""Places where one value of a field is found."""
Location = tuple[DifferenceKind, str, str]
"""A wrong place without what was found there: the kind of place, its key and its column."""


@dataclass(frozen=True, slots=True)
class Difference:
    kind: DifferenceKind
    key: str
    column: str
    """Dotted path, empty for a whole row."""
    expected: Value
    actual: Value
    field: Field | None = None
    """The field that should be seen here."""
    origin: Origin | None = None
    """Whose value was found, chosen over the whole column; of a column that is absent or too many,
    the step whose columns were answered. None when nobody's is recognised."""
    disputed: bool = False
    """Several origins fit and nothing decides between them: no name would be more than a guess."""
    file: str = ""
    """What its row was read from, relative to the table's folder; empty where that is not known."""
    folder: str = ""
    """The folder whose name gave the value, relative to the table's; empty where none did, or where
    that is not known."""
    empty: bool = False
    """Whether the whole row came as nothing but NULLs: no column's name can be why."""
    emptied: bool = False
    """Whether its column shows something empty for every NULL, or for all that it has."""
    no_other: bool = False
    """Whether an answer that lacks the column has none too many, which could be it, and whether its
    columns are of no other step."""

    @property
    def of_its_row(self) -> bool:
        """Whether the value found is one of the place's row; an extreme is of any row."""
        if self.origin is None:
            return False
        return self.kind is DifferenceKind.EXTREME or self.origin.key == self.key

    @property
    def of_own_field(self) -> bool:
        return bool(self.origin and self.field and self.origin.field_id == self.field.id)

    @property
    def of_other_field(self) -> bool:
        return bool(self.origin and self.field and self.origin.field_id != self.field.id)

    @property
    def is_count(self) -> bool:
        return self.kind is DifferenceKind.COUNT or bool(self.field and self.field.id == SIZE)

    @property
    def cell(self) -> Field | None:
        return self.field if self.kind is DifferenceKind.CELL else None

    @property
    def location(self) -> Location:
        return self.kind, self.key, self.column

    @property
    def counted(self) -> bool:
        return isinstance(self.actual, int) and not isinstance(self.actual, bool)


NULLS: Final = frozenset({look_of(None)})
"""What a version looks like that is NULL."""


def is_empty(value: Value, field: Field | None) -> bool:
    """Return whether a value is what a field's type has for nothing: no text, elements or parts."""
    parts = {child.name: child for child in field.children} if field else {}
    if isinstance(value, dict):
        return all(part is None or is_empty(part, parts.get(name)) for name, part in value.items())
    return value in (((), MapValue(())) if parts else ("", b""))


def leaves(value: Value, field: Field, path: str) -> Iterator[tuple[str, Field, Value]]:
    """Yield the parts of a shown value down to plain ones: path, field, value."""
    match value:
        case dict():
            for child in field.children:
                if child.name in value:
                    yield from leaves(value[child.name], child, f"{path}.{child.name}")
        case tuple() if field.children:
            for at, element in enumerate(value):
                yield from leaves(element, field.children[0], f"{path}[{at}]")
        case MapValue() if len(field.children) > 1:
            for key, pair in value.pairs:
                yield from leaves(pair, field.children[1], f"{path}[{text_of(key)}]")
        case _:
            yield path, field, value

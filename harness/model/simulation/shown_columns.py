"""What the rows of each file show in each column of a table; most show the same in many ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.model.canonical import MapValue, Value
from harness.model.datatypes import Array, Struct
from harness.model.file_facts import FileFact
from harness.model.schema import Field
from harness.model.simulation.column_resolution import (
    nested,
    part_in,
    shown,
    shown_as_cast,
    shown_as_converted,
    shown_as_stored,
)
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from harness.model.truth import Row

ShowValue = Callable[[Row, Field, Field | None, ColumnMapping], Value]
"""Gives what a row shows under a table's column, of the column of its file that is taken for it."""


class ShownColumns:
    """The columns of files as they are shown; each is worked out once."""

    def __init__(self, rows: Mapping[int, Sequence[tuple[str, Row]]]) -> None:
        """`rows`: those of each file, by its `id`, each with its key's text."""
        self._rows = rows
        self._shown: dict[
            tuple[int, int, int, ColumnMapping, ShowValue, bool], Sequence[Value]
        ] = {}

    def of(
        self,
        fact: FileFact,
        field: Field,
        source: Field | None,
        by: ColumnMapping,
        show: ShowValue,
        *,
        partless: bool = False,
    ) -> Sequence[Value]:
        """Return what is shown of a file's rows in a column.

        `partless`: whether structs without a part in the file are NULL.
        """
        by = unplaced(by)
        # The fields are those of the history's schemas and of META: they live as long as this does.
        at = id(fact), id(field), id(source), by, show, partless
        if at not in self._shown:
            values = [show(row, field, source, by) for _, row in self._rows[id(fact)]]
            if partless and may_be_partless(field, source, by):
                values = [without_partless(value, field, source, by) for value in values]
            self._shown[at] = values
        return self._shown[at]


def show_of(way: ReadStrategy) -> ShowValue:
    """Return what gives the values of base files to a reader of a way."""
    if way.stored:
        return shown_as_stored
    if way.cast:
        return shown_as_converted if way.mapping.placed else shown_as_cast
    return shown


def unplaced(by: ColumnMapping) -> ColumnMapping:
    """Return how columns are found where they have no place, as parts of structs."""
    return ColumnMapping.NAME if by.placed and by is not ColumnMapping.PARTS_TOO else by


def in_logs(way: ReadStrategy) -> ColumnMapping:
    """Return how a reader of a way finds columns in log files."""
    if way.logs is Logs.BY_NAME:
        return ColumnMapping.NAME
    if way.logs is Logs.BY_ID or way.mapping is ColumnMapping.RENUMBERED:
        return ColumnMapping.ID
    return unplaced(way.mapping)


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
            return {
                pair.name: without_partless(value[pair.name], pair, of, by) for pair, of in pairs
            }
        case tuple():
            return tuple(without_partless(each, *pairs[0], by) for each in value)
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
    """Return the parts of a column, each with that of the file which is taken for it."""
    if isinstance(field.type, Struct):
        return [(child, part_in(source, field, child, by)) for child in field.children]
    return list(zip(field.children, source.children, strict=True))

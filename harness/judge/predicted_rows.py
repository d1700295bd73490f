"""Which file and column each row of an answer was read from, by a way of reading that gives it.

Values that the model never made, such as Hudi's own of each row, do not tell whose they are. The
way that reproduces the whole answer does, place by place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from harness.core.records import Origin
from harness.model.canonical import Look, Value, look_of
from harness.model.datatypes import Struct
from harness.model.query import Query, at
from harness.model.schema import Field
from harness.model.simulation.late_versions import SimulatedRow
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ReadStrategy
from harness.model.truth import History

Looks = tuple[tuple[str, Look], ...]
"""A row of an answer: the labels, sorted, each with how its value looks."""


@dataclass(frozen=True, slots=True)
class PredictedRows:
    """The rows that a way of reading gives, with whose each value is."""

    keys: Mapping[Looks, Sequence[str]]
    """The texts of the keys of all rows that look alike."""
    origins: Mapping[tuple[str, str], Origin]
    """Whose value stands in a row, by its key's text, under a dotted name; none where the file has
    nothing that could be read there."""

    def owners(self, labels: Sequence[str], rows: Sequence[Sequence[Value]]) -> list[str]:
        """Return the key's text of each row; rows that look alike are told in any order.

        Raises:
            LookupError: they are not these rows.

        """
        left = {looks: list(keys) for looks, keys in self.keys.items()}
        return [left[looks_of(labels, row)].pop() for row in rows]


def predict_rows(
    reading: Simulation,
    strategy: ReadStrategy,
    query: Query,
    labels: Sequence[str],
    history: History,
) -> PredictedRows:
    """Return the rows that a reader of a way answers to a query that is no count."""
    keys: dict[Looks, list[str]] = defaultdict(list)
    origins: dict[tuple[str, str], Origin] = {}
    names, asked = reading.schema(strategy).names, {label.partition(".")[0] for label in labels}
    of_each = reading.asked(strategy, query)
    for row in reading.rows(strategy, query.conditions) if of_each else ():
        values = dict(zip(names, row.values, strict=True))
        if of_each and of_each.takes(values):
            keys[looks_of(labels, [at(values, path) for path in labels])].append(row.key)
            for field, source in reading.sources(strategy, row.file):
                if field.name in asked:
                    origins_of_row = _of(row, field, source, history, values[field.name])
                    origins |= {(row.key, path): origin for path, origin in origins_of_row}
    return PredictedRows(keys, origins)


def looks_of(labels: Sequence[str], row: Sequence[Value]) -> Looks:
    """Return a row of an answer as rows are compared: the order of their columns does not count."""
    return tuple(sorted(zip(labels, map(look_of, row), strict=True), key=itemgetter(0)))


def _of(
    shown: SimulatedRow, field: Field, source: Field | None, history: History, value: Value
) -> Iterator[tuple[str, Origin]]:
    """Yield whose value a column shows in a row, and so for the parts of structs, by their names.

    A NULL where the file has a value is nobody's: the value was lost on the way.
    """
    if source is None:
        return
    written = shown.row.written
    step = written.get(source.id, max(written.values(), default=0))
    for path, each, stored in _pairs(field.name, field, source, shown.row.of(source)):
        if stored is None or at({field.name: value}, path) is not None:
            name = history[step].schema.path_of(each.id) or each.name
            yield path, Origin(each.id, name, step, shown.key)


def _pairs(
    path: str, field: Field, source: Field, stored: Value
) -> Iterator[tuple[str, Field, Value]]:
    """Yield whose the value under each path is; the NULL of a whole is that of all its parts."""
    yield path, source, stored
    if not isinstance(field.type, Struct):
        return
    there = {child.name: child for child in source.children if isinstance(source.type, Struct)}
    for part in field.children:
        stored_part, where = there.get(part.name), f"{path}.{part.name}"
        if stored_part is not None:
            value = stored.get(stored_part.id) if stored is not None else None
            yield from _pairs(where, part, stored_part, value)
        elif stored is None:
            yield from _pairs(where, part, source, None)

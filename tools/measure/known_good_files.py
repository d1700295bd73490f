"""What a table's files hold, read in ways that differ from the right one, without the judge.

Every value comes from what was read directly of the files when a state was recorded, not from what
the truth says that they hold. Of the truth only the schema after each step is used: which name a
column had when a file was written, and which it has now.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Final

from harness.core.records import FileValues, StateRecord
from harness.judge.case import READ_OPTIMIZED, Case
from harness.judge.standard import Standard, Standards
from harness.model.canonical import MapValue, Value
from harness.model.conversion import convert
from harness.model.datatypes import Array, Map, Struct
from harness.model.file_facts import FileFact, FileKind
from harness.model.query import Query
from harness.model.schema import Field
from harness.model.simulation import physical_values as stored
from harness.model.simulation.column_resolution import slices
from harness.model.simulation.matching import TableLook, table_of
from harness.model.simulation.milliseconds import cut
from tests.builders import replay
from tests.builders.recordings import Recorded

META: Final = 5
"""So many columns Hudi's base files begin with that are its own."""
AT_ONCE: Final = 3
"""So many things are done otherwise at most."""
MILLISECOND: Final = 1000


@dataclass(frozen=True, slots=True)
class Deviation:
    """What a reader does otherwise than the right one."""

    undeleted: bool = False
    base_only: bool = False
    parts_by_name: bool = False
    columns_by_name: bool = False
    to_1970: bool = False
    counted: bool = False
    stored: bool = False
    thousandths: bool = False
    nothing: bool = False

    def __str__(self) -> str:
        return " and ".join(SAID[each.name] for each in fields(self) if getattr(self, each.name))


SAID: Final = {
    "undeleted": "rows that delete files name are not left out",
    "base_only": "log files are left out",
    "parts_by_name": "parts of structs are found by name",
    "columns_by_name": "columns are found by name",
    "to_1970": "timestamps are cut to milliseconds towards 1970",
    "counted": "columns are found by position, Hudi's own counted",
    "stored": "numbers are taken as the files store them",
    "thousandths": "numbers are taken for milliseconds since 1970",
    "nothing": "every value is NULL",
}
RIGHT: Final = Deviation()


def others(format_name: str, *, part: bool) -> Iterator[Deviation]:
    """Yield the ways to read a format's tables otherwise, those that do least first.

    `part`: whether of a column that was asked alone, which may come as nothing but NULLs.
    """
    hudi = format_name.startswith("hudi")
    left = {"undeleted"} if hudi else {"base_only", "counted", "stored", "thousandths"}
    names = [each for each in SAID if each not in left and (part or each != "nothing")]
    for number in range(1, AT_ONCE + 1):
        for some in combinations(names, number):
            yield Deviation(**dict.fromkeys(some, True))


@dataclass(frozen=True, slots=True)
class Stored:
    """A row as a file holds it."""

    file: FileFact
    key: str
    step: int
    """The step that wrote the file."""
    values: Mapping[str, Value]
    """By the names that the file gives."""
    meta: Sequence[Value]
    """Hudi's own; nothing where they are not recorded."""


class Files:
    """The files of a recorded variant, and what is in them."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self._values: dict[FileFact, FileValues] = {}
        for state in recorded.states:
            for each in state.values:
                self._values.setdefault(state.files[each.file], each)

    @cached_property
    def case(self) -> Case:
        """The variant; of its truth the schemas are used."""
        return replay.case_of(self.recorded)

    @cached_property
    def standard(self) -> Standard:
        """What is expected of a product that shows all that was written."""
        return Standards(self.case).written

    def state(self, step: int) -> StateRecord:
        """Return the state after a step."""
        return self.case.state_of[step]

    def read(self, step: int, view: str) -> tuple[FileFact, ...]:
        """Return the files that a view is read from."""
        files = self.state(step).files
        only = view == READ_OPTIMIZED
        return tuple(each for each in files if not only or each.kind is FileKind.BASE)

    def written(self, fact: FileFact) -> int:
        """Return the step that wrote a file."""
        known = dict(self.case.instants)
        for state in self.recorded.states:
            known.update(state.others)
        return known[fact.instant]

    def rows(self, step: int, view: str, deviation: Deviation = RIGHT) -> Iterator[Stored]:
        """Yield the rows that a reader finds: newer versions replace older ones of a file group."""
        made = self.case.made(step)
        for base, logs in slices(self.read(step, view), made):
            found: dict[str, Stored] = {}
            for fact in (base, *(() if deviation.base_only else logs)):
                if fact is not None:
                    for key in () if deviation.undeleted else fact.deleted:
                        found.pop(key, None)
                    found |= {row.key: row for row in self.held(fact)}
            yield from found.values()

    def held(self, fact: FileFact) -> Iterator[Stored]:
        """Yield the rows of one file; none of a file that was not looked at."""
        found = self._values.get(fact, FileValues(0))
        meta = found.meta or ((),) * len(found.rows)
        for key, row, own in zip(fact.keys, found.rows, meta, strict=False):
            values = dict(zip(found.columns, row, strict=True))
            yield Stored(fact, key, self.written(fact), values, own)

    def table(
        self, step: int, view: str, query: Query, reader: str, deviation: Deviation = RIGHT
    ) -> TableLook:
        """Return what a reader answers, as answers are compared."""
        schema = self.case.history[step].schema
        rows = [
            self.shown(row, step, reader, deviation) for row in self.rows(step, view, deviation)
        ]
        labels = [name.casefold() for name in query.labels(schema.names)]
        return table_of(labels, query.answer(schema.names, rows))

    def shown(self, row: Stored, step: int, reader: str, deviation: Deviation) -> list[Value]:
        """Return a row as it is shown under the table's columns after a step."""
        truth = self.case.history[step]
        partition = truth.table.partition_by
        places = [each for each in truth.schema.names if each not in partition]
        found = []
        for field in truth.schema.fields:
            if deviation.counted and row.meta and field.name in places:
                value = self._counted(row, places.index(field.name), field, deviation)
            else:
                value = self._value(row, field, deviation)
            value = None if deviation.nothing else value
            found.append(_timestamps(value, _how(reader, deviation)))
        return found

    def _counted(self, row: Stored, place: int, field: Field, deviation: Deviation) -> Value:
        """Return what stands at a place of a file, its first columns being Hudi's own."""
        if place < META:
            return row.meta[place]
        name, value = tuple(row.values.items())[place - META]
        source = self.case.history[row.step].schema.find(name).type
        if deviation.thousandths and isinstance(value, int) and str(field.type) == "timestamp":
            return stored.taken(value * MILLISECOND, field.type)
        if deviation.stored and value is not None and stored.otherwise(source, field.type):
            return stored.taken(value, field.type)
        return value

    def _value(self, row: Stored, field: Field, deviation: Deviation) -> Value:
        then = self.case.history[row.step].schema
        own = (
            next((each for each in then.fields if each.name == field.name), None)
            if deviation.columns_by_name
            else then.by_id(field.id)
        )
        return None if own is None else _formed(row.values.get(own.name), own, field, deviation)


def _formed(value: Value, then: Field, now: Field, deviation: Deviation) -> Value:
    """Bring a value of a file under the table's names and types."""
    match now.type:
        case Struct() if isinstance(value, dict):
            by_name = deviation.parts_by_name
            parts = {(each.name if by_name else each.id): each for each in then.children}
            pairs = ((each, parts.get(each.name if by_name else each.id)) for each in now.children)
            return {
                each.name: _formed(value.get(own.name), own, each, deviation) if own else None
                for each, own in pairs
            }
        case Array() if isinstance(value, tuple):
            own, new = then.children[0], now.children[0]
            return tuple(_formed(each, own, new, deviation) for each in value)
        case Map() if isinstance(value, MapValue):
            (_, own), (_, new) = then.children, now.children
            return MapValue.of([(k, _formed(v, own, new, deviation)) for k, v in value.pairs])
    if value is None or str(then.type) == str(now.type):
        return value
    return convert(value, now.type)


def _how(reader: str, deviation: Deviation) -> Callable[[datetime.datetime], Value] | None:
    if deviation.to_1970:
        return cut
    # PrestoDB holds milliseconds and cuts towards the past: declared, and no finding.
    return _floored if reader.startswith("prestodb") else None


def _floored(value: datetime.datetime) -> datetime.datetime:
    return value.replace(microsecond=value.microsecond // MILLISECOND * MILLISECOND)


def _timestamps(value: Value, how: Callable[[datetime.datetime], Value] | None) -> Value:
    match value:
        case datetime.datetime() if how is not None:
            return how(value)
        case tuple():
            return tuple(_timestamps(each, how) for each in value)
        case dict():
            return {name: _timestamps(each, how) for name, each in value.items()}
        case MapValue():
            return MapValue.of([(k, _timestamps(v, how)) for k, v in value.pairs])
    return value

"""A scenario on its way to be the smallest one, and what can be taken away from it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from harness import formats
from harness.core.problems import Problems
from harness.core.yaml_reader import Document
from harness.judge.recorded_variant import SNAPSHOT
from harness.model.canonical import text_of
from harness.model.datatypes import DataType, Struct
from harness.model.schema import Schema, Table, schema_of
from harness.run.load_run import WRITE
from harness.scenario import semantics
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, DropColumn, MoveColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, InsertWithout, Rewrites, Touch, Update
from harness.scenario.operations.write_frame import WriteFrame

DIGITS = 8
"""Of a candidate's digest, in the name of its variant."""
ROW_KEYS = ("keys", "update", "insert", "delete")
"""The fields of operations that name rows by their keys."""

NumberedStep = tuple[int, Operation]


@dataclass(frozen=True)
class Candidate:
    """A table that may be written and asked about; the question is asked after its last step."""

    scenario: Scenario
    format: str
    settings: Mapping[str, str]
    """Those that the format knows."""
    writers: tuple[str, ...]
    """The distribution that writes each step, the creation first."""
    numbers: tuple[int, ...]
    """The number that each step had at the beginning, by which reductions name it."""

    @cached_property
    def key(self) -> str:
        """Equal for candidates that are the same table written by the same writers."""
        scenario = self.scenario
        facts = scenario.name, scenario.table, self.operations, self.format, self.writers
        text = repr((facts, sorted(self.settings.items())))
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(step.operation for step in self.scenario.steps)

    @property
    def numbered(self) -> list[NumberedStep]:
        return list(zip(self.numbers, self.operations, strict=True))

    @property
    def size(self) -> tuple[int, int, int, int]:
        """Steps, columns with their parts, rows that are named, settings: smaller is simpler."""
        table = self.scenario.table
        rows = sum(
            operation.rewrites not in {None, Rewrites.NONE}
            if isinstance(operation, Touch)
            else len(list(rows_of(operation, table.key)))
            for operation in self.operations
        )
        return len(self.numbers), schema_of(table.columns).last_id, rows, len(self.settings)

    @property
    def variant(self) -> Variant:
        name = f"{self.scenario.name}[{self.format},{self.key}]@{self.writers[0]}"
        return Variant(name, self.scenario, self.format, self.settings, self.writers)

    def with_steps(self, steps: Sequence[NumberedStep]) -> Candidate | None:
        """Return it with these steps; None without its last one, whose effect is looked at."""
        numbers = tuple(number for number, _ in steps)
        if not numbers or numbers[-1] != self.numbers[-1]:
            return None
        writers = dict(zip((0, *self.numbers), self.writers, strict=True))
        before = dict(zip(self.numbers, self.scenario.steps, strict=True))
        made = tuple(Step(operation, by=before[number].by) for number, operation in steps)
        return replace(
            self,
            scenario=replace(self.scenario, steps=made),
            numbers=numbers,
            writers=(writers[0], *(writers[number] for number in numbers)),
        )


def begin(variant: Variant, step: int, view: str, known: Sequence[str]) -> Candidate:
    """Return the first candidate: a variant until a step, with no settings but the `known` ones."""
    made = replace(
        variant.scenario,
        steps=tuple(Step(made.operation, by=made.by) for made in variant.scenario.steps[:step]),
        formats=(variant.format,),
        views=(SNAPSHOT if view == WRITE else view,),  # of a step itself, any view will do
        settings={},
        path="",
    )
    settings = {name: value for name, value in variant.settings.items() if name in known}
    numbers = tuple(range(1, step + 1))
    return Candidate(made, variant.format, settings, variant.writers[: step + 1], numbers)


def valid(candidate: Candidate) -> bool:
    """Return whether the loader takes the scenario, and a plan does not leave it out."""
    scenario = candidate.scenario
    if formats.load(candidate.format).unsupported_settings(candidate.settings, scenario):
        return False
    document = Document({}, {}, Problems(scenario.name))
    semantics.check(scenario, document, formats.keeping_case())
    return not document.problems


def rows_of(operation: Operation, key: str) -> Iterator[str]:
    """Yield the keys of the rows that an operation names, as texts."""
    for name in ROW_KEYS:
        yield from map(text_of, getattr(operation, name, ()))
    yield from (text_of(row[key]) for row in getattr(operation, "rows", ()))


Reduction = Callable[[Candidate], Candidate | None]
"""Returns a smaller candidate; None where the step that is looked at would go.

It means the same on every candidate of one search, so several that are harmless each alone can be
tried together. Its result may be no valid scenario.
"""


def reductions(candidate: Candidate) -> Iterator[Reduction]:
    """Yield all that can be taken away: steps, columns, rows, the rest; the last ones first."""
    steps, table = candidate.numbered, candidate.scenario.table
    yield from (partial(without_step, number=number) for number, _ in reversed(steps[:-1]))
    for name, type_ in reversed(table.columns):
        if name != table.key:
            yield from (partial(without_column, path=path) for path in _paths(name, type_))
    for number, operation in steps:
        for path in operation.typed():
            yield partial(without_column, path=path, added_by=number)
    keys = dict.fromkeys(key for _, operation in steps for key in rows_of(operation, table.key))
    yield from (partial(without_row, key=key) for key in reversed(keys))
    for number, operation in steps:
        if isinstance(operation, Touch) and operation.rewrites not in {None, Rewrites.NONE}:
            yield partial(without_rewrites, number=number)
        elif not isinstance(operation, Insert):
            for key in rows_of(operation, table.key):
                yield partial(without_row, key=key, only_in=number)
    yield from (partial(without_setting, name=name) for name in candidate.settings)


def reduced(candidate: Candidate) -> Iterator[tuple[Reduction, Candidate]]:
    """Yield every valid candidate that is one reduction smaller."""
    for reduction in reductions(candidate):
        smaller = reduction(candidate)
        if smaller is not None and smaller.key != candidate.key and valid(smaller):
            yield reduction, smaller


def without_step(candidate: Candidate, number: int) -> Candidate | None:
    """Leave out a step; a column that it renamed has its old name in later steps too."""
    steps = candidate.numbered
    if number not in candidate.numbers:
        return candidate
    at = candidate.numbers.index(number)
    operation, later = steps[at][1], steps[at + 1 :]
    if isinstance(operation, RenameColumn):
        later = _renamed(candidate, at + 1, operation.new_path, operation.name)
    return candidate.with_steps([*steps[:at], *later])


def without_column(candidate: Candidate, path: str, added_by: int = 0) -> Candidate | None:
    """Leave out a column, or a part of one: of the new table, or what a step (its number) added."""
    steps = candidate.numbered
    if not added_by:
        made = candidate.with_steps(_renamed(candidate, 0, path, ""))
        table = _table_without(candidate.scenario.table, path)
        return made and replace(made, scenario=replace(made.scenario, table=table))
    if added_by not in candidate.numbers:
        return candidate
    at = candidate.numbers.index(added_by)
    reduced = steps[at][1].without(path)
    adding = [(added_by, reduced)] if reduced else []
    return candidate.with_steps([*steps[:at], *adding, *_renamed(candidate, at + 1, path, "")])


def without_row(candidate: Candidate, key: str, only_in: int = 0) -> Candidate | None:
    """Leave out a row in all steps, or in one; a step that names no other row goes."""
    steps = []
    for number, operation in candidate.numbered:
        other: Operation | None = operation
        if only_in in {0, number}:
            other = _operation_without_row(operation, key, candidate.scenario.table.key)
        steps += [(number, other)] if other else []
    return candidate.with_steps(steps)


def without_rewrites(candidate: Candidate, number: int) -> Candidate | None:
    """Let a touch add its row and rewrite nothing."""
    touch = Touch(Rewrites.NONE)
    return candidate.with_steps(
        [(at, touch if at == number else operation) for at, operation in candidate.numbered]
    )


def without_setting(candidate: Candidate, name: str) -> Candidate:
    """Leave a setting of the table as the writer has it."""
    settings = {key: value for key, value in candidate.settings.items() if key != name}
    return replace(candidate, settings=settings)


def _operation_without_row(operation: Operation, row: str, key: str) -> Operation | None:
    if row not in rows_of(operation, key):
        return operation
    changed: dict[str, object] = {
        name: tuple(value for value in getattr(operation, name) if text_of(value) != row)
        for name in ROW_KEYS
        if hasattr(operation, name)
    }
    if rows := getattr(operation, "rows", ()):
        changed["rows"] = tuple(values for values in rows if text_of(values[key]) != row)
    return replace(operation, **changed) if any(changed.values()) else None  # type: ignore[type-var]


def _renamed(candidate: Candidate, begin: int, path: str, other: str) -> list[NumberedStep]:
    """Return steps from `begin` on as if the column had another path, or were not there ("")."""
    steps = []
    before = [truth.schema for truth in candidate.scenario.survey.history]
    for (number, operation), schema in zip(
        candidate.numbered[begin:], before[begin:], strict=False
    ):
        changed = _with_path(operation, schema, path, other) if path else operation
        steps += [(number, changed)] if changed else []
        path, other = _paths_after(operation, path, other)
    return steps


def _paths_after(operation: Operation, path: str, other: str) -> tuple[str, str]:
    """Return both paths after a step, empty once they no longer differ."""
    name = str(getattr(operation, "name", ""))
    if not path or not isinstance(operation, RenameColumn | DropColumn) or not _within(path, name):
        return path, other
    if isinstance(operation, DropColumn) or (other and path == name):
        return "", ""
    moved = operation.new_path
    return moved + path.removeprefix(name), other and moved + other.removeprefix(name)


def _with_path(operation: Operation, schema: Schema, path: str, other: str) -> Operation | None:
    """Return a step for the column at another path; None where it was about that column alone."""
    if isinstance(operation, WriteFrame | InsertWithout):
        return operation if other else operation.without(path)
    if isinstance(operation, Update):
        names = tuple(filter(None, (other if name == path else name for name in operation.set)))
        return replace(operation, set=names) if names else None
    if rows := getattr(operation, "rows", ()):
        changed = tuple(_row_with_path(row, path, other) for row in rows)
        return replace(operation, rows=changed)  # type: ignore[type-var]
    if not operation.CHANGES_SCHEMA:
        return operation
    name = str(getattr(operation, "name", ""))
    if _within(name, path):
        renamed = other + name.removeprefix(path)
        return replace(operation, name=renamed) if other else None  # type: ignore[type-var]
    parent, _, last = path.rpartition(".")
    if isinstance(operation, AddColumn | MoveColumn) and operation.after == last:
        own_parent, _, last_part = name.rpartition(".")
        if own_parent == parent:
            after = other.rpartition(".")[2] or _before(schema, path, last_part)
            return replace(operation, first=not after, after=after or None)
    return operation


def _within(path: str, ancestor: str) -> bool:
    return path == ancestor or path.startswith(f"{ancestor}.")


def _before(schema: Schema, path: str, moved: str) -> str:
    """Return the column before that at a path, other than the one that is moved; "" for none."""
    parent, _, name = path.rpartition(".")
    siblings = schema.find(parent).children if parent else schema.fields
    names = [field.name for field in siblings]
    before = [sibling for sibling in names[: names.index(name)] if sibling != moved]
    return before[-1] if before else ""


def _row_with_path(row: Mapping[str, Any], path: str, other: str) -> dict[str, Any]:
    head, _, rest = path.partition(".")
    if not rest:
        renamed = {other if name == head else name: value for name, value in row.items()}
        return {name: value for name, value in renamed.items() if name}
    if not isinstance(row.get(head), dict):
        return dict(row)
    return {**row, head: _row_with_path(row[head], rest, other.partition(".")[2])}


def _table_without(table: Table, path: str) -> Table:
    """Return a table without a column or a part of one; nothing has the roles of that column."""
    whole = _type_without(Struct(table.columns), path)
    return replace(
        table,
        columns=whole.fields if isinstance(whole, Struct) else (),
        order_by=tuple(name for name in table.order_by if name != path),
        partition_by=tuple(name for name in table.partition_by if name != path),
        options=tuple((n, of) for n, of in table.options if path not in {n, *of.parsed()[0]}),
    )


def _paths(path: str, type_: DataType) -> Iterator[str]:
    yield path
    if isinstance(type_, Struct) and len(type_.fields) > 1:
        for name, child in type_.fields:
            yield from _paths(f"{path}.{name}", child)


def _type_without(type_: DataType, path: str) -> DataType:
    head, _, rest = path.partition(".")
    if not isinstance(type_, Struct):
        return type_
    return Struct(
        tuple(
            (name, _type_without(child, rest) if name == head else child)
            for name, child in type_.fields
            if rest or name != head
        )
    )

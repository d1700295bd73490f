"""Scenarios derived from one: its twin, and the one whose table has partition columns.

Where neighbours have different types, reading a wrong column is an error; where they agree, it is a
silent wrong answer. So the twin makes data columns agree that differ, and differ that agree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from typing import Final

from harness.model.datatypes import NULL_ALONE, DataType, Map, Primitive, with_parts
from harness.model.identifiers import free_name
from harness.model.schema import Field
from harness.model.truth import History
from harness.scenario.definition import Partitioned, Scenario, Step
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.semantics import BINARY

TURN: Final = tuple(map(Primitive, ("string", "int", "double", "date")))


def twin(scenario: Scenario) -> Scenario | None:
    """Return the twin of a scenario, None when nothing would change.

    Data columns take the type of the first one; if they all agree already, they take those of
    `TURN`, added columns after the ones of the table. Key, ordering and partition columns, those of
    partition fields, those with options, those whose type changes and those with explicit values
    keep theirs. Of
    columns with parts the innermost take the types, but no keys of maps, and never binary.
    """
    history = scenario.survey.history
    leaves = list(_leaves(scenario, history))
    if len({leaf.type for leaf in leaves}) > 1:
        first = leaves[0].type
        alone = {field.id for truth in history for field in truth.schema.fields}
        retyped = [leaf for leaf in leaves if first != BINARY or leaf.id in alone]
        types: Mapping[int, DataType] = {leaf.id: first for leaf in retyped}
    else:
        types = {leaf.id: type_ for leaf, type_ in zip(leaves, cycle(TURN), strict=False)}
    if all(types.get(leaf.id, leaf.type) == leaf.type for leaf in leaves):
        return None
    columns = tuple((field.name, _retyped(field, types)) for field in history[0].schema.fields)
    steps = tuple(
        _step(step, history, number, types) for number, step in enumerate(scenario.steps, start=1)
    )
    return replace(scenario, table=replace(scenario.table, columns=columns), steps=steps)


def _leaves(scenario: Scenario, history: History) -> Iterator[Field]:
    """Yield the leaves of data columns: of the table first, then of added columns."""
    done = _explicit(scenario, history) | _changing(history) | _framed(scenario, history)
    done |= {field.source for truth in history for field in truth.spec}
    done |= {history[0].column_id(name) for name in scenario.table.fixed}
    of_options = [f for truth in history for f in truth.schema.fields if f.option is not None]
    done |= {id_ for field in of_options for id_ in (field.id, *field.sources)}
    retyped = {column.id for truth in history for column in truth.schema.fields} - done
    for column in (column for truth in history for column in truth.schema.fields):
        for leaf in _leaves_of(column) if column.id in retyped else ():
            if leaf.id not in done and str(leaf.type) not in NULL_ALONE:
                done.add(leaf.id)
                yield leaf


def _leaves_of(field: Field) -> Iterator[Field]:
    if not field.children:
        yield field
    # Engines differ in what keys of maps they allow.
    for child in field.children[1:] if isinstance(field.type, Map) else field.children:
        yield from _leaves_of(child)


def _changing(history: History) -> set[int]:
    taken: dict[int, set[DataType]] = {}
    for truth in history:
        for field in truth.schema.walk():
            if not field.children:
                taken.setdefault(field.id, set()).add(field.type)
    return {field_id for field_id, types in taken.items() if len(types) > 1}


def _explicit(scenario: Scenario, history: History) -> set[int]:
    numbered = tuple(enumerate(scenario.steps, start=1))
    rows = ((n, row) for n, step in numbered for row in getattr(step.operation, "rows", ()))
    defaults = {
        history[number].column_id(step.operation.name)
        for number, step in numbered
        if isinstance(step.operation, AddColumn) and step.operation.default is not None
    }
    return defaults | {history[number].column_id(name) for number, row in rows for name in row}


def _framed(scenario: Scenario, history: History) -> set[int]:
    """Return the columns to which a DataFrame gives a type that is not the table's."""
    return {
        schema.find(name).id
        for schema, step in zip((truth.schema for truth in history), scenario.steps, strict=False)
        if isinstance(step.operation, WriteFrame)
        for name in step.operation.types or {}
        if schema.has(name)
    }


def _step(step: Step, history: History, number: int, types: Mapping[int, DataType]) -> Step:
    before, after = (history[at].schema for at in (number - 1, number))
    new = {
        path: _retyped(after.find(path), types)
        for path in step.operation.typed()
        if not before.has(path)
    }
    return replace(step, operation=step.operation.with_types(new)) if new else step


def _retyped(field: Field, types: Mapping[int, DataType]) -> DataType:
    if not field.children:
        return types.get(field.id, field.type)
    parts = ((child.name, _retyped(child, types)) for child in field.children)
    return with_parts(field.type, parts)


TypedColumn = tuple[str, DataType]


def partitioned(scenario: Scenario, how: Partitioned) -> Scenario:
    """Return the scenario with partition columns added; the DataFrames of steps end with them.

    Most engines put a partition column last, wherever it was declared; so where it stands decides
    who shifts the columns around it.
    """
    if how is Partitioned.NONE:
        return scenario
    if scenario.table.partition_by:
        raise ValueError(f"{scenario.name}: the table is partitioned already")
    taken = [name for truth in scenario.survey.history for name in truth.schema.names]
    first, second = free_name("p", taken), free_name("q", taken)
    columns, fixed = scenario.table.columns, scenario.table.fixed
    data = [at for at, (name, _) in enumerate(columns) if name not in fixed]
    middle = data[len(data) // 2] if data else len(columns)  # after the first half of the data
    text, number = (first, Primitive("string")), (second, Primitive("int"))
    placed: dict[Partitioned, tuple[tuple[TypedColumn, ...], tuple[str, ...]]] = {
        Partitioned.LAST: ((*columns, text), (first,)),
        Partitioned.MIDDLE: ((*columns[:middle], text, *columns[middle:]), (first,)),
        Partitioned.TWO: ((*columns[:middle], text, *columns[middle:], number), (first, second)),
        Partitioned.TWO_LAST: ((*columns, text, number), (first, second)),
    }
    now, by = placed[how]
    table = replace(scenario.table, columns=now, partition_by=by)
    return replace(
        scenario,
        table=table,
        steps=tuple(_with_partition_columns(step, by) for step in scenario.steps),
    )


def _with_partition_columns(step: Step, by: tuple[str, ...]) -> Step:
    frame = step.operation
    if not isinstance(frame, WriteFrame) or not frame.columns:
        return step
    return replace(step, operation=replace(frame, columns=(*frame.columns, *by)))

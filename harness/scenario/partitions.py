"""A scenario whose table gets partition columns by the axis `partitioned`.

Engines take a partition column's value from the folder's name and most put it last, wherever it
was declared; so where it stands decides who shifts the columns around it.
"""

from __future__ import annotations

from dataclasses import replace

from harness.model.datatypes import DataType, Primitive
from harness.model.identifiers import free_name
from harness.scenario.definition import Partitioned, Scenario, Step
from harness.scenario.operations.write_frame import WriteFrame

TypedColumn = tuple[str, DataType]


def partitioned(scenario: Scenario, how: Partitioned) -> Scenario:
    """Return the scenario with partition columns added; the DataFrames of steps end with them.

    Raises:
        ValueError: its table is partitioned already.

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
    return replace(scenario, table=table, steps=tuple(_step(step, by) for step in scenario.steps))


def _step(step: Step, by: tuple[str, ...]) -> Step:
    frame = step.operation
    if not isinstance(frame, WriteFrame) or not frame.columns:
        return step
    return replace(step, operation=replace(frame, columns=(*frame.columns, *by)))

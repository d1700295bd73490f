"""What people should know of a scenario that is allowed all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from harness.model.canonical import Look, Value, look_of, text_of
from harness.model.schema import Field
from harness.model.truth import History, Row
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations import name_of

MOST: Final = 3
"""So many values of a step are named."""

Places = Mapping[Look, set[tuple[int, int, Value]]]
"""How a value looks, and the (field, step, key) it was written for."""


def notices(scenario: Scenario) -> tuple[str, ...]:
    """Name the explicit values that tell no origin: NULL, and those that stand elsewhere too.

    A wrong cell in which such a value is found can have come from several places.
    """
    done = [True] * len(scenario.steps)
    history = expected_history.history(scenario, merge_on_read=False, applied=done)
    places = _places(history)
    return tuple(
        f"{scenario.path or scenario.name}:{step.line}: step {number} {name_of(step.operation)}: "
        f"{wrong}; allowed, but a wrong cell with it cannot be traced"
        for number, step in enumerate(scenario.steps, start=1)
        for wrong in _shortened([*_in_step(history, number, step, places)])
    )


def _in_step(history: History, number: int, step: Step, places: Places) -> Iterator[str]:
    for given in getattr(step.operation, "rows", ()):
        yield from _untraceable(history, number, given, places)


def _shortened(wrong: list[str]) -> list[str]:
    left = len(wrong) - MOST
    return [*wrong[:MOST], f"{left} more such values"] if left > 1 else wrong


def _places(history: History) -> Places:
    found: dict[Look, set[tuple[int, int, Value]]] = {}
    for truth in history:
        for row in truth.rows.values():
            for field in _traced(truth.schema.fields, truth.table.fixed):
                if field.id in row.values:
                    place = field.id, row.written[field.id], row.key
                    found.setdefault(look_of(row.values[field.id]), set()).add(place)
    return found


def _traced(fields: tuple[Field, ...], fixed: tuple[str, ...]) -> Iterator[Field]:
    return (field for field in fields if field.name not in fixed)


def _untraceable(
    history: History, step: int, given: Mapping[str, Value], places: Places
) -> Iterator[str]:
    truth = history[step]
    row = _row(truth.rows, given[truth.table.key])
    for field in _traced(truth.schema.fields, truth.table.fixed):
        if field.name not in given or row is None:
            continue
        value = row.values[field.id]
        if given[field.name] is None and value is not None:
            continue  # a partial update leaves the value that was there
        others = places[look_of(value)] - {(field.id, step, row.key)}
        if value is None or others:
            why = "" if value is None else ", which stands in another place too"
            yield f"row {row.key}: {field.name} is {text_of(value)}{why}"


def _row(rows: Mapping[Value, Row], key: Value) -> Row | None:
    return next((row for row in rows.values() if text_of(row.key) == text_of(key)), None)

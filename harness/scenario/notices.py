"""What people should know of a scenario that is allowed all the same."""

from collections.abc import Iterator, Mapping
from typing import Final

from harness.model.canonical import Look, Value, look_of, text_of
from harness.model.schema import Field, Schema
from harness.model.truth import History
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations import name_of
from harness.scenario.operations.write_frame import WriteFrame

MOST: Final = 3
"""So many values of a step are named."""

UNTRACED: Final = "allowed, but a wrong answer with it cannot be traced"

Places = Mapping[Look, set[tuple[int, int, Value]]]
"""How a value looks, and the (field, step, key) it was written for."""


def notices(scenario: Scenario) -> tuple[str, ...]:
    """Name the explicit values that tell no origin, NULL and those that stand elsewhere too.

    Renames by a write are named as well.
    """
    history = scenario.truths(merge_on_read=False).history()
    places, renames = _places(history), renames_by_write(scenario)
    return tuple(
        f"{scenario.path or scenario.name}:{step.line}: step {number} {name_of(step.operation)}: "
        f"{notice}"
        for number, step in enumerate(scenario.steps, start=1)
        for notice in (
            *(f"{wrong}; {UNTRACED}" for wrong in _untraced(history, number, step, places)),
            *renames.get(number, ()),
        )
    )


def renames_by_write(scenario: Scenario) -> Mapping[int, tuple[str, ...]]:
    """Say, by the number of a step, which columns of a DataFrame look like renamed ones.

    The table gets a column more, and the old values stay under the old name (apache/hudi#11803).
    """
    history = scenario.survey.history
    return {
        number: tuple(
            f"{new} is an added column and no rename of {old}, under which the old values stay"
            for old, new in _looks_renamed(step.operation, history[number - 1].schema)
        )
        for number, step in enumerate(scenario.steps, start=1)
        if isinstance(step.operation, WriteFrame)
    }


def _looks_renamed(frame: WriteFrame, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield a column that the frame lacks with a new one of its type, each once."""
    lacking = list(frame.lacking(schema))
    for new in frame.added(schema):
        type_ = (frame.types or {}).get(new)
        old = next((text for text in lacking if schema.find(text).type == type_), None)
        if old is not None:
            lacking.remove(old)
            yield old, new


def _untraced(history: History, number: int, step: Step, places: Places) -> list[str]:
    rows = getattr(step.operation, "rows", ())
    wrong = [text for row in rows for text in _untraceable(history, number, row, places)]
    left = len(wrong) - MOST
    return [*wrong[:MOST], f"{left} more such values"] if left > 1 else wrong


def _places(history: History) -> Places:
    result: dict[Look, set[tuple[int, int, Value]]] = {}
    for truth in history:
        for row in truth.rows.values():
            for field in _traced(truth.schema.fields, truth.table.fixed):
                if field.id in row.values:
                    origin = field.id, row.written[field.id], row.key
                    result.setdefault(look_of(row.values[field.id]), set()).add(origin)
    return result


def _traced(fields: tuple[Field, ...], fixed: tuple[str, ...]) -> Iterator[Field]:
    return (field for field in fields if field.name not in fixed)


def _untraceable(
    history: History, step: int, given: Mapping[str, Value], places: Places
) -> Iterator[str]:
    truth = history[step]
    key = text_of(given[truth.table.key])
    row = next((row for row in truth.rows.values() if text_of(row.key) == key), None)
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

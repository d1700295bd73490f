"""The model's truth beside the second opinion, for one history."""

from __future__ import annotations

from harness.model.canonical import MapValue
from harness.model.history import dry_run, types_of
from harness.model.schema import Schema
from harness.model.truth import Generation, History, Row, Rows, Truth, begin, row_values
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from tests.builders import random_story, table_story
from tests.builders.random_story import Plot
from tests.quality import second_opinion
from tests.quality.second_opinion import Seen

Texts = dict[tuple[int, int], str]
"""What a row is under a schema, by the ids of both: most rows stay as they are in most steps."""


def seen(history: History) -> list[Seen]:
    """Return what the model holds after each step in the words of the second opinion."""
    texts: Texts = {}
    return [_seen(truth, texts) for truth in history]


def _seen(truth: Truth, texts: Texts) -> Seen:
    names = tuple((each.name, str(each.type)) for each in truth.schema.fields)
    rows = _rows(truth, truth.rows, texts)
    base = rows if truth.base is truth.rows else _rows(truth, truth.base, texts)
    return Seen(names, rows, base)


def _rows(truth: Truth, rows: Rows, texts: Texts) -> dict[str, str]:
    return {str(key): _text(row, truth.schema, texts) for key, row in rows.items()}


def _text(row: Row, schema: Schema, texts: Texts) -> str:
    at = id(row), id(schema)
    if at not in texts:
        texts[at] = repr(tuple(map(_plain, row_values(row, schema))))
    return texts[at]


def _plain(value: object) -> object:
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple():
            return tuple(map(_plain, value))
        case MapValue():
            return tuple((_plain(key), _plain(part)) for key, part in value.pairs)
    return value


def other(plot: Plot) -> list[Seen]:
    """Return what the second opinion says."""
    return second_opinion.tell(
        plot.columns, plot.steps, mor=plot.mor, partition_by=plot.partition_by
    )


def both(plot: Plot) -> tuple[list[Seen], list[Seen]]:
    """Return what the model and what the second opinion say."""
    return seen(plot.story().history), other(plot)


def agree(seed: int) -> bool:
    """Return whether both say the same after every step, without a disk and further dry runs."""
    plot = random_story.plot(seed)
    table = table_story.table_of(plot.columns, plot.partition_by)
    steps = tuple(Step(table_story.operation(each.split())) for each in plot.steps.split(";"))
    found = expected_history.survey(Scenario("story", table, steps))
    types = types_of(truth.schema for truth in found.history)
    ordinals = {key: at for at, key in enumerate(dict.fromkeys(found.keys), start=1)}
    first = begin(table, Generation(types, ordinals, found.touch_keys), merge_on_read=plot.mor)
    history = dry_run(first, [each.operation for each in steps])
    return not found.wrong and seen(history) == other(plot)

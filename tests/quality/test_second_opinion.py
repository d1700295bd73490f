"""The model's truth and the second opinion are the same, step by step."""

from __future__ import annotations

import pytest

from harness.model.canonical import MapValue
from harness.model.truth import Rows, Truth, row_values
from tests.quality import second_opinion
from tests.quality.chance import Plot, plot
from tests.quality.second_opinion import Seen


def seen(truth: Truth) -> Seen:
    """Say what the model holds in the words of the second opinion."""
    names = tuple((each.name, str(each.type)) for each in truth.schema.fields)
    return Seen(names, _rows(truth, truth.rows), _rows(truth, truth.base))


def _rows(truth: Truth, rows: Rows) -> dict[str, str]:
    return {
        str(key): repr(tuple(map(_plain, row_values(row, truth.schema))))
        for key, row in rows.items()
    }


def _plain(value: object) -> object:
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case tuple():
            return tuple(map(_plain, value))
        case MapValue():
            return tuple((_plain(key), _plain(part)) for key, part in value.pairs)
    return value


def both(plot: Plot) -> tuple[list[Seen], list[Seen]]:
    """Give what the model and what the second opinion say."""
    told = plot.told()
    other = second_opinion.tell(
        plot.columns, plot.steps, mor=plot.mor, partition_by=plot.partition_by
    )
    return [seen(truth) for truth in told.history], other


@pytest.mark.parametrize("block", range(0, 2000, 100))
def test_the_model_and_a_second_opinion_say_the_same_of_any_history(block: int) -> None:
    for seed in range(block, block + 100):
        made = plot(seed)
        model, other = both(made)
        assert model == other, f"seed {seed}: {made}"

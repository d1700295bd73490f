"""The model's truth and the second opinion are the same, step by step."""

from __future__ import annotations

import pytest

from tests.builders.random_story import plot
from tests.quality.opinions import agree, both


@pytest.mark.parametrize("block", range(0, 2000, 100))
def test_the_model_and_a_second_opinion_say_the_same_of_any_history(block: int) -> None:
    for seed in range(block, block + 100):
        made = plot(seed)
        model, other = both(made)
        assert model == other, f"seed {seed}: {made}"


@pytest.mark.parametrize("block", range(2000, 4000, 200))
def test_they_say_the_same_of_many_more_without_files(block: int) -> None:
    assert [seed for seed in range(block, block + 200) if not agree(seed)] == []

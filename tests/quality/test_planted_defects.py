"""Each planted defect, over random histories: always found, and under its right name.

What is right the tokens tell (`shadow`, `oracle`); `make quality` runs the same over many more.
"""

from __future__ import annotations

import pytest

from tests.quality import survey
from tests.quality.defects import DEFECTS, REFUSALS, right
from tests.quality.survey import Result

SEEDS = range(40)
SEEN = {Result.RIGHT, Result.UNDECIDABLE}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_under_its_right_name(name: str) -> None:
    counts, misses = survey.figures(DEFECTS[name], SEEDS)
    assert misses == []
    visible = sum(number for result, number in counts.items() if result in SEEN)
    assert (visible == 0) == DEFECTS[name].harmless


@pytest.mark.parametrize("name", REFUSALS)
def test_no_answer_is_never_a_pass(name: str) -> None:
    assert [seed for seed in range(5) if not right(name, seed)] == []


def test_there_are_many() -> None:
    assert len(DEFECTS) + len(REFUSALS) >= 40

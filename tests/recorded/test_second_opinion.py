"""What libraries that share no code with us showed of recorded states is what the model says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.run import plan_record
from tests.builders.model_errors import PLANTED
from tools import second_opinion

RECORDED = Path(__file__).parent / "second_opinion"


@pytest.fixture(autouse=True)
def evaluated_anew() -> Iterator[None]:
    """What is worked out of a scenario is kept in it: nobody else has these, nor they others'."""
    plan_record._scenario.cache_clear()
    yield
    plan_record._scenario.cache_clear()


def test_each_recorded_state_has_a_second_opinion_and_it_is_that_of_the_model() -> None:
    states, every = second_opinion.compared([RECORDED])
    assert sum(states.values()) == sum(one.opinion.past is None for one in every)
    assert list(second_opinion.unexplained(every)) == []
    assert all(one.has_opinion for one in every)
    assert {one.opinion.reader for one in every} == {*second_opinion.DISTRIBUTIONS}


NOT_RECORDED = {"a partial update writes NULL over what is there"}
"""Noticed by night: no such table is recorded."""


@pytest.mark.parametrize("name", [name for name in PLANTED if name not in NOT_RECORDED])
def test_an_error_of_the_model_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    PLANTED[name](monkeypatch)
    assert second_opinion.disagrees(RECORDED)

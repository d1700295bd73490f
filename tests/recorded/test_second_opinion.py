"""What libraries that share no code with us showed of recorded states is what the model says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.run import plan_record
from harness.scenario.cells import Plan
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


def test_the_page_lists_the_shipped_tables_that_were_not_read() -> None:
    _, every = second_opinion.compared([RECORDED])
    variants = list({one.variant.id: one.variant for one in every}.values())
    other = replace(variants[0], scenario=replace(variants[0].scenario, name="other/story"))
    planned = Plan("p", (variants[0], other), (), ())
    lines = list(second_opinion.not_read(planned, every))
    assert lines[-1] == f"- {other.format}: other/story"
    steps = len(other.scenario.steps) + 1
    assert f"| {other.format} | 2 | 1 | {2 * steps} | {steps} (50 %) |" in lines

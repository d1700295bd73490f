"""Which questions stand for all that a server was asked before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.run.order_search import MOST_SUSPECTS, suspects
from harness.scenario.cells import Cell, Plan
from tests.unit.run.test_second_round import planned

ASKED = "hive-3.1.3{path=fetch}"


def cells(*wanted: tuple[str, int, str]) -> tuple[Cell, ...]:
    return tuple(Cell(variant, step, reader, "snapshot", "all") for variant, step, reader in wanted)


@pytest.mark.parametrize(("step", "stands"), [(1, 1), (2, 2), (3, 2)])
def test_the_newest_question_up_to_the_same_step_stands_for_those_of_reader_and_variant(
    step: int, stands: int
) -> None:
    mine, others = Cell("v", step, ASKED, "snapshot", "all"), range(1, 3)
    before = cells(*(("w", each, "hive-3.1.3") for each in others), ("w", 1, "trino-476"))
    plan = Plan("mine", (), (), (*before, mine))
    assert [(each.variant, each.step) for each in suspects(plan, mine)] == [("w", stands)]


def test_where_nothing_is_about_an_earlier_step_a_later_one_stands() -> None:
    (mine, later) = cells(("v", 1, ASKED), ("w", 2, ASKED))
    assert suspects(Plan("mine", (), (), (mine, later)), mine) == [later]


def test_of_too_many_variants_formats_stand() -> None:
    many = planned(MOST_SUSPECTS + 2)
    one = many.cells[0]
    same = [each for each in many.cells if each.distribution == one.distribution and each != one]
    found = suspects(many, one)
    assert len(found) == len({each.reader for each in same})
    assert suspects(replace(many, cells=()), one) == []

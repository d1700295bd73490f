"""Each difference has one name."""

from __future__ import annotations

import pytest

from harness.core.records import FindingKind
from harness.judge import recorded_by_table
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.name import CHECKS, name_of
from tests.builders.judge_stages import findings
from tests.builders.table_story import history

TOLD = history("insert 1,2; upsert 1; delete 2", "id long, ts long, l array<string>")
WORLD = TOLD.state()


def test_every_finding_is_named_by_a_check_or_about_something_else_than_an_answer() -> None:
    # What two answers tell is no name of a difference, and neither is what a table says of itself.
    others = (FindingKind.ORDER_DEPENDENT, *recorded_by_table.KINDS)
    assert sorted((*CHECKS, *others)) == sorted(FindingKind)


@pytest.mark.parametrize("what", DifferenceKind)
def test_every_place_has_a_name(what: DifferenceKind) -> None:
    assert name_of(Difference(what, "", "", None, None), WORLD) in FindingKind


def test_what_nothing_explains_is_unexplained_and_asked_last() -> None:
    place = Difference(DifferenceKind.CELL, "1", "ts", 202001, 7, TOLD.truth.schema.find("ts"))
    *others, last = CHECKS
    assert last is FindingKind.UNEXPLAINED
    assert not any(CHECKS[kind](place, WORLD) for kind in others)


def test_places_of_one_name_are_one_finding_with_its_columns() -> None:
    field = TOLD.truth.schema.find("l")
    lost = [
        Difference(DifferenceKind.CELL, "1", f"l[{at}]", "x", None, field.children[0])
        for at in range(2)
    ] + [Difference(DifferenceKind.CELL, "1", "ts", 1, None, TOLD.truth.schema.find("ts"))]
    (finding,) = findings(lost, WORLD)
    assert finding.kind is FindingKind.LOST_VALUE
    assert finding.columns == ("l.element", "ts")
    assert [witness.column for witness in finding.places] == ["l[0]", "l[1]", "ts"]
    assert finding.witness == finding.places[0]


def test_findings_come_in_the_order_of_the_names() -> None:
    places = [
        Difference(DifferenceKind.ABSENT_ROW, "1", "", (1, 2), None),
        Difference(DifferenceKind.EXTRA_ROW, "2", "", None, (2, 3)),
        Difference(DifferenceKind.EXTRA_ROW, "9", "", None, (9, None)),
    ]
    found = findings(places, WORLD)
    assert [each.kind.value for each in found] == ["ghost_row", "lost_row", "unexplained"]
    assert found[2].witness.actual == "[9, NULL]"

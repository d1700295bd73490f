"""Names: one file for each, one name for each place."""

from __future__ import annotations

import pkgutil

import pytest

from harness.core.records import NAMES_OF_DIFFERENCES, FindingKind
from harness.judge import checks, recorded_metadata, recorded_schema
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.name import check_of, name_of
from tests.builders.judge_stages import findings
from tests.builders.table_story import history

TOLD = history("insert 1,2; upsert 1; delete 2", "id long, ts long, l array<string>")
WORLD = TOLD.state()


def test_every_finding_has_a_file_and_a_place_in_the_order() -> None:
    files = {iter_module.name for iter_module in pkgutil.iter_modules(checks.__path__)}
    assert files == {kind.value for kind in NAMES_OF_DIFFERENCES}
    # What two answers tell is no name of a place, and neither is what a table says of its schema.
    others = (FindingKind.ORDER_DEPENDENT, *recorded_schema.KINDS, *recorded_metadata.KINDS)
    assert sorted((*NAMES_OF_DIFFERENCES, *others)) == sorted(FindingKind)


@pytest.mark.parametrize("what", DifferenceKind)
def test_every_place_has_a_name(what: DifferenceKind) -> None:
    assert name_of(Difference(what, "", "", None, None), WORLD) in FindingKind


def test_what_nothing_explains_is_unexplained_and_asked_last() -> None:
    place = Difference(DifferenceKind.CELL, "1", "ts", 202001, 7, TOLD.truth.schema.find("ts"))
    assert [kind for kind in NAMES_OF_DIFFERENCES if check_of(kind)(place, WORLD)] == [
        NAMES_OF_DIFFERENCES[-1]
    ]
    assert NAMES_OF_DIFFERENCES[-1] is FindingKind.UNEXPLAINED


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

"""`tools/measure/type_changes.py` tells a change of a column apart from those beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from harness.core.records import Answer, Finding, FindingKind, Part, Refusal, Verdict, VerdictKind
from harness.core.records import Witness as Place
from harness.run.load_run import Run
from tests.builders import sample_run
from tools.measure import type_changes

NO = Refusal("Error", "no")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))


def verdict(kind: VerdictKind, *columns: str) -> Verdict:
    """A verdict with a wrong place in each column."""
    places = tuple(Place("1", column, 1, 2) for column in columns)
    found = Finding(FindingKind.ALTERED_VALUE, columns, places[0], places) if places else None
    blank = Verdict("case", "types/from_int", "v", 3, "reader", "snapshot", "all", kind)
    return replace(blank, findings=(found,) if found else ())


@pytest.mark.parametrize(
    ("place", "path", "word"),
    [
        ("to_long", "to_long", "altered_value (not sure)"),
        ("to_long", "to_double", "right"),
        ("parts.to_long", "parts.to_long", "altered_value (not sure)"),
        ("parts.to_long", "parts.to_double", "right"),
        ("parts", "parts.to_double", "altered_value (not sure)"),
        ("map_long[k]", "map_long.value", "altered_value (not sure)"),
        ("list_long[0]", "list_long.element", "altered_value (not sure)"),
    ],
)
def test_a_wrong_place_is_of_the_column_that_it_is_in(
    run: Run, place: str, path: str, word: str
) -> None:
    assert type_changes.of_column(run, verdict(VerdictKind.WRONG, place), path) == word


def test_of_a_refused_answer_the_columns_that_were_asked_alone_tell(run: Run) -> None:
    parts = (Part("to_long", "select"), Part("parts", "select", refusal=NO))
    answer = Answer("case", "select", refusal=NO, parts=parts)
    asked, refused = replace(run, answers={"case": answer}), verdict(VerdictKind.REFUSED)
    assert type_changes.of_column(asked, refused, "to_long") == "right"
    assert type_changes.of_column(asked, refused, "parts.to_long") == "refused"
    assert type_changes.of_column(asked, refused, "to_date") == "refused"


def test_what_was_not_asked_or_not_answered_is_never_right(run: Run) -> None:
    kinds = (VerdictKind.UNSUPPORTED, VerdictKind.UNKNOWN)
    told = [type_changes.of_column(run, verdict(each), "to_long") for each in kinds]
    assert told == ["", "unknown"]


def test_what_the_document_says_otherwise_is_bold() -> None:
    found = {("long", "float"): Counter({True: 3}), ("long", "int"): Counter({False: 3})}
    mixed = {("long", "string"): Counter({True: 1, False: 2})}
    assert type_changes.said(found, "long", "float") == "**allowed**"
    assert type_changes.said(found, "long", "int") == "refused"
    assert type_changes.said(mixed, "long", "string") == "**allowed (1), refused (2)**"
    assert type_changes.said(found, "long", "date") == "-"


def test_a_run_without_the_scenarios_has_no_changes(run: Run) -> None:
    assert not type_changes.allowed([run, run])

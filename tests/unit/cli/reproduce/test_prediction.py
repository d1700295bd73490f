"""What the model says a reader of a known strategy shows is what a simulated one does show."""

from __future__ import annotations

import pytest

from harness.cli.reproduce import prediction
from harness.cli.reproduce.causes import Sign
from harness.core.records import Refusal
from harness.core.refusals import OTHER_TYPE
from tests.builders.candidates import candidate_of, seen_by
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import history

MOVED = "insert 1..6; touch all; upsert 2; move f1 after f2"


@pytest.mark.parametrize("mapping", ["name", "position"])
@pytest.mark.parametrize("seed", range(6))
def test_every_sign_of_a_simulated_reader_of_that_strategy_is_predicted(
    seed: int, mapping: str
) -> None:
    candidate = candidate_of(story_of_seed(seed))
    for sign in seen_by(Reader(mapping), candidate):
        if prediction.predictable(sign, "snapshot"):
            assert prediction.shows(candidate, sign, "snapshot", "all"), sign


def test_what_a_reader_of_another_strategy_shows_is_not_predicted() -> None:
    candidate = candidate_of(history(MOVED))
    for strategy in ("by id", "by name"):
        assert not prediction.shows(candidate, Sign("misaligned", (strategy,)), "snapshot", "all")
    assert prediction.shows(candidate, Sign("misaligned", ("by position",)), "snapshot", "all")


@pytest.mark.parametrize(
    ("kind", "strategies", "view"),
    [
        ("misaligned", (), "snapshot"),
        ("misaligned", ("by name", "by position"), "snapshot"),
        ("refused X", ("it is too late",), "snapshot"),
        ("unexplained", ("by position",), "snapshot"),
        ("misaligned", ("by position, Hudi's meta columns counted, base files only",), "snapshot"),
        ("misaligned", ("by id, three of Hudi's columns under others",), "snapshot"),
        (
            "misaligned",
            ("by name, log files by id, record keys from the third column",),
            "snapshot",
        ),
        ("misaligned", ("by position",), "incremental"),
    ],
)
def test_what_no_model_knows_is_not_predicted(
    kind: str, strategies: tuple[str, ...], view: str
) -> None:
    assert not prediction.predictable(Sign(kind, strategies), view)
    assert prediction.predictable(Sign("misaligned", ("by position",)), "as_of")


def test_an_error_is_predicted_where_its_strategy_meets_a_column_of_another_type() -> None:
    refusal = Refusal("GENERIC_INTERNAL_ERROR", "io.trino.spi.type.VarcharType")
    sign = Sign("refused GENERIC_INTERNAL_ERROR", (f"read by position: {OTHER_TYPE}",))
    columns = "id string, ts long, f1 string, f2 int"
    other = candidate_of(history("insert 1..4; move f1 after f2", columns))
    same = candidate_of(history("insert 1..4; move f1 after f2"))
    assert prediction.predictable(sign, "snapshot")
    assert prediction.shows(other, sign, "snapshot", "all", refusal)
    assert not prediction.shows(same, sign, "snapshot", "all", refusal)


def test_a_view_of_the_past_is_asked_by_the_step_that_a_plan_goes_back_to() -> None:
    text = "insert 1..4; move f1 after f2; insert 5; add f3; upsert 3"
    candidate = candidate_of(history(text), "as_of")
    cell = prediction.cell_of(candidate, "r", "as_of", "column")
    assert cell is not None
    assert (cell.step, cell.view, cell.query) == (5, "as_of(3)", "column(f1)")
    assert prediction.shows(candidate, Sign("misaligned", ("by position",)), "as_of", "all")
    assert not prediction.shows(candidate, Sign("misaligned", ("by name",)), "as_of", "all")


@pytest.mark.parametrize("view", ["as_of", "incremental"])
def test_where_there_is_no_earlier_write_nothing_of_the_past_is_shown(view: str) -> None:
    candidate = candidate_of(history("insert 1..4; move f1 after f2"), view)
    shorter = candidate_of(history("move f1 after f2; insert 1"), view)
    assert prediction.cell_of(candidate, "r", view, "all") is not None
    assert prediction.cell_of(shorter, "r", view, "all") is None
    assert not prediction.shows(shorter, Sign("misaligned", ("by position",)), view, "all")


def test_a_question_that_there_is_not_shows_nothing() -> None:
    candidate = candidate_of(history("insert 1..4"))
    sign = Sign("misaligned", ("by position",))
    assert prediction.cell_of(candidate, "r", "snapshot", "column") is None
    assert not prediction.shows(candidate, sign, "snapshot", "column")

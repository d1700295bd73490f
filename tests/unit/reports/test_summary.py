from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import VerdictKind
from harness.reports import summary
from harness.run.load_run import Run
from tests.builders import sample_run


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))


def test_totals_count_every_cell_once(sampled: Run) -> None:
    counted = summary.totals(sampled)
    assert set(counted) == set(VerdictKind)
    assert sum(counted.values()) == len(sampled.verdicts)


def with_ways(run: Run, *told: tuple[str, ...]) -> Run:
    """Return the run whose first wrong cells are reproduced by these ways, and no other."""
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    ways = dict(zip((verdict.case for verdict in wrong), told, strict=False))
    verdicts = (replace(verdict, reproduces=ways.get(verdict.case, ())) for verdict in run.verdicts)
    return replace(run, recorded={verdict.case: verdict for verdict in verdicts})


def test_how_often_one_several_or_no_way_of_reading_gives_a_wrong_answer_is_counted(
    sampled: Run,
) -> None:
    run = with_ways(sampled, ("by name",), ("by id", "by name"), ("by position",))
    assert summary.explained(run) == (
        "Of 46 wrong answers, exactly one read strategy explains 2, and is named; "
        "several explain 1, so none is claimed; none of those tried explains 43."
    )
    small = {case: replace(verdict, scant=True) for case, verdict in run.recorded.items()}
    said = summary.explained(replace(run, recorded=small))
    assert "one read strategy explains 0," in said
    assert "; one fits 2 so small (a count, or no rows) that" in said


def test_where_nothing_is_wrong_nothing_is_said_of_ways(sampled: Run) -> None:
    right = (replace(verdict, verdict=VerdictKind.CORRECT) for verdict in sampled.verdicts)
    assert (
        summary.explained(replace(sampled, recorded={verdict.case: verdict for verdict in right}))
        == ""
    )

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
    wrong = [each for each in run.verdicts if each.verdict is VerdictKind.WRONG]
    ways = dict(zip((each.case for each in wrong), told, strict=False))
    verdicts = (replace(each, reproduces=ways.get(each.case, ())) for each in run.verdicts)
    return replace(run, recorded={each.case: each for each in verdicts})


def test_how_often_one_several_or_no_way_of_reading_gives_a_wrong_answer_is_counted(
    sampled: Run,
) -> None:
    run = with_ways(sampled, ("by name",), ("by id", "by name"), ("by position",))
    assert summary.explained(run) == (
        "Of 46 wrong answers, exactly one read strategy explains 2, and is named; "
        "several explain 1, so none is claimed; none of those tried explains 43."
    )
    small = {case: replace(each, inconclusive=True) for case, each in run.recorded.items()}
    said = summary.explained(replace(run, recorded=small))
    assert "one read strategy explains 0," in said
    assert "; one fits 2 so small (a count, or no rows) that" in said


def test_where_nothing_is_wrong_nothing_is_said_of_ways(sampled: Run) -> None:
    right = (replace(each, verdict=VerdictKind.CORRECT) for each in sampled.verdicts)
    assert summary.explained(replace(sampled, recorded={each.case: each for each in right})) == ""

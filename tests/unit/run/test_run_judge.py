"""An answer is judged once, as it comes; only what other answers can change differs at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.result_cache import ResultCache
from harness.core.records import Answer, Outcome, OutcomeKind, Refusal, Verdict, VerdictKind
from harness.judge import verdicts as judge
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import JudgedVariant
from harness.run import load_run, pipeline, plan_record
from harness.run.load_run import Run
from harness.run.run_judge import RunJudge
from harness.scenario.cells import Cell, Plan
from tests.builders.followed_run import doubtful
from tests.builders.judged_story import case_of, cell_at
from tests.builders.judged_story import case_without_values as as_filed
from tests.builders.simulated_reader import Reply
from tests.builders.spoilt_files import shown_as_filed
from tests.builders.table_story import history
from tests.unit.run import answered_run

STORY = history("insert 1..4; move f1 after f2; upsert 2", mor=True)
RIGHT, WRONG = STORY.read(), STORY.read("position")
REFUSED = Refusal("X", "cannot read it")


def answer(cell: Cell, reply: Reply) -> Answer:
    return Answer(cell.case, "select", reply.columns, reply.rows)


def provisional(
    case: RecordedVariant, cells: Sequence[Cell], answers: Sequence[Answer]
) -> list[Verdict | None]:
    run_judge = RunJudge(Plan("mine", (case.variant,), (), tuple(cells)))
    run_judge.add_states(case.states)
    return [run_judge.add_answer(answer) for answer in answers]


def at_last(
    case: RecordedVariant, cells: Sequence[Cell], answers: Sequence[Answer]
) -> list[Verdict | None]:
    final = judge.judge(case, cells, {answer.case: answer for answer in answers})
    by_case = {verdict.case: verdict for verdict in final}
    return [by_case.get(answer.case) for answer in answers]


@pytest.mark.parametrize(
    "given",
    [
        {"columns": RIGHT.columns, "rows": RIGHT.rows},
        {"columns": WRONG.columns, "rows": WRONG.rows},
        {"columns": RIGHT.columns[1:], "rows": ()},
        {"refusal": REFUSED},
        {"unknown": "time-out"},
    ],
)
def test_what_no_other_answer_can_change_is_final_at_once(given: dict[str, object]) -> None:
    case, cell = as_filed(STORY), cell_at(STORY)
    lines = replace(Answer(cell.case, "select"), **given)  # type: ignore[arg-type]
    assert provisional(case, [cell], [lines]) == at_last(case, [cell], [lines]) != [None]


def test_where_a_refused_step_left_nothing_to_ask_there_is_no_verdict() -> None:
    refused = Outcome(2, OutcomeKind.REFUSED, refusal=REFUSED)
    case, cell = as_filed(STORY, {2: refused}), cell_at(STORY)
    lines = Answer(cell.case, "", not_applicable="no such column")
    assert provisional(case, [cell], [lines]) == at_last(case, [cell], [lines]) == [None]


def test_where_the_model_is_in_doubt_what_was_wrong_is_unknown_in_the_end() -> None:
    made, files = doubtful()
    case, shown = case_of(made, files), shown_as_filed(made, files)
    cells = [replace(cell_at(made), reader=name) for name in ("trino-476", "hive-3.1.3")]
    answers = [answer(cell, shown) for cell in cells]
    first, last = provisional(case, cells, answers), at_last(case, cells, answers)
    assert {v.verdict for v in first if v} == {VerdictKind.WRONG}
    assert {v.verdict for v in last if v} == {VerdictKind.UNKNOWN}


def test_what_breaks_in_judging_does_not_break_off_the_asking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(JudgedVariant, "judge", breaks)
    cell = cell_at(STORY)
    assert provisional(as_filed(STORY), [cell], [answer(cell, RIGHT)]) == [None]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return answered_run.make(tmp_path / "run")


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the case of each answer that is judged."""
    seen, judge_answer = list[str](), JudgedVariant.judge

    def listed(self: JudgedVariant, cell: Cell, lines: Answer | None) -> Verdict | None:
        seen.append(cell.case)
        return judge_answer(self, cell, lines)

    monkeypatch.setattr(JudgedVariant, "judge", listed)
    return seen


def test_no_answer_is_judged_twice_in_a_run(run: Run, judged: list[str], tmp_path: Path) -> None:
    plan = plan_record.plan_of(run.info)
    pipeline.judge_run(run.folder)
    expected = (run.folder / load_run.VERDICTS).read_bytes()
    judged.clear()
    run_judge = RunJudge(plan, ResultCache(tmp_path / "results", "code"))
    run_judge.add_states(run.states)
    for answer in run.answers.values():
        run_judge.add_answer(answer)
    pipeline.judge_run(run.folder, run_judge)
    assert sorted(judged) == sorted({cell.case for cell in plan.cells})
    assert (run.folder / load_run.VERDICTS).read_bytes() == expected

"""An answer is judged once, as it comes; only what other answers can change differs at the end."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.artifacts.result_cache import ResultCache
from harness.core.records import Answer, Outcome, OutcomeKind, Refusal, Verdict, VerdictKind
from harness.judge import verdicts as judge
from harness.judge.baseline import Applied
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import JudgedVariant
from harness.model.simulation.reader import table_of
from harness.run import load_run, pipeline, plan_record, run_judge
from harness.run.load_run import Run
from harness.run.run_judge import RunJudge, strategy_answers
from harness.scenario.cells import Cell, Plan
from tests.builders import recorded_run, sample_run
from tests.builders.judged_story import case_without_values as as_filed
from tests.builders.judged_story import cell_at
from tests.builders.simulated_reader import Reply
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


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))


def test_an_answer_after_a_failed_attempt_is_late_and_silence_is_not(sampled: Run) -> None:
    assert {case.rpartition("/")[2] for case in run_judge.late(sampled)} == {sample_run.NAMES[2]}


def test_a_late_answer_is_reported_and_fails_where_that_is_wanted(sampled: Run) -> None:
    case, *_ = run_judge.late(sampled)
    right = Applied(tuple(verdict for verdict in sampled.verdicts if verdict.case == case))
    assert right.verdicts[0].verdict is VerdictKind.CORRECT
    gate = run_judge.gate_of(sampled, right)
    assert (gate.status, gate.flaky) == (0, 1)
    assert run_judge.gate_of(sampled, right, fail_on_flaky=True).status == 1


def test_what_a_run_ended_with_follows_from_its_records() -> None:
    run = recorded_run.run_of("ways")
    gate = run_judge.recorded_gate(run)
    new = sum(
        verdict.verdict is VerdictKind.WRONG and not verdict.known for verdict in run.verdicts
    )
    assert f"{new} wrong answers are new" in gate.reasons[0]
    assert not any("were not read" in reason for reason in gate.reasons)


def test_a_run_whose_plan_cannot_be_read_has_a_gate_that_says_so(sampled: Run) -> None:
    gate = run_judge.recorded_gate(sampled)
    assert gate.status == 3
    assert gate.reasons[-1].startswith("The baselines of now were not read")


@pytest.fixture(scope="module")
def quick_start() -> Run:
    return recorded_run.run_of("quick_start")


def test_the_strategies_that_show_an_answer_are_those_of_the_judge(quick_start: Run) -> None:
    answers = strategy_answers(quick_start)
    for verdict in quick_start.verdicts:
        if verdict.verdict is VerdictKind.WRONG:
            given = quick_start.answers[verdict.case]
            table = table_of(given.labels, given.rows)
            strategies = {
                table_of(answer.labels, answer.rows): answer.strategies
                for answer in answers[verdict.question]
            }
            assert tuple(map(str, strategies.get(table, ()))) == verdict.reproduces


def test_a_plan_that_somebody_changed_has_no_answers_and_stops_nothing(quick_start: Run) -> None:
    broken = {variant.id: "not: [a scenario" for variant in quick_start.info.variants}
    assert (
        strategy_answers(replace(quick_start, info=replace(quick_start.info, scenarios=broken)))
        == {}
    )

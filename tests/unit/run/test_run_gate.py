from __future__ import annotations

import pytest

from harness.core.records import VerdictKind
from harness.judge.baseline import Applied
from harness.run import run_judge
from harness.run.load_run import Run
from tests.builders import recorded_run, sample_run


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return sample_run.make(tmp_path_factory.mktemp("run"))


def test_an_answer_after_a_failed_attempt_is_late_and_silence_is_not(sampled: Run) -> None:
    assert {case.rpartition("/")[2] for case in run_judge.late(sampled)} == {sample_run.NAMES[2]}


def test_a_late_answer_is_told_and_fails_where_that_is_wanted(sampled: Run) -> None:
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

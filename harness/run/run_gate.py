"""What a run ends with: its verdicts, held against the baselines of now. No engine, no cache."""

from __future__ import annotations

from dataclasses import replace

from harness.core.errors import UsageProblem
from harness.core.refusals import may_be_chance
from harness.judge import gate
from harness.judge.baseline import Applied
from harness.judge.gate import Gate
from harness.run import baseline_files, plan_record
from harness.run.load_run import Run


def late(run: Run) -> tuple[str, ...]:
    """Return the cases that were answered only when asked again.

    An error that came both times is no such answer.
    """
    attempted = (verdict.case for verdict in run.verdicts if verdict.case in run.attempted)
    answers = (run.answers.get(case) for case in attempted)
    late_answers = (
        answer for answer in answers if answer and answer.attempts and not answer.unknown
    )
    return tuple(
        answer.case
        for answer in late_answers
        if not (answer.refusal and may_be_chance(answer.refusal))
    )


def gate_of(run: Run, applied: Applied, *, fail_on_flaky: bool = False) -> Gate:
    """Return what a run ends with of which it is known what its baselines say."""
    return gate.gate(applied, late(run), fail_on_flaky=fail_on_flaky)


def recorded_gate(run: Run) -> Gate:
    """Return what a run that was judged before ends with.

    Where its baselines cannot be read, what was known when it was judged counts, and that is said.
    """
    verdicts = (*run.verdicts, *run.step_verdicts)
    try:
        return gate_of(run, baseline_files.apply(run, plan_record.plan_of(run.info), verdicts))
    except UsageProblem as problem:
        answered = tuple(verdict for verdict in verdicts if verdict.disclaimed)
        gate = gate_of(run, Applied(verdicts, answered=answered))
        why = f"The baselines of now were not read, those of the run's time count: {problem}"
        return replace(gate, reasons=(*gate.reasons, why))

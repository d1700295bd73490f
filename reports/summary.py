"""The results of a run as a whole: what all reports say first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.core.counting import counted
from harness.core.records import OutcomeKind, VerdictKind
from harness.reports.findings import findings_text
from harness.reports.sentences import refusal_text
from harness.run import run_gate
from harness.run.causes import ORDER
from harness.run.load_run import NotableStep, Run
from harness.run.run_info import NOT_COMPARED

SHORTEST: Final = 2
"""Neighbours up to so many are named one by one."""

WRONG_STEPS: Final = "Steps after which what the table says of itself is wrong"
"""The head of `wrong_steps`."""


def totals(run: Run) -> Mapping[VerdictKind, int]:
    """Count the cells of each verdict, the worst first."""
    counts = Counter(verdict.verdict for verdict in run.verdicts)
    return {kind: counts[kind] for kind in ORDER}


def readers(run: Run) -> tuple[str, ...]:
    """Return every reader of a run: those planned, and any whose answer was judged."""
    return tuple(dict.fromkeys([*run.readers, *(verdict.reader for verdict in run.verdicts)]))


def settings(run: Run, reader: str) -> str:
    """Say how a reader is set, beside the defaults of its engine."""
    known = run.readers.get(reader)
    return known.settings if known else NOT_COMPARED


def failed_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step that was not applied, and why."""
    for step in run.failed_steps:
        outcome = step.outcome
        why = outcome.because or str(outcome.kind)
        if outcome.kind is OutcomeKind.REFUSED and outcome.refusal:
            why = f"refused by the writer: {refusal_text(outcome.refusal)}"
        yield _named(step), why


def half_done_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step that was applied although its writer answered with an error, and which."""
    for step in run.half_done_steps:
        if step.outcome.refusal:
            yield _named(step), refusal_text(step.outcome.refusal)


def wrong_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step since which what the table says of itself is wrong, and how."""
    for verdict in run.step_verdicts:
        if verdict.findings:
            step = run.step(verdict.variant, verdict.step)
            yield f"{verdict.variant}, step {step.number} '{step.text}'", findings_text(verdict)


def _named(step: NotableStep) -> str:
    return f"{step.variant}, step {step.step.number} '{step.step.text}'"


def flaky(run: Run) -> tuple[str, ...]:
    """Return the cases that were answered only when asked again."""
    return run_gate.late(run)


def explained(run: Run) -> str:
    """Return how often a read strategy is named for a wrong answer; empty when none is wrong."""
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    claimed = sum(bool(verdict.claimed) for verdict in wrong)
    counts = Counter(min(len(verdict.reproduces), 2) for verdict in wrong)
    small = counts[1] - claimed
    unproven = f"one fits {small:,} so small (a count, or no rows) that it proves nothing"
    parts = (
        f"exactly one read strategy explains {claimed:,}, and is named",
        f"several explain {counts[2]:,}, so none is claimed",
        *([unproven] if small else ()),
        f"none of those tried explains {counts[0]:,}",
    )
    return f"Of {counted(len(wrong), 'wrong answer')}, {'; '.join(parts)}." if wrong else ""


def numbers(steps: Sequence[int]) -> str:
    """Name steps, neighbours as a range.

    >>> numbers([1, 2, 4, 5, 6])
    'steps 1, 2, 4-6'
    """
    runs: list[list[int]] = []
    for step in steps:
        if runs and runs[-1][-1] == step - 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    return f"step{'s' if len(steps) > 1 else ''} {', '.join(map(_range, runs))}"


def _range(run: Sequence[int]) -> str:
    return f"{run[0]}-{run[-1]}" if len(run) > SHORTEST else ", ".join(map(str, run))

"""Candidates are tried on real engines: a round is written and asked about in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from harness.cli import engine_run
from harness.cli.reproduce.causes import signs, step_answers
from harness.cli.reproduce.files import Observation
from harness.cli.reproduce.prediction import cell_of
from harness.cli.reproduce.shrink import Trial
from harness.core.counting import counted
from harness.core.progress import Progress
from harness.core.records import OutcomeKind, VerdictKind
from harness.run.load_run import WRITE
from harness.run.pipeline import Work
from harness.scenario.cells import Cell, Plan

PROFILE = "reproduce"
STEP = "step"
"""Stands for the query where a step is judged."""


@dataclass(slots=True)
class EngineTrials:
    """The trials of one command; states and answers stay in the cache, so none is lost."""

    open_work: Callable[[], AbstractContextManager[Work]]
    """Gives a new run's folder and what it needs."""
    progress: Progress
    seen: dict[str, Observation] = field(default_factory=dict)
    """By the cell: what was answered."""
    outcomes: dict[tuple[str, int], OutcomeKind] = field(default_factory=dict)
    """By variant and step: the outcome of the step, where that is known."""
    not_applicable: set[str] = field(default_factory=set)
    """The cells with nothing to ask: no write has told the catalog of a view yet, say."""
    unknown: set[str] = field(default_factory=set)
    """Keys of candidates about which no answer came."""

    def ask(self, trials: Sequence[Trial]) -> list[bool]:
        """Ask a round; a question without an answer counts as not shown."""
        cells = [_cell(trial) for trial in trials]
        plan = _plan(trials, [cell for cell in cells if cell is not None])
        if plan.variants:
            number = counted(len(plan.variants), "candidate")
            self.progress.note(f"a round of {number}, {counted(len(plan.cells), 'question')}")
            with self.open_work() as work:
                self._run(plan, work)
        return [self._shows(*trial) for trial in zip(trials, cells, strict=True)]

    def observation(self, trial: Trial) -> Observation:
        """Return what was seen of a candidate that showed something."""
        cell = _cell(trial)
        return self.seen[cell.case if cell else ""]

    def _run(self, plan: Plan, work: Work) -> None:
        run = engine_run.execute(plan, work)
        answers = {**run.answers, **step_answers(run.step_verdicts, run.by_step)}
        self.not_applicable |= {case for case, answer in answers.items() if answer.not_applicable}
        for case, verdict in run.recorded.items():
            if case in answers:
                states = tuple(state for state in run.states if state.variant == verdict.variant)
                self.seen[case] = Observation(verdict, answers[case], states)
        kinds = ((at, record.outcome.kind) for at, record in run.by_step.items())
        self.outcomes |= {at: kind for at, kind in kinds if kind is not OutcomeKind.UNKNOWN}

    def _shows(self, trial: Trial, cell: Cell | None) -> bool:
        if cell is None:
            return False
        seen = self.seen.get(cell.case)
        shown = signs(seen.verdict, seen.answer) if seen else frozenset()
        silent = seen is None or seen.verdict.verdict is VerdictKind.UNKNOWN
        if silent and not (shown or self._explained(cell)):
            self.unknown.add(trial.candidate.key)
        return trial.target.cause.sign.among(shown)

    def _explained(self, cell: Cell) -> bool:
        """Return whether it is known why there is no answer.

        Where the writer refused a step, nobody is asked about what is not there.
        """
        outcome = self.outcomes.get((cell.variant, cell.step))
        ended = outcome is not None if cell.view == WRITE else outcome is OutcomeKind.REFUSED
        return ended or cell.case in self.not_applicable


def _cell(trial: Trial) -> Cell | None:
    target, candidate = trial.target, trial.candidate
    if target.cause.view == WRITE:  # the step itself, which nobody is asked about
        last = len(candidate.numbers)
        return Cell(candidate.variant.id, last, candidate.writers[-1], WRITE, STEP)
    return cell_of(candidate, str(target.reader), target.cause.view, target.shape)


def _plan(trials: Sequence[Trial], cells: Sequence[Cell]) -> Plan:
    """Return the plan of a round; a candidate of several searches is written once."""
    variants = {trial.candidate.key: trial.candidate.variant for trial in trials}
    written = {cell.variant for cell in cells}
    readers = [trial.target.reader for trial in trials if trial.target.cause.view != WRITE]
    return Plan(
        PROFILE,
        tuple(variant for variant in variants.values() if variant.id in written),
        tuple(dict.fromkeys(readers)),
        tuple({cell.case: cell for cell in cells if cell.view != WRITE}.values()),
        metastore=trials[0].target.through,
    )

"""Candidates are tried on real engines: a round is written and asked about in one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from harness.cli.reproduce import engine_run
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.causes import signs, step_answers
from harness.cli.reproduce.prediction import cell_of
from harness.cli.reproduce.script import Observation
from harness.cli.reproduce.searches import Target, Trial
from harness.core.counting import counted
from harness.core.progress import Progress
from harness.core.records import OutcomeKind, VerdictKind
from harness.run.load_run import WRITE
from harness.run.run_work import Work
from harness.scenario.cells import Cell, Plan

PROFILE = "reproduce"
STEP = "step"
"""What stands for the question where a step is judged."""


@dataclass(slots=True)
class EngineTrials:
    """What was tried in one command; states and answers stay in the cache, so none is lost."""

    work_of: Callable[[], AbstractContextManager[Work]]
    """Gives a new run's folder and what it needs."""
    progress: Progress
    seen: dict[str, Observation] = field(default_factory=dict)
    """By the case: what was answered."""
    outcomes: dict[tuple[str, int], OutcomeKind] = field(default_factory=dict)
    """By variant and step: what became of the step, where that is known."""
    nothing: set[str] = field(default_factory=set)
    """The cases with nothing to ask: no write has told the catalog of a view yet, say."""
    unknown: set[str] = field(default_factory=set)
    """Keys of candidates of which nothing came out."""

    def ask(self, trials: Sequence[Trial]) -> list[bool]:
        """Ask a round; a question without an answer counts as not shown."""
        cells = [_cell(trial) for trial in trials]
        made = _plan(trials, [cell for cell in cells if cell is not None])
        if made.variants:
            number = counted(len(made.variants), "candidate")
            self.progress.note(f"a round of {number}, {counted(len(made.cells), 'question')}")
            with self.work_of() as work:
                self._run(made, work)
        return [self._shows(*trial) for trial in zip(trials, cells, strict=True)]

    def _run(self, made: Plan, work: Work) -> None:
        found = engine_run.execute(made, work)
        answers = {**found.answers, **step_answers(found.step_verdicts, found.by_step)}
        self.nothing |= {case for case, answer in answers.items() if answer.void}
        for case, verdict in found.recorded.items():
            if case in answers:
                states = tuple(state for state in found.states if state.variant == verdict.variant)
                self.seen[case] = Observation(verdict, answers[case], states)
        kinds = ((at, record.outcome.kind) for at, record in found.by_step.items())
        self.outcomes |= {at: kind for at, kind in kinds if kind is not OutcomeKind.UNKNOWN}

    def _shows(self, trial: Trial, cell: Cell | None) -> bool:
        if cell is None:
            return False
        seen = self.seen.get(cell.case)
        found = signs(seen.verdict, seen.answer) if seen else frozenset()
        silent = seen is None or seen.verdict.verdict is VerdictKind.UNKNOWN
        if silent and not (found or self._known(cell)):
            self.unknown.add(trial.candidate.key)
        return trial.target.sign.among(found)

    def _known(self, cell: Cell) -> bool:
        """Return whether it is known why there is no answer.

        Where the writer refused a step, nobody is asked about what is not there.
        """
        outcome = self.outcomes.get((cell.variant, cell.step))
        ended = outcome is not None if cell.view == WRITE else outcome is OutcomeKind.REFUSED
        return ended or cell.case in self.nothing

    def of(self, target: Target, candidate: Candidate) -> Observation:
        """Return what was seen of a candidate that showed something."""
        cell = _cell(Trial(target, candidate))
        return self.seen[cell.case if cell else ""]


def _cell(trial: Trial) -> Cell | None:
    target, candidate = trial.target, trial.candidate
    if target.cause.view == WRITE:  # the step itself, which nobody is asked about
        last = len(candidate.numbers)
        return Cell(candidate.variant.id, last, candidate.writers[-1], WRITE, STEP)
    return cell_of(candidate, str(target.reader), target.cause.view, target.shape)


def _plan(trials: Sequence[Trial], cells: Sequence[Cell]) -> Plan:
    """Return the plan of a round; a candidate that several searches want is written once."""
    variants = {trial.candidate.key: trial.candidate.variant for trial in trials}
    written, asking = {cell.variant for cell in cells}, [e for e in cells if e.view != WRITE]
    readers = [trial.target.reader for trial in trials if trial.target.cause.view != WRITE]
    return Plan(
        PROFILE,
        tuple(variant for variant in variants.values() if variant.id in written),
        tuple({str(reader): reader for reader in readers}.values()),
        tuple({cell.case: cell for cell in asking}.values()),
        metastore=trials[0].target.through,
    )

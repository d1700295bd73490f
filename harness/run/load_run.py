"""A run directory as an object: what was planned, what was recorded, and what never came.

`runs/<id>/` holds `run.json` (the plan, as `RunInfo`), `states.jsonl`, `answers.jsonl` and
`verdicts.jsonl`. Nothing is asked or judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from harness.core import jsonl, outcomes, records
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import Answer, OutcomeKind, StateRecord, Verdict, VerdictKind
from harness.run import frames
from harness.run.frames import FrameColumn
from harness.run.run_info import ReaderInfo, RunInfo, StepInfo, VariantInfo, first_wrong, read_info
from harness.scenario.cells import Cell

if TYPE_CHECKING:
    import pandas as pd

STATES: Final = "states.jsonl"
ANSWERS: Final = "answers.jsonl"
VERDICTS: Final = "verdicts.jsonl"

WRITE: Final = "write"
"""The view of a verdict that is about a step itself and not about a reader's answer."""
DID_NOT_RUN: Final = "did not run"
NOT_JUDGED: Final = "answered but not judged; judge the run again"


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step of which there is something to tell."""

    variant: str
    step: StepInfo
    outcome: records.Outcome


@dataclass(frozen=True)  # no slots: what is derived is kept
class Run:
    """A run as recorded so far; the mappings are by case, the last record of a case counts."""

    folder: Path
    info: RunInfo
    states: tuple[StateRecord, ...]
    answers: Mapping[str, Answer]
    recorded: Mapping[str, Verdict]

    @cached_property
    def variants(self) -> Mapping[str, VariantInfo]:
        """Every variant by its id."""
        return {each.id: each for each in self.info.variants}

    @cached_property
    def readers(self) -> Mapping[str, ReaderInfo]:
        """Every reader by its name."""
        return {each.reader: each for each in self.info.readers}

    @cached_property
    def by_step(self) -> Mapping[tuple[str, int], StateRecord]:
        """Every recorded state by its variant and step."""
        return {(each.variant, each.outcome.step): each for each in self.states}

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict for each cell, in the order of the plan.

        A planned cell without a recorded verdict is `unknown` and says why. Cells of skipped steps
        are none, nor are those whose column was never made; `failed_steps` lists the steps.
        """
        asked = (cell for cell in self.info.cells if not self._skipped(cell))
        return tuple(self.recorded.get(cell.case) or self._missing(cell) for cell in asked)

    @cached_property
    def of_reader(self) -> Mapping[tuple[str, str], Sequence[Verdict]]:
        """The verdicts on each variant by each reader."""
        return grouped(((each.variant, each.reader), each) for each in self.verdicts)

    @cached_property
    def step_verdicts(self) -> tuple[Verdict, ...]:
        """What was judged of the steps themselves: those refused, and those not known of."""
        return tuple(each for each in self.recorded.values() if each.view == WRITE)

    @cached_property
    def failed_steps(self) -> tuple[StepResult, ...]:
        """Every step that was not applied, in the order of the records."""
        return self._steps(lambda outcome: outcome.kind is not OutcomeKind.APPLIED)

    @cached_property
    def half_done_steps(self) -> tuple[StepResult, ...]:
        """Every step that was applied although its writer answered with an error."""
        return self._steps(outcomes.half_done)

    def _steps(self, wanted: Callable[[records.Outcome], bool]) -> tuple[StepResult, ...]:
        return tuple(
            StepResult(state.variant, self.step(state.variant, state.outcome.step), state.outcome)
            for state in self.by_step.values()
            if wanted(state.outcome)
        )

    def variant(self, name: str) -> VariantInfo:
        """Return the variant of that id; one that is not in the plan is known by its id only."""
        return self.variants.get(name) or VariantInfo(name, name, "", ())

    def step(self, variant: str, number: int) -> StepInfo:
        """Return a step of a variant."""
        return self.variant(variant).step(number)

    def distribution(self, reader: str) -> str:
        """Return the distribution behind a reader; one that the plan does not name is its own."""
        return self.readers[reader].distribution if reader in self.readers else reader

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each cell, and a type for each column."""
        variant, step = cache(self.variant), cache(self.step)
        given: dict[str, FrameColumn[Verdict]] = _FRAME | {
            "format": FrameColumn(frames.WORD, lambda v: variant(v.variant).format),
            "writer": FrameColumn(frames.WORD, lambda v: variant(v.variant).writer),
            "operation": FrameColumn(frames.WORD, lambda v: step(v.variant, v.step).operation),
            "step_text": FrameColumn(frames.WORD, lambda v: step(v.variant, v.step).text),
        }
        return frames.frame(self.verdicts, given)

    def _skipped(self, cell: Cell) -> bool:
        state, answer = self.by_step.get((cell.variant, cell.step)), self.answers.get(cell.case)
        skipped = state is not None and state.outcome.kind is OutcomeKind.SKIPPED
        void = answer is not None and bool(answer.void) and cell.case not in self.recorded
        return skipped or void

    def _missing(self, cell: Cell) -> Verdict:
        return Verdict(
            case=cell.case,
            scenario=self.variant(cell.variant).scenario,
            variant=cell.variant,
            step=cell.step,
            reader=cell.reader,
            view=cell.view,
            query=cell.query,
            verdict=VerdictKind.UNKNOWN,
            because=NOT_JUDGED if cell.case in self.answers else DID_NOT_RUN,
        )


def findings_text(verdict: Verdict) -> str:
    """Return the kinds of a verdict's findings as a text."""
    return ", ".join(str(each.kind) for each in verdict.findings)


def _columns(verdict: Verdict) -> str:
    return ", ".join(dict.fromkeys(c for f in verdict.findings for c in f.columns))


_FRAME: Final[dict[str, FrameColumn[Verdict]]] = {
    "case": FrameColumn(frames.TEXT, lambda v: v.case),
    "scenario": FrameColumn(frames.WORD, lambda v: v.scenario),
    "variant": FrameColumn(frames.WORD, lambda v: v.variant),
    "step": FrameColumn(frames.NUMBER, lambda v: v.step),
    "reader": FrameColumn(frames.WORD, lambda v: v.reader),
    "view": FrameColumn(frames.WORD, lambda v: v.view),
    "query": FrameColumn(frames.WORD, lambda v: v.query),
    "verdict": FrameColumn(tuple(VerdictKind), lambda v: v.verdict),
    "findings": FrameColumn(frames.WORD, findings_text),
    "columns": FrameColumn(frames.WORD, _columns),
    "reproduces": FrameColumn(frames.WORD, lambda v: ", ".join(v.reproduces)),
    "claimed": FrameColumn(frames.WORD, lambda v: v.claimed),
    "because": FrameColumn(frames.TEXT, lambda v: v.because),
    "known": FrameColumn(frames.TEXT, lambda v: v.known),
    "seconds": FrameColumn(frames.SECONDS, lambda v: v.seconds if v.sql else None),
    "reused": FrameColumn(frames.FLAG, lambda v: v.reused),
}
"""The columns of `Run.to_frame` that need no plan."""


@dataclass(eq=False)
class RecordProblem(UsageProblem):
    """A line of a file of records is no such record."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}; repeat the phase that writes it"


def load(folder: Path) -> Run:
    """Load a run, whole or broken off.

    Raises:
        UsageProblem: the folder is no run.
        RecordProblem: a record in it cannot be read.

    """
    info = read_info(folder)
    steps = {each.id: len(each.steps) for each in info.variants}
    return Run(
        folder=folder,
        info=info,
        states=_records(folder / STATES, StateRecord, lambda state: _wrong_state(state, steps)),
        answers=answers(folder),
        recorded={each.case: each for each in _records(folder / VERDICTS, Verdict)},
    )


def answers(folder: Path) -> dict[str, Answer]:
    """Load what a run has of answers, by case; raises as `load` does."""
    return {each.case: each for each in _records(folder / ANSWERS, Answer)}


def _wrong_state(state: StateRecord, steps: Mapping[str, int]) -> str:
    """What of a record the plan does not have; empty when it has all. `steps`: by variant."""
    if state.variant not in steps:
        return f"the plan has no variant {state.variant!r}"
    if not 0 <= state.outcome.step <= steps[state.variant]:
        return f"{state.variant} has no step {state.outcome.step}"
    return ""


_Record = TypeVar("_Record", StateRecord, Answer, Verdict)


def _records(
    path: Path, kind: type[_Record], wrong: Callable[[_Record], str] = lambda _: ""
) -> tuple[_Record, ...]:
    found: list[_Record] = []
    try:
        for each in jsonl.read_all(path, kind):
            if why := wrong(each):
                raise ValueError(why)  # noqa: TRY301 - told with the line, as what is no record
            # In place: what was read before a bad line tells the line's number.
            found.append(each)
    except ValueError as problem:
        raise RecordProblem(path, len(found) + 1, first_wrong(problem)) from problem
    return tuple(found)

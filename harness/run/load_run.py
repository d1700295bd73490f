"""A run directory as an object: what was planned, what was recorded, and what never came.

`runs/<id>/` holds `run.json` (the plan, as `RunInfo`), `states.jsonl`, `answers.jsonl` and
`verdicts.jsonl`. Nothing is asked or judged here. States and answers stay on disk until they are
looked at: of a million cells they are more than memory holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.core import jsonl, outcomes, records
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.jsonl import ByKey, Record, RecordFile
from harness.core.records import (
    Answer,
    OutcomeKind,
    QuestionKey,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.model.simulation.matching import StrategyAnswer
from harness.run import frames
from harness.run.frames import FrameColumn
from harness.run.report_cache import UNCACHED, ReportCache
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
_NONE: Final[Mapping[str, Verdict]] = {}
StrategyAnswers = Callable[[], Mapping[QuestionKey, tuple[StrategyAnswer, ...]]]


@dataclass(frozen=True, slots=True)
class NotableStep:
    """A step of which there is something to tell."""

    variant: str
    step: StepInfo
    outcome: records.Outcome


@dataclass(frozen=True)  # no slots: what is derived is kept
class Run:
    """A run as recorded so far; the mappings are by case, the last record of a case counts.

    Raises:
        UsageProblem: a state or an answer is looked at that cannot be read.

    """

    folder: Path
    info: RunInfo
    states: Sequence[StateRecord]
    answers: Mapping[str, Answer]
    recorded: Mapping[str, Verdict]
    kept: ReportCache = field(default=UNCACHED, compare=False, repr=False)
    """Of runs with the same records, all of them."""
    strategy_answers: StrategyAnswers = field(default=dict, compare=False, repr=False)
    """What each read strategy would answer to the questions that some reader got wrong, each table
    once; worked out when it is called, where somebody handed it on (`run.strategy_answers`)."""

    @cached_property
    def variants(self) -> Mapping[str, VariantInfo]:
        """Every variant by its id."""
        return {variant.id: variant for variant in self.info.variants}

    @cached_property
    def readers(self) -> Mapping[str, ReaderInfo]:
        """Every reader by its name."""
        return {reader.reader: reader for reader in self.info.readers}

    @cached_property
    def by_step(self) -> Mapping[tuple[str, int], StateRecord]:
        """Every recorded state by its variant and step."""
        return ByKey(self.states, lambda: map(_key, self.states))

    @cached_property
    def steps_of(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        """The keys in `by_step` of each variant."""
        return grouped((at[0], at) for at in self.by_step)

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
        return grouped(((verdict.variant, verdict.reader), verdict) for verdict in self.verdicts)

    @cached_property
    def step_verdicts(self) -> tuple[Verdict, ...]:
        """What was judged of the steps themselves: those refused, and those not known of."""
        return tuple(verdict for verdict in self.recorded.values() if verdict.view == WRITE)

    @cached_property
    def verdict_of_step(self) -> Mapping[tuple[str, int], Verdict]:
        """What was judged of a step itself, by variant and step."""
        return {
            (verdict.variant, verdict.step): verdict for verdict in reversed(self.step_verdicts)
        }

    @cached_property
    def failed_steps(self) -> tuple[NotableStep, ...]:
        """Every step that was not applied, in the order of the records."""
        return self._steps(lambda outcome: outcome.kind is not OutcomeKind.APPLIED)

    @cached_property
    def half_done_steps(self) -> tuple[NotableStep, ...]:
        """Every step that was applied although its writer answered with an error."""
        return self._steps(outcomes.half_done)

    @cached_property
    def attempted(self) -> Collection[str]:
        """The cases that were asked for more than once."""
        return {answer.case for answer in _having_attempts(self.answers) if answer.attempts}

    def _steps(self, which: Callable[[records.Outcome], bool]) -> tuple[NotableStep, ...]:
        return tuple(
            NotableStep(state.variant, self.step(state.variant, state.outcome.step), state.outcome)
            for state in self.by_step.values()
            if which(state.outcome)
        )

    @cached_property
    def _skipped_steps(self) -> Collection[tuple[str, int]]:
        failed = (e for e in self.failed_steps if e.outcome.kind is OutcomeKind.SKIPPED)
        return {(result.variant, result.outcome.step) for result in failed}

    def variant(self, name: str) -> VariantInfo:
        """Return the variant of that id; one that is not in the plan is known by its id only."""
        return self.variants.get(name) or VariantInfo(name, name, "", ())

    def states_of(self, variant: str) -> list[StateRecord]:
        """Return the recorded states of a variant, those of all others unread."""
        return [self.by_step[at] for at in self.steps_of.get(variant, ())]

    def step(self, variant: str, number: int) -> StepInfo:
        """Return a step of a variant."""
        return self.variant(variant).step(number)

    def distribution(self, reader: str) -> str:
        """Return the distribution behind a reader; one that the plan does not name is its own."""
        return self.readers[reader].distribution if reader in self.readers else reader

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each cell, and a type for each column."""
        variant, step = cache(self.variant), cache(self.step)
        columns: dict[str, FrameColumn[Verdict]] = _FRAME | {
            "format": FrameColumn(frames.WORD, lambda v: variant(v.variant).format),
            "writer": FrameColumn(frames.WORD, lambda v: variant(v.variant).writer),
            "operation": FrameColumn(frames.WORD, lambda v: step(v.variant, v.step).operation),
            "step_text": FrameColumn(frames.WORD, lambda v: step(v.variant, v.step).text),
        }
        return frames.frame(self.verdicts, columns)

    def _skipped(self, cell: Cell) -> bool:
        if (cell.variant, cell.step) in self._skipped_steps:
            return True
        answer = None if cell.case in self.recorded else self.answers.get(cell.case)
        return answer is not None and bool(answer.not_applicable)

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
    return ", ".join(str(finding.kind) for finding in verdict.findings)


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


def wrong_record(path: Path, line: int, reason: str) -> UsageProblem:
    """Return the problem that a line of a file of records is no such record."""
    """Return the problem that a line of a file of records is no such record."""
    return UsageProblem(f"{path}:{line}: {reason}; repeat the phase that writes it")


def _key(state: StateRecord) -> tuple[str, int]:
    return state.variant, state.outcome.step


def load(folder: Path, beside: Run | None = None) -> Run:
    """Load a run, whole or broken off.

    `beside`: a run that it is held against; what is the same in both is in memory once.

    Raises:
        UsageProblem: the folder is no run; a verdict in it cannot be read, or a state names what
            the plan does not have.

    """
    run = recorded(folder)
    if beside and run.info.cells == beside.info.cells:
        run = replace(run, info=replace(run.info, cells=beside.info.cells))
    return with_verdicts(run, beside.recorded if beside else {})


def recorded(folder: Path) -> Run:
    """Load what was recorded of a run, whatever was judged of it; raises as `load` does."""
    info = read_info(folder)
    states = _file(folder / STATES, StateRecord)
    _check_states(
        states, folder / STATES, {variant.id: len(variant.steps) for variant in info.variants}
    )
    return Run(folder, info, states, answers(folder), {})


def with_verdicts(run: Run, known: Mapping[str, Verdict] = _NONE) -> Run:
    """Return a run with the verdicts that are recorded now; raises as `load` does.

    `known`: verdicts by their cases; one that is recorded alike is the same object.
    """
    return replace(
        run, recorded={verdict.case: verdict for verdict in _verdicts(run.folder, known)}
    )


def answers(folder: Path) -> Mapping[str, Answer]:
    """Load what a run has of answers, by case; each is read when it is looked at."""
    record_file = _file(folder / ANSWERS, Answer)
    return ByKey(record_file, record_file.cases)


def sort_answers(folder: Path, cases: Iterable[str] | None = None) -> None:
    """Leave of a run's answers the last of each of these cases, in this order; None: of all.

    What a death cut off is left out. No answer is read: there may be a million.
    """
    path = folder / ANSWERS
    record_file = _file(path, Answer)
    record_file.copy(path, dict.fromkeys(record_file.cases()) if cases is None else cases)


def answer_line(answers_: Mapping[str, Answer], case: str) -> str:
    """Return an answer as it is recorded; one that lies in a file is not read."""
    records = answers_.records if isinstance(answers_, ByKey) else None
    if isinstance(answers_, ByKey) and isinstance(records, RecordFile):
        return records.line(answers_.number_of[case]).decode()
    return jsonl.dump(answers_[case])


def _having_attempts(answers_: Mapping[str, Answer]) -> Iterator[Answer]:
    """Yield the answers that may have attempts."""
    records = answers_.records if isinstance(answers_, ByKey) else None
    if isinstance(records, RecordFile):
        return records.containing(_ATTEMPTS)
    return iter(answers_.values())


_ATTEMPTS: Final = b'"attempts":[{'
"""What the line of an answer has in it that was asked for more than once."""


def _check_states(states: Sequence[StateRecord], path: Path, steps: Mapping[str, int]) -> None:
    for line, state in enumerate(states, start=1):
        if why := _wrong_state(state, steps):
            raise wrong_record(path, line, why)


def _wrong_state(state: StateRecord, steps: Mapping[str, int]) -> str:
    """What of a record the plan does not have; empty when it has all. `steps`: by variant."""
    if state.variant not in steps:
        return f"the plan has no variant {state.variant!r}"
    if not 0 <= state.outcome.step <= steps[state.variant]:
        return f"{state.variant} has no step {state.outcome.step}"
    return ""


def _file(path: Path, kind: type[Record]) -> RecordFile[Record]:
    def failed(line: int, problem: ValueError) -> UsageProblem:
        return wrong_record(path, line, first_wrong(problem))

    return RecordFile(path, kind, failed)


def _verdicts(folder: Path, known: Mapping[str, Verdict]) -> Iterator[Verdict]:
    path, read, share = folder / VERDICTS, 0, jsonl.VerdictParts()
    try:
        verdicts = jsonl.read_all(path, Verdict, partial(_known, known))
        for read, verdict in enumerate(verdicts, start=1):  # noqa: B007
            yield verdict if known.get(verdict.case) is verdict else share(verdict)
    except ValueError as problem:
        raise wrong_record(path, read + 1, first_wrong(problem)) from problem


def _known(known: Mapping[str, Verdict], line: bytes) -> Verdict | None:
    """Return the verdict that a line says again."""
    verdict = known.get(jsonl.case_of(line)) if known else None
    return verdict if verdict and jsonl.dump(verdict) == line[:-1].decode() else None

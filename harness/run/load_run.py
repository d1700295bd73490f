"""A run directory as an object: what was planned, what was recorded, and what never came.

States and answers stay on disk until they are looked at: of a million cells they are more than
memory holds.
"""

from __future__ import annotations

import ctypes
import datetime
import hashlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, WrapSerializer

from harness.core import jsonl, records
from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.jsonl import ByKey, Record, RecordFile
from harness.core.records import Answer, OutcomeKind, QuestionKey, StateRecord, Verdict, VerdictKind
from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.run import frames
from harness.run.frames import FrameColumn
from harness.scenario.cells import AskedAgain, Cell, Excluded, Pairs, Partly, Unlike

INFO: Final = "run.json"
STATES: Final = "states.jsonl"
ANSWERS: Final = "answers.jsonl"
VERDICTS: Final = "verdicts.jsonl"
Plain = TypeVar("Plain")


def unmarked(records: str) -> str:
    """Return records, as JSON, as if none came from an earlier run.

    It is a fact of the run and not of what was seen. In texts of theirs quotes are escaped.
    """
    return records.replace('"reused":true', '"reused":false')


@dataclass(frozen=True, slots=True)
class ReportCache:
    """The data that were worked out of the same records before; without `results` there are none.

    The same but for the run's name and time, and for what was reused: none of it may be in them.
    """

    results: ResultCache | None = None
    records: str = ""
    """The digest of what was recorded."""

    @classmethod
    def of(cls, results: ResultCache | None, info: RunInfo, files: Iterable[Path]) -> ReportCache:
        return cls(results, _digest(info, files)) if results else cls()

    def get(self, what: str, make: Callable[[], Plain]) -> Plain:
        """Return what `make` returns, or has returned for the same records; `what` names it."""
        return self.results.data(what, [self.records], make) if self.results else make()


UNCACHED: Final = ReportCache()


def _digest(info: RunInfo, files: Iterable[Path]) -> str:
    plan = replace(info, id="", started=datetime.datetime.fromtimestamp(0, datetime.UTC))
    digest = hashlib.sha256(dump(plan))
    for path in filter(Path.exists, files):
        digest.update(f"{path.name}\n".encode())
        with path.open(encoding="utf-8", newline="\n") as lines:
            for line in lines:  # one after another: there may be a million
                digest.update(unmarked(line).encode())
    return digest.hexdigest()


DEFAULTS: Final = "with the engine's defaults"
NOT_COMPARED: Final = "not compared with the engine's defaults"


def _with_shared_texts(cell: Cell) -> Cell:
    """Return a cell whose variant and reader are held once, however many cells have them."""
    texts = (cell.variant, cell.reader, cell.view, cell.query)
    variant, reader, view, query = map(sys.intern, texts)
    return Cell(variant, cell.step, reader, view, query)


PlannedCell = Annotated[
    Cell,
    AfterValidator(_with_shared_texts),
    WrapSerializer(lambda cell, plain: plain(cell) | {"case": cell.case}),
]
"""A cell, written with its case so that people find it in the file."""


@dataclass(frozen=True, slots=True)
class StepInfo:
    number: int
    """From 1; 0 is the creation of the table."""
    text: str
    """The operation in a few words: `move column f1 after f2`."""
    changes_schema: bool = False
    quiet: bool = False
    """No questions were planned after it."""
    named: Annotated[str, Field(exclude_if=lambda name: not name)] = ""
    """What scenario files call the operation; empty in the oldest runs."""
    features: Annotated[tuple[str, ...], Field(exclude_if=lambda words: not words)] = ()
    """Words of `usage.yaml` for what a table has by it."""

    @property
    def operation(self) -> str:
        """Return what scenario files call the operation; what it does, where that is not known."""
        return self.named or self.text


@dataclass(frozen=True, slots=True)
class VariantInfo:
    id: str
    scenario: str
    format: str
    steps: tuple[StepInfo, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    writers: tuple[str, ...] = ()
    """The distribution that writes each step, the creation first."""
    twin: bool = False
    key: str = ""
    """The name of the key column: it says which row of an answer is which."""
    about: str = ""
    source: str = ""

    @property
    def writer(self) -> str:
        return " and ".join(dict.fromkeys(self.writers))

    def step(self, number: int) -> StepInfo:
        """Return the step of that number; one that the plan does not name is called by it."""
        for step in self.steps:
            if step.number == number:
                return step
        return StepInfo(number, f"step {number}" if number else "create the table")


@dataclass(frozen=True, slots=True)
class ReaderInfo:
    """A reader and what really stands behind its name."""

    reader: str
    """`trino-476{use-column-names=false}`"""
    distribution: str
    fidelity: str
    """`stock`, `repackaged: …` or `modified: what`."""
    listens: str = ""
    unlike: tuple[Unlike, ...] | None = None
    """What it has otherwise than the engine by itself, for the formats it was asked about; None:
    not known."""

    @property
    def settings(self) -> str:
        """Say how the reader is set, beside the defaults of its engine."""
        if self.unlike is None:
            return NOT_COMPARED
        return "; ".join(map(str, self.unlike)) or DEFAULTS

    @property
    def by_default(self) -> bool:
        """Return whether nobody chose a setting otherwise than the engine has it by itself."""
        return self.unlike is not None and not any(unlike.named for unlike in self.unlike)


@dataclass(frozen=True, slots=True)
class MetastoreInfo:
    """The metastore that the readers ask through, where it is not the usual one."""

    distribution: str
    upgraded_from: str = ""
    fidelity: Mapping[str, str] = field(default_factory=dict)
    """What all that ran is made of, by the name of its distribution."""


@dataclass(frozen=True, slots=True)
class BaselineInfo:
    """A scenario's baseline as it was when the run was planned."""

    scenario: str = ""
    """The path of the scenario's file, beside which the baseline is; empty when it has none."""
    text: str = ""
    below: str = ""
    """That path from the folder in which the run was planned; empty when it is not below it."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class RunInfo:
    """What a run set out to do: the content of `run.json`."""

    id: str
    profile: str
    started: datetime.datetime
    version: str
    """Of the harness."""
    variants: tuple[VariantInfo, ...]
    readers: tuple[ReaderInfo, ...]
    cells: tuple[PlannedCell, ...]
    excluded: tuple[Excluded, ...] = ()
    pairs: tuple[Pairs, ...] = ()
    """Of each scenario, where pairs of axis values are covered and not all combinations."""
    partly: tuple[Partly, ...] = ()
    """The readers that are not asked about every variant they can read."""
    scenarios: Mapping[str, str] = field(default_factory=dict)
    """The scenario file's text for each variant's id."""
    baselines: Mapping[str, BaselineInfo] = field(default_factory=dict)
    """By the scenario's name."""
    fresh: bool = False
    """Whether engines are asked again what earlier runs asked; so it is when the run is resumed."""
    ask_again: AskedAgain = AskedAgain.UNEXPLAINED
    metastore: MetastoreInfo | None = None
    locks: Mapping[str, str] = field(default_factory=dict)
    """The lock data of people's own distributions, by name."""
    left_out: tuple[str, ...] = ()
    """What was not asked because it would have taken too long."""

    @cached_property
    def variants_by_id(self) -> Mapping[str, VariantInfo]:
        return {variant.id: variant for variant in self.variants}

    @cached_property
    def readers_by_name(self) -> Mapping[str, ReaderInfo]:
        return {reader.reader: reader for reader in self.readers}

    def variant(self, name: str) -> VariantInfo:
        """Return the variant of that id; one that is not in the plan is known by its id only."""
        return self.variants_by_id.get(name) or VariantInfo(name, name, "", ())

    def step(self, variant: str, number: int) -> StepInfo:
        return self.variant(variant).step(number)

    def reader(self, name: str) -> ReaderInfo:
        """Return a reader; one that the plan does not name is known by its name only."""
        return self.readers_by_name.get(name) or ReaderInfo(name, name, "")

    @property
    def through(self) -> MetastoreChoice:
        if self.metastore is None:
            return USUAL_METASTORE
        return MetastoreChoice(self.metastore.distribution, self.metastore.upgraded_from)


_INFO: Final = TypeAdapter(RunInfo)


def write_info(folder: Path, info: RunInfo) -> None:
    """Write `run.json`, complete or not at all; the folder is made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(folder / INFO) as part:
        part.write_bytes(dump(info))


def dump(info: RunInfo) -> bytes:
    return _INFO.dump_json(info, indent=1) + b"\n"


def check(folder: Path) -> None:
    """Check that a folder is a run's, without reading its plan; UsageProblem: it is not."""
    if not (folder / INFO).is_file():
        raise UsageProblem(f"{folder} is not a run: it has no {INFO}; name a folder under runs/")


def read_info(folder: Path) -> RunInfo:
    """Read `run.json`; people's own distributions that it holds become known.

    Raises UsageProblem: it is not there, or not what this version writes.
    """
    check(folder)
    path = folder / INFO
    try:
        info = _INFO.validate_json(path.read_bytes())
    except ValidationError as wrong:
        raise UsageProblem(f"{path}: {first_wrong(wrong)}; run the profile again") from wrong
    if len(info.cells) > jsonl.MANY_CELLS and (
        trim := getattr(ctypes.CDLL(None), "malloc_trim", None)
    ):
        trim(0)  # glibc's: what the parser of a huge text needed is else never used again
    if info.locks:
        from harness.artifacts import distributions  # noqa: PLC0415 - few runs have such
    for name, text in info.locks.items():
        if not distributions.is_shipped(name):  # it may be by now
            distributions.register(name, text, f"{path}, lock data of {name}")
    return info


def first_wrong(wrong: ValueError) -> str:
    """Return what is wrong with a record, of several things the first, and where in it."""
    if not isinstance(wrong, ValidationError):
        return str(wrong)
    error = wrong.errors(include_url=False)[0]
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])


if TYPE_CHECKING:
    import pandas as pd

    from harness.artifacts.result_cache import ResultCache
    from harness.model.simulation.reader import StrategyAnswer


WRITE: Final = "write"
"""The view of a verdict that is about a step itself and not about a reader's answer."""
DID_NOT_RUN: Final = "did not run"
NOT_JUDGED: Final = "answered but not judged; judge the run again"
_NONE: Final[Mapping[str, Verdict]] = {}
StrategyAnswers = Callable[[], "Mapping[QuestionKey, tuple[StrategyAnswer, ...]]"]


@dataclass(frozen=True, slots=True)
class NotableStep:
    variant: str
    step: StepInfo
    outcome: records.Outcome


@dataclass(frozen=True)  # no slots: what is derived is kept
class Run:
    """A run as recorded so far; the mappings are by case, the last record of a case counts.

    Raises UsageProblem: a state or an answer is looked at that cannot be read.
    """

    folder: Path
    info: RunInfo
    states: Sequence[StateRecord]
    answers: Mapping[str, Answer]
    recorded: Mapping[str, Verdict]
    report_cache: ReportCache = field(default=UNCACHED, compare=False, repr=False)
    """Of runs with the same records, all of them."""
    profiles: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Of evidence, which has no folder: by its case, the profile that asks each cell."""
    strategy_answers: StrategyAnswers = field(default=dict, compare=False, repr=False)
    """What each read strategy would answer to the questions that some reader got wrong, each table
    once; worked out when it is called, where somebody handed it on (`run.strategy_answers`)."""

    @cached_property
    def by_step(self) -> Mapping[tuple[str, int], StateRecord]:
        return ByKey(self.states, lambda: ((s.variant, s.outcome.step) for s in self.states))

    @cached_property
    def steps_of(self) -> Mapping[str, Sequence[tuple[str, int]]]:
        return grouped([(at[0], at) for at in self.by_step])

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict for each cell, in the order of the plan.

        A planned cell without a recorded verdict is `unknown` and says why. Cells of skipped steps
        are none, nor are those whose column was never made; `failed_steps` lists the steps.
        """
        failed = self.failed_steps
        skipped = {
            (e.variant, e.outcome.step) for e in failed if e.outcome.kind is OutcomeKind.SKIPPED
        }
        verdicts = []
        for cell in (c for c in self.info.cells if (c.variant, c.step) not in skipped):
            verdict = self.recorded.get(cell.case)
            answer = None if verdict else self.answers.get(cell.case)
            if answer is None or not answer.not_applicable:
                verdicts.append(verdict or self._missing(cell, answer))
        return tuple(verdicts)

    @cached_property
    def of_reader(self) -> Mapping[tuple[str, str], Sequence[Verdict]]:
        return grouped(((verdict.variant, verdict.reader), verdict) for verdict in self.verdicts)

    @cached_property
    def by_question(self) -> Mapping[QuestionKey, Sequence[Verdict]]:
        return grouped([(verdict.question, verdict) for verdict in self.verdicts])

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
        return self._steps(lambda outcome: outcome.kind is not OutcomeKind.APPLIED)

    @cached_property
    def half_done_steps(self) -> tuple[NotableStep, ...]:
        """Every step that was applied although its writer answered with an error."""
        return self._steps(lambda outcome: outcome.half_done)

    @cached_property
    def attempted(self) -> Collection[str]:
        """The cases that were asked for more than once."""
        records = self.answers.records if isinstance(self.answers, ByKey) else None
        lines = records.containing(_ATTEMPTS) if isinstance(records, RecordFile) else None
        asked = self.answers.values() if lines is None else lines
        return {answer.case for answer in asked if answer.attempts}

    def _steps(self, which: Callable[[records.Outcome], bool]) -> tuple[NotableStep, ...]:
        return tuple(
            NotableStep(
                state.variant, self.info.step(state.variant, state.outcome.step), state.outcome
            )
            for state in self.by_step.values()
            if which(state.outcome)
        )

    def states_of(self, variant: str) -> list[StateRecord]:
        return [self.by_step[at] for at in self.steps_of.get(variant, ())]

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each cell, and a type for each column."""
        variant, step = cache(self.info.variant), cache(self.info.step)
        columns: dict[str, FrameColumn[Verdict]] = _FRAME | {
            "format": FrameColumn(frames.WORD, lambda v: variant(v.variant).format),
            "writer": FrameColumn(frames.WORD, lambda v: variant(v.variant).writer),
            "operation": FrameColumn(frames.WORD, lambda v: step(v.variant, v.step).operation),
            "step_text": FrameColumn(frames.WORD, lambda v: step(v.variant, v.step).text),
        }
        return frames.frame(self.verdicts, columns)

    def _missing(self, cell: Cell, answer: Answer | None) -> Verdict:
        return Verdict(
            case=cell.case,
            scenario=self.info.variant(cell.variant).scenario,
            variant=cell.variant,
            step=cell.step,
            reader=cell.reader,
            view=cell.view,
            query=cell.query,
            verdict=VerdictKind.UNKNOWN,
            because=NOT_JUDGED if answer else DID_NOT_RUN,
        )


def findings_text(verdict: Verdict) -> str:
    return ", ".join(str(finding.kind) for finding in verdict.findings)


_CELL: Final = ("case", "scenario", "variant", "step", "reader", "view", "query")
_FRAME: Final[dict[str, FrameColumn[Verdict]]] = {
    **frames.of_names(_CELL),
    "verdict": FrameColumn(tuple(VerdictKind), lambda v: v.verdict),
    "findings": FrameColumn(frames.WORD, findings_text),
    "columns": FrameColumn(
        frames.WORD, lambda v: ", ".join(dict.fromkeys(c for f in v.findings for c in f.columns))
    ),
    "reproduces": FrameColumn(frames.WORD, lambda v: ", ".join(v.reproduces)),
    **frames.of_names(("claimed", "because", "known")),
    "seconds": FrameColumn(frames.SECONDS, lambda v: v.seconds if v.sql else None),
    **frames.of_names(("reused",)),
}
"""The columns of `Run.to_frame` that need no plan."""


def wrong_record(path: Path, line: int, reason: str) -> UsageProblem:
    """Return the problem that a line of a file of records is no such record."""
    return UsageProblem(f"{path}:{line}: {reason}; repeat the phase that writes it")


def load(folder: Path, beside: Run | None = None) -> Run:
    """Load a run, whole or broken off; what it has in common with `beside` is in memory once.

    Raises UsageProblem: the folder is no run; a verdict in it cannot be read, or a state names what
    the plan does not have.
    """
    run = recorded(folder)
    if beside and run.info.cells == beside.info.cells:
        run = replace(run, info=replace(run.info, cells=beside.info.cells))
    return with_verdicts(run, beside.recorded if beside else {})


def recorded(folder: Path) -> Run:
    """Load what was recorded of a run, whatever was judged of it; raises as `load` does."""
    info = read_info(folder)
    states = opened_records(folder / STATES, StateRecord)
    for line, state in enumerate(states, start=1):
        variant, step = info.variants_by_id.get(state.variant), state.outcome.step
        if variant is None:
            raise wrong_record(folder / STATES, line, f"the plan has no variant {state.variant!r}")
        if not 0 <= step <= len(variant.steps):
            raise wrong_record(folder / STATES, line, f"{state.variant} has no step {step}")
    return Run(folder, info, states, answers(folder), {})


def with_verdicts(run: Run, known: Mapping[str, Verdict] = _NONE) -> Run:
    """Return a run with the verdicts that are recorded now; raises as `load` does.

    `known`: verdicts by their cases; one that is recorded alike is the same object.
    """
    return replace(run, recorded={verdict.case: verdict for verdict in _verdicts(run, known)})


def answers(folder: Path) -> Mapping[str, Answer]:
    """Load what a run has of answers, by case; each is read when it is looked at."""
    record_file = opened_records(folder / ANSWERS, Answer)
    return ByKey(record_file, record_file.cases)


def sort_answers(folder: Path, cases: Iterable[str] | None = None) -> None:
    """Leave of a run's answers the last of each of these cases, in this order; None: of all.

    What a death cut off is left out. No answer is read: there may be a million.
    """
    path = folder / ANSWERS
    record_file = opened_records(path, Answer)
    record_file.copy(path, dict.fromkeys(record_file.cases()) if cases is None else cases)


def answer_line(answers_: Mapping[str, Answer], case: str) -> str:
    """Return an answer as it is recorded; one that lies in a file is not read."""
    records = answers_.records if isinstance(answers_, ByKey) else None
    if isinstance(answers_, ByKey) and isinstance(records, RecordFile):
        return records.line(answers_.number_of[case]).decode()
    return jsonl.dump(answers_[case])


_ATTEMPTS: Final = b'"attempts":[{'
"""What the line of an answer has in it that was asked for more than once."""


def opened_records(path: Path, kind: type[Record]) -> RecordFile[Record]:
    def failed(line: int, problem: ValueError) -> UsageProblem:
        return wrong_record(path, line, first_wrong(problem))

    return RecordFile(path, kind, failed)


def _verdicts(run: Run, known: Mapping[str, Verdict]) -> Iterator[Verdict]:
    path, read, share = run.folder / VERDICTS, 0, jsonl.sharing(len(run.info.cells))
    try:
        verdicts = jsonl.read_all(path, Verdict, partial(_known, known))
        for read, verdict in enumerate(verdicts, start=1):  # noqa: B007
            yield verdict if known.get(verdict.case) is verdict else share(verdict)
    except ValueError as problem:
        raise wrong_record(path, read + 1, first_wrong(problem)) from problem


def _known(known: Mapping[str, Verdict], line: bytes) -> Verdict | None:
    verdict = known.get(jsonl.case_of(line)) if known else None
    return verdict if verdict and jsonl.dump(verdict) == line[:-1].decode() else None

"""All that a comparison of two sides results in: what reports arrange. Pure."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from harness.comparison.acceptance import NOTHING_ACCEPTED, Acceptance, AcceptedCauses, accept
from harness.comparison.cell_pairs import (
    AS_BEFORE,
    BETTER,
    OF_OPEN,
    WORSE,
    CellPair,
    VerdictChange,
    cell_pairs,
    correspondence,
)
from harness.comparison.regressions import Regression, Remedy, Swap, regressions, remedy_for
from harness.core.grouping import grouped
from harness.core.records import OutcomeKind, Refusal, Verdict, VerdictKind
from harness.judge.gate import GOOD, NEW, UNKNOWN
from harness.model import past_views
from harness.run import causes, frames
from harness.run.causes import OR, CauseKey
from harness.run.frames import FrameColumn
from harness.run.load_run import WRITE, Run, StepInfo, findings_text
from harness.usage.usage_file import (
    BASE_NAME,
    READ_OPTIMIZED,
    SNAPSHOT,
    Usage,
    UsedFormat,
    UsedTable,
)
from harness.usage.weigh import Need, meets, not_ruled_out

PARTITIONED: Final = "partitioned"
_NOW: Final = frozenset({SNAPSHOT, READ_OPTIMIZED, BASE_NAME})
"""The views that are entries of a catalog; any table can be asked about its past."""


@dataclass(frozen=True, slots=True)
class AffectedTables:
    tables: tuple[str, ...]
    unsure: Mapping[str, str]
    """Those of them that can only not be ruled out, with the reason."""

    def __bool__(self) -> bool:
        return bool(self.tables)


def wrong_today(run: Run, usage: Usage) -> tuple[tuple[CauseKey, AffectedTables], ...]:
    affected = (
        (cause.key, _affected(cause.key, cause.verdicts, run, usage))
        for cause in causes.causes(run.verdicts, run)
        if cause.key.symptom.kind is VerdictKind.WRONG
    )
    return tuple((key, tables) for key, tables in affected if tables)


def not_covered(run: Run, usage: Usage) -> Mapping[str, str]:
    versions = _asked_versions(run)
    operations = {step.operation for variant in run.info.variants for step in variant.steps}
    reasons = {table.name: _never_asked(table, versions, operations) for table in usage.tables}
    reasons |= {f"{name}.*": f"they were not listed: {why}" for name, why in usage.unlisted.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _asked_versions(run: Run) -> Mapping[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for verdict in run.verdicts:
        if verdict.verdict is not VerdictKind.UNKNOWN:
            of_format = versions.setdefault(run.info.variant(verdict.variant).format, set())
            of_format |= _versions([verdict], run)
    return versions


def _never_asked(table: UsedTable, versions: Mapping[str, set[str]], operations: set[str]) -> str:
    if table.format is UsedFormat.VIEW:
        return ""
    if table.unread:
        return f"it could not be read: {table.unread}"
    if table.format not in versions:
        return f"no question was about {table.format} tables"
    if table.table_version and table.table_version not in versions[table.format]:
        return f"no question was about {table.format} tables of version {table.table_version}"
    lacking = {str(change.operation) for change in table.schema_changes} - operations
    return f"no question was about {', '.join(sorted(lacking))}" if lacking else ""


def _affected(key: CauseKey, verdicts: Sequence[Verdict], run: Run, usage: Usage) -> AffectedTables:
    tables: dict[str, None] = {}
    unsure: dict[str, str] = {}
    for operation in key.operation.split(OR):
        need = _need(operation, verdicts, run)
        tables |= dict.fromkeys(meets(usage, need))
        unsure |= not_ruled_out(usage, need)
    return AffectedTables(
        tuple(tables), {name: why for name, why in unsure.items() if name in tables}
    )


def _need(operation: str, verdicts: Sequence[Verdict], run: Run) -> Need:
    """Return what a table must be like; only what can be left out without a doubt is."""
    variants = [run.info.variant(name) for name in dict.fromkeys(v.variant for v in verdicts)]
    views = {past_views.name_of(verdict.view) for verdict in verdicts} - {WRITE}
    partitioned = all(PARTITIONED in variant.settings for variant in variants)
    return Need(
        formats=frozenset(variant.format for variant in variants),
        operation=operation,
        table_versions=_versions(verdicts, run),
        partitioned=True if partitioned else None,
        views=frozenset(views) if views <= _NOW else frozenset(),
    )


def _versions(verdicts: Iterable[Verdict], run: Run) -> frozenset[str]:
    states = (run.by_step.get((verdict.variant, verdict.step)) for verdict in verdicts)
    versions = {state.table_version if state else "" for state in states}
    return frozenset() if "" in versions else frozenset(versions)


if TYPE_CHECKING:
    import pandas as pd


class Decision(StrEnum):
    NOTHING_CHANGES = "nothing changes"
    NOTHING_WORSE = "nothing gets worse"
    WITH_SETTING = "upgrade with this setting"
    DO_NOT = "do not upgrade"
    NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class ComparedSide:
    name: str
    run: Run


@dataclass(frozen=True, slots=True)
class UntestedStep:
    """A step that no writer of either side applied to any table of a scenario in a format."""

    scenario: str
    format: str
    step: StepInfo
    refusal: Refusal | None
    """The writer's, of the first table."""
    somewhere: bool
    """Whether it was applied to tables of another format."""


def untested_steps(runs: Sequence[Run]) -> tuple[UntestedStep, ...]:
    applied, elsewhere = set[tuple[str, str, int]](), set[tuple[str, int]]()
    refused = dict[tuple[str, str, int], tuple[StepInfo, Refusal | None]]()
    for run in runs:
        for (variant, number), state in run.by_step.items():
            info = run.info.variant(variant)
            key = info.scenario, info.format, number
            if state.outcome.kind is OutcomeKind.APPLIED:
                applied.add(key)
                elsewhere.add((info.scenario, number))
            elif state.outcome.kind is OutcomeKind.REFUSED:
                refused.setdefault(key, (info.step(number), state.outcome.refusal))
    return tuple(
        UntestedStep(scenario, format_, step, refusal, (scenario, number) in elsewhere)
        for (scenario, format_, number), (step, refusal) in refused.items()
        if (scenario, format_, number) not in applied
    )


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """How many answers of a reader have which verdict; a name is empty where a side has no such."""

    old: str
    new: str
    before: Mapping[VerdictKind, int]
    after: Mapping[VerdictKind, int]


@dataclass(frozen=True)  # no slots: what is derived is cached
class SideComparison:
    old: ComparedSide
    new: ComparedSide
    pairs: tuple[CellPair, ...]
    regressions: tuple[Regression, ...]
    """The causes of what is worse, but for those that are accepted."""
    remedies: tuple[Remedy, ...] = ()
    swaps: tuple[Swap, ...] = ()
    usage: Usage | None = None
    accepted: AcceptedCauses = NOTHING_ACCEPTED
    partial_allowed: bool = False
    """Whether an answer in part is as good as a whole one for the exit status."""

    def accepting(self, lines: Iterable[Acceptance], today: datetime.date) -> SideComparison:
        left, accepted = accept(self.regressions, self.pairs, lines, self.new.run, today)
        return replace(self, regressions=left, accepted=accepted)

    @cached_property
    def affected(self) -> Mapping[CauseKey, AffectedTables]:
        if self.usage is None:
            return {}
        run, usage = self.new.run, self.usage
        return {
            cause.key: _affected(cause.key, [pair.either for pair in cause.pairs], run, usage)
            for cause in self.regressions
        }

    @cached_property
    def untested(self) -> tuple[UntestedStep, ...]:
        return untested_steps((self.old.run, self.new.run))

    @property
    def in_part(self) -> bool:
        """Whether a step of a scenario was applied in no format, so that nothing asked about it."""
        return not all(step.somewhere for step in self.untested)

    @cached_property
    def not_covered(self) -> Mapping[str, str]:
        return not_covered(self.new.run, self.usage) if self.usage else {}

    @cached_property
    def relevant(self) -> tuple[Regression, ...]:
        """The causes that count: with a usage, those that a table can meet."""
        affected = self.affected
        return tuple(c for c in self.regressions if not affected or affected[c.key])

    @property
    def irrelevant(self) -> tuple[Regression, ...]:
        return tuple(cause for cause in self.regressions if cause not in self.relevant)

    @cached_property
    def counts(self) -> Mapping[VerdictChange, int]:
        counted = Counter(pair.change for pair in self.pairs)
        return {change: counted[change] for change in VerdictChange}

    @cached_property
    def reader_scores(self) -> tuple[ReaderScore, ...]:
        """A score for each reader; an old cell beside several new ones counts once."""
        asked = (pair for pair in self.pairs if not pair.is_step)
        readers = grouped(((_reader(pair.old), _reader(pair.new)), pair) for pair in asked)
        return tuple(
            ReaderScore(
                old, new, _counts(pair.old for pair in pairs), _counts(pair.new for pair in pairs)
            )
            for (old, new), pairs in readers.items()
        )

    @property
    def not_known(self) -> int:
        """Of so many questions, and of somebody's own tables, nothing is known."""
        return self.counts[VerdictChange.UNKNOWN] + len(self.not_covered)

    @property
    def _enough_known(self) -> bool:
        asked = sum(self.counts[change] for change in (*AS_BEFORE, *BETTER, *OF_OPEN, *WORSE))
        return bool(asked) and not self.not_known

    @property
    def decision(self) -> Decision:
        """What is worse counts whatever is not known; without it, the unknown leaves no answer."""
        if self.worse:
            return Decision.WITH_SETTING if self.remedy else Decision.DO_NOT
        if not self._enough_known:
            return Decision.NOT_KNOWN
        changes = (*BETTER, *OF_OPEN, VerdictChange.NEW, VerdictChange.GONE)
        changed = self.worse_accepted or any(self.counts[change] for change in changes)
        return Decision.NOTHING_WORSE if changed else Decision.NOTHING_CHANGES

    @property
    def status(self) -> int:
        """The exit status: 3 if something is not known, else 1 if anything is worse, else 0.

        An answer in part is not known, unless that is allowed.
        """
        status = (NEW if self.worse else GOOD) if self._enough_known else UNKNOWN
        if status == GOOD and self.in_part and not self.partial_allowed:
            status = UNKNOWN
        return max(status, NEW) if self.accepted.needs_review else status

    @cached_property
    def worse(self) -> tuple[CellPair, ...]:
        if self.usage is None:
            cases = self._accepted_cases
            worse = (pair for pair in self.pairs if pair.change in WORSE)
            return tuple(pair for pair in worse if pair.either.case not in cases)
        return tuple({id(pair): pair for cause in self.relevant for pair in cause.pairs}.values())

    @cached_property
    def worse_accepted(self) -> tuple[CellPair, ...]:
        cases = self._accepted_cases
        return tuple(pair for pair in self.pairs if pair.either.case in cases)

    @cached_property
    def _accepted_cases(self) -> frozenset[str]:
        causes = self.accepted.causes
        cases = frozenset(pair.either.case for cause in causes for pair in cause.cause.pairs)
        return cases - {pair.either.case for cause in self.regressions for pair in cause.pairs}

    @property
    def remedy(self) -> Remedy | None:
        """The settings with which nothing is worse, and all that is right stays so."""
        harmless = (remedy for remedy in self.remedies if not remedy.harms)
        return remedy_for([pair.either.question for pair in self.worse], harmless)

    def pairs_of(self, change: VerdictChange) -> tuple[CellPair, ...]:
        return tuple(pair for pair in self.pairs if pair.change is change)

    def to_frame(self) -> pd.DataFrame:
        return frames.frame(self.pairs, _FRAME)


_Column = FrameColumn[CellPair]
_FRAME: Final[Mapping[str, _Column]] = {
    "case": FrameColumn(frames.TEXT, lambda pair: pair.either.case),
    "scenario": FrameColumn(frames.WORD, lambda pair: pair.either.scenario),
    "variant": FrameColumn(frames.WORD, lambda pair: pair.either.variant),
    "step": FrameColumn(frames.NUMBER, lambda pair: pair.either.step),
    "view": FrameColumn(frames.WORD, lambda pair: pair.either.view),
    "query": FrameColumn(frames.WORD, lambda pair: pair.either.query),
    "change": FrameColumn(tuple(VerdictChange), lambda pair: pair.change),
    "worse": FrameColumn(frames.FLAG, lambda pair: pair.change in WORSE),
    "old_reader": FrameColumn(frames.WORD, lambda pair: _reader(pair.old)),
    "new_reader": FrameColumn(frames.WORD, lambda pair: _reader(pair.new)),
    "old_verdict": FrameColumn(tuple(VerdictKind), lambda pair: pair.old and pair.old.verdict),
    "new_verdict": FrameColumn(tuple(VerdictKind), lambda pair: pair.new and pair.new.verdict),
    "old_findings": FrameColumn(frames.WORD, lambda pair: _findings(pair.old)),
    "new_findings": FrameColumn(frames.WORD, lambda pair: _findings(pair.new)),
}


def _reader(verdict: Verdict | None) -> str:
    return verdict.reader if verdict else ""


def _findings(verdict: Verdict | None) -> str:
    return findings_text(verdict) if verdict else ""


def _counts(verdicts: Iterable[Verdict | None]) -> Mapping[VerdictKind, int]:
    kinds = {verdict.case: verdict.verdict for verdict in verdicts if verdict}
    counted = Counter(kinds.values())
    return {kind: counted[kind] for kind in VerdictKind}


def compare(
    old: ComparedSide, new: ComparedSide, readers: Mapping[str, str] | None = None
) -> SideComparison:
    """Compare two judged runs; `readers`: the old reader of each new one, None: as names say."""
    names = correspondence(old.run.info, new.run.info)
    names = names if readers is None else replace(names, readers=readers)
    pairs = cell_pairs(old.run, new.run, names)
    return SideComparison(old, new, pairs, regressions(pairs, new.run))


Changes = frozenset[int]
SAFE = frozenset({Decision.NOTHING_CHANGES, Decision.NOTHING_WORSE})


@dataclass(frozen=True, slots=True)
class RolloutState:
    changes: Changes
    name: str
    comparison: SideComparison
    back: SideComparison | None = None
    """The readers and the writer of before on what this state has left; None: not asked."""
    downgraded: SideComparison | None = None
    """The same after this state's writer brought the table version down; None: not tried."""

    @property
    def safe(self) -> bool:
        return self.comparison.decision in SAFE

    @property
    def returns(self) -> bool:
        return _safe(self.back) or _safe(self.downgraded)

    @property
    def returns_by_downgrade(self) -> bool:
        return _safe(self.downgraded) and not _safe(self.back)

    @property
    def comparisons(self) -> tuple[SideComparison, ...]:
        return tuple(filter(None, (self.comparison, self.back, self.downgraded)))


def _safe(comparison: SideComparison | None) -> bool:
    return comparison is not None and comparison.decision in SAFE


@dataclass(frozen=True, slots=True)
class Rollout:
    states: tuple[RolloutState, ...]
    safe_order: tuple[int, ...] | None
    """The numbers of the changes in the first order in which every state is safe; None: none."""
    others: tuple[RolloutState, ...] = ()

    def allowing_partial(self) -> Rollout:
        """Return it with answers in part as good as whole ones for the exit status."""
        states = (
            replace(state, comparison=replace(state.comparison, partial_allowed=True))
            for state in self.states
        )
        return replace(self, states=tuple(states))

    @property
    def judged(self) -> tuple[RolloutState, ...]:
        return (*self.states, *self.others)

    @property
    def safe(self) -> bool:
        return all(state.safe for state in self.states)

    @property
    def status(self) -> int:
        """The exit status: 3 if of a state not all is known, else 1 if one is not safe."""
        return max((state.comparison.status for state in self.states), default=0)

    @property
    def no_return(self) -> RolloutState | None:
        """The first state from which there is no way back; None: from each there is one."""
        return next((state for state in self.states if not state.returns), None)


def safe_order(number: int, is_safe: Callable[[Changes], bool]) -> tuple[int, ...] | None:
    """Return the first order of changes in which every state is safe; None: there is none.

    The order that was asked for comes first. A state is judged when it is reached, and once.

    >>> safe_order(2, lambda made: made != {1})
    (2, 1)
    """
    judge = cache(is_safe)

    def orders(made: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(made) == number:
            yield made
        for change in range(1, number + 1):
            if change not in made and judge(frozenset((*made, change))):
                yield from orders((*made, change))

    return next(orders(()), None)

"""All that a comparison of two sides results in: what reports arrange. Pure."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, cached_property
from itertools import chain
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
from harness.run.load_run import WRITE, Run, StepInfo, VariantInfo, findings_text
from harness.usage import features
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


@dataclass(frozen=True, slots=True)
class NotAsked:
    """Why nothing is known of somebody's table, and what to ask."""

    why: str
    format: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    """Of a table that is like it."""
    operations: tuple[str, ...] = ()
    """Steps that were in no scenario, or what they give a table."""

    @property
    def options(self) -> tuple[str, ...]:
        """Return what asks it, but for the operations, as the command line takes it."""
        settings = (f"--setting {name}={value}" for name, value in self.settings)
        return (f"--format {self.format}", *settings) if self.format else ()


def not_asked(run: Run, usage: Usage, lacking: Mapping[str, str]) -> Mapping[str, NotAsked]:
    asked = _asked_tables(run)
    operations = {step.operation for variant in run.info.variants for step in variant.steps}
    steps = (step for variant in run.info.variants for step in variant.steps)
    stepped = {feature for step in steps for feature in step.features}
    reasons = {
        table.name: _never_asked(table, asked, operations, stepped)
        if table.unread or table.format not in lacking
        else (NotAsked(why) if (why := lacking[table.format]) else None)
        for table in usage.tables
    }
    unlisted = {
        f"{name}.*": NotAsked(f"they were not listed: {why}")
        for name, why in usage.unlisted.items()
    }
    return {name: reason for name, reason in (reasons | unlisted).items() if reason}


_AskedTables = Mapping[str, Mapping[str, list[features.Settings]]]
"""By format and version the settings of the tables that were asked about."""


def _asked_tables(run: Run) -> _AskedTables:
    tables: dict[str, dict[str, list[features.Settings]]] = {}
    done = set[tuple[str, str]]()
    for verdict in run.verdicts:
        if verdict.verdict is not VerdictKind.UNKNOWN:
            variant = run.info.variant(verdict.variant)
            state = run.by_step.get((verdict.variant, verdict.step))
            version = state.table_version if state else ""
            if (variant.id, version) not in done:
                done.add((variant.id, version))
                of_format = tables.setdefault(variant.format, {})
                of_format.setdefault(version, []).append(variant.settings)
    return tables


def _never_asked(
    table: UsedTable, asked: _AskedTables, operations: set[str], stepped: set[str]
) -> NotAsked | None:
    if table.format is UsedFormat.VIEW:
        return None
    if table.unread:
        return NotAsked(f"it could not be read: {table.unread}")
    name, version = str(table.format), table.table_version
    versions = asked.get(name, {})
    if name not in asked or (version and version not in versions):
        needed = _settings_for(table, features.lacking(name, table.features, ()))
        of_version = f" of version {version}" if name in asked else ""
        return NotAsked(f"no question was about {name} tables{of_version}", name, needed)
    similar = chain.from_iterable(some for v, some in versions.items() if version in {"", v})
    if lacking := features.lacking(name, table.features, similar):
        why = f"no question was about {name} tables with {' and '.join(lacking)}"
        return NotAsked(why, name, _settings_for(table, lacking))
    changes = {str(change.operation) for change in table.schema_changes} - operations
    if features.DEFAULTS in table.features and features.DEFAULTS not in stepped:
        why = f"no question was about {features.DEFAULTS}"
        return NotAsked(why, name, (), (features.DEFAULTS,))
    why = f"no question was about {', '.join(sorted(changes))}"
    return NotAsked(why, name, (), tuple(sorted(changes))) if changes else None


def _settings_for(
    table: UsedTable, lacking: Mapping[str, features.Settings]
) -> tuple[tuple[str, str], ...]:
    version = features.VERSION_SETTING.get(table.format, "")
    settings = {version: table.table_version} if version and table.table_version else {}
    for of_feature in lacking.values():
        settings |= of_feature
    return tuple(settings.items())


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
    states = (run.by_step.get((verdict.variant, verdict.step)) for verdict in verdicts)
    versions = frozenset(state.table_version if state else "" for state in states)
    return Need(
        formats=frozenset(variant.format for variant in variants),
        operation=operation,
        table_versions=frozenset() if "" in versions else versions,
        partitioned=True if partitioned else None,
        views=frozenset(views) if views <= _NOW else frozenset(),
        features=_step_features(operation, verdicts, run),
        any_features=tuple(_setting_features(variants, run)),
    )


def _step_features(operation: str, verdicts: Iterable[Verdict], run: Run) -> frozenset[str]:
    """Return what every step of an operation gave these tables before they were asked about."""
    given = {
        frozenset(step.features)
        for verdict in verdicts
        for step in run.info.variant(verdict.variant).steps[: verdict.step]
        if step.operation == operation
    }
    return frozenset.intersection(*given) if given else frozenset()


def _setting_features(variants: Sequence[VariantInfo], run: Run) -> Iterator[frozenset[str]]:
    """Yield features one of which a table must have: without the setting it was not so.

    That is only known where each table has another one beside it that differs in this alone.
    """
    named = {variant.id for variant in variants}
    asked = dict.fromkeys(verdict.variant for verdict in run.verdicts)
    others = [run.info.variant(name) for name in asked if name not in named]
    for name in dict.fromkeys(name for variant in variants for name in variant.settings):
        values = {variant.settings.get(name, "") for variant in variants}
        words = {f for v in variants for f in features.having(v.format, name, values)}
        if words and all(any(_differ(v, other, name) for other in others) for v in variants):
            yield frozenset(words)


def _differ(one: VariantInfo, other: VariantInfo, setting: str) -> bool:
    """Return whether two tables differ in one setting alone."""
    same = ("scenario", "format", "writers", "twin")
    return (
        all(getattr(one, name) == getattr(other, name) for name in same)
        and one.settings.get(setting) != other.settings.get(setting)
        and {**one.settings, setting: ""} == {**other.settings, setting: ""}
    )


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
    command: str = ""
    """What asks the same again, to which options can be added; empty where nothing does."""
    files: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Of a format and a step that was never asked about, a scenario's file that has it."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Of a format that was named and that a reader of one side cannot read, why."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Of a format of somebody's tables that not every side has, why; empty if none has it."""
    unasked: tuple[str, ...] = ()
    """Of evidence: what one side alone was asked, a sentence each."""

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
        applied, elsewhere = set[tuple[str, str, int]](), set[tuple[str, int]]()
        refused = dict[tuple[str, str, int], tuple[StepInfo, Refusal | None]]()
        for run in (self.old.run, self.new.run):
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

    @property
    def in_part(self) -> bool:
        """Whether something material was not tested.

        That is a step of a scenario which was applied in no format, a format which a side does not
        read, or the larger part of the questions, which both sides refused.
        """
        step = not all(step.somewhere for step in self.untested)
        return (
            step or bool(self.unread or self.unasked) or 2 * self.refused_by_both > self._compared
        )

    @cached_property
    def refused_by_both(self) -> int:
        """So many questions were answered by neither side: nothing was learnt of the answers."""
        refused = self.pairs_of(VerdictChange.REFUSED_AS_BEFORE)
        return sum(not pair.is_step for pair in refused)

    @cached_property
    def _compared(self) -> int:
        """So many questions have a known outcome of both sides."""
        alone = VerdictChange.NEW, VerdictChange.GONE, VerdictChange.UNKNOWN
        return sum(not (pair.is_step or pair.change in alone) for pair in self.pairs)

    @cached_property
    def not_asked(self) -> Mapping[str, NotAsked]:
        return not_asked(self.new.run, self.usage, self.lacking) if self.usage else {}

    @property
    def not_covered(self) -> Mapping[str, str]:
        return {name: reason.why for name, reason in self.not_asked.items()}

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
    def _enough_known(self) -> bool:
        asked = sum(self.counts[change] for change in (*AS_BEFORE, *BETTER, *OF_OPEN, *WORSE))
        unknown = self.counts[VerdictChange.UNKNOWN] or self.not_covered
        return asked > self.refused_by_both and not unknown

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

        An answer in part is not known, unless that is allowed. Lines of what is accepted that
        somebody has to look at count as if something were worse.
        """
        status = (NEW if self.worse else GOOD) if self._enough_known else UNKNOWN
        if status == GOOD and self.in_part and not self.partial_allowed:
            status = UNKNOWN
        return max(status, NEW) if self.accepted.gone or self.accepted.unreviewed else status

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
    **frames.of_names(("case", "scenario", "variant", "step", "view", "query"), "either."),
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

    def with_scope(self, unread: Mapping[str, str], *, partial_allowed: bool) -> Rollout:
        """Return it with what no state could be asked, and whether answers in part are enough."""

        def scoped(state: RolloutState) -> RolloutState:
            comparison = replace(state.comparison, unread=unread, partial_allowed=partial_allowed)
            return replace(state, comparison=comparison)

        states, others = (tuple(map(scoped, some)) for some in (self.states, self.others))
        return replace(self, states=states, others=others)

    @property
    def judged(self) -> tuple[RolloutState, ...]:
        return (*self.states, *self.others)

    @property
    def safe(self) -> bool:
        return all(state.safe for state in self.states)

    @property
    def in_part(self) -> bool:
        return any(state.comparison.in_part for state in self.states)

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

"""What is worse on the new side, by its cause, and what helps: settings, workarounds. Pure.

A workaround needs evidence: answers to a question of the cause, none of which shows it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from harness.comparison.cell_pairs import (
    WORSE,
    CellPair,
    VerdictChange,
    finding_values,
    wrong_values,
)
from harness.core.grouping import grouped
from harness.core.records import WRITERS, FindingKind, QuestionKey, Verdict, VerdictKind
from harness.run import causes
from harness.run.causes import CauseKey, SettingLine, Symptom
from harness.run.load_run import Run, VariantInfo

NEW_WRITER: Final = "the new writer"
"""Stands for the operation where a table is so since it is written by another one."""


@dataclass(frozen=True, slots=True)
class Regression:
    key: CauseKey
    """Without an engine where a writer did it, in a step."""
    pairs: tuple[CellPair, ...]
    """The simplest one first: of the shortest scenario, after the earliest step."""
    by_default: bool
    """Whether somebody meets it who has set nothing."""

    @property
    def changes(self) -> tuple[VerdictChange, ...]:
        classes = {pair.change for pair in self.pairs}
        return tuple(change for change in WORSE if change in classes)

    @property
    def loud(self) -> bool:
        return self.changes[0] is VerdictChange.REGRESSED_LOUDLY

    @property
    def first(self) -> CellPair:
        return self.pairs[0]

    @property
    def asked(self) -> tuple[Verdict, ...]:
        return tuple(pair.either for pair in self.pairs if not pair.is_step)

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pair.either.scenario for pair in self.pairs))


def regressions(pairs: Iterable[CellPair], new: Run) -> tuple[Regression, ...]:
    """Return the causes of what is worse, the most harmful first; `new`: the new side's run."""
    worse = [(pair, symptom) for pair in pairs for symptom in _symptoms(pair, new)]
    cases = {pair.either.case for pair, _ in worse}
    keys = {
        (case, cause.key.symptom): cause.key
        for cause in (causes.causes(new.verdicts, new) if cases else ())
        for case in cause.cases
        if case in cases
    }
    steps = grouped(((p.either.variant, p.either.reader, of), p.either.step) for p, of in worse)
    first = {key: min(numbers) for key, numbers in steps.items()}
    groups = grouped(
        (_key(keys.get((pair.either.case, symptom)), pair, symptom, first, new), pair)
        for pair, symptom in worse
    )
    return tuple(sorted((regression(key, of, new) for key, of in groups.items()), key=_harm))


def _key(
    known: CauseKey | None,
    pair: CellPair,
    symptom: Symptom,
    first: Mapping[tuple[str, str, Symptom], int],
    run: Run,
) -> CauseKey:
    """Return the cause of a pair; `first`: the step after which a reader is worse so first.

    It is the new side's writer if the old side has another, and it is so since that one's first
    rows; since a reader was first asked about them, for some are asked seldom.
    """
    verdict, variant = pair.either, run.info.variant(pair.either.variant)
    key = known or CauseKey("", symptom, variant.step(verdict.step).operation)
    if pair.old is None or pair.old.variant == verdict.variant:
        return key
    writers = enumerate(variant.writers)
    takes_over = next((step for step, writer in writers if writer != variant.writers[0]), 1)
    asked = (v.step for v in run.of_reader.get((verdict.variant, verdict.reader), ()))
    first_asked = min((step for step in asked if step >= takes_over), default=takes_over)
    began = first[verdict.variant, verdict.reader, symptom]
    return key if began > first_asked else replace(key, operation=NEW_WRITER)


def _symptoms(pair: CellPair, run: Run) -> Iterator[Symptom]:
    if pair.change not in WORSE or pair.new is None:
        return
    symptoms = causes.symptoms(pair.new, run.answers.get(pair.new.case))
    if pair.is_step and pair.new.verdict is not VerdictKind.WRONG:
        state = run.by_step.get((pair.new.variant, pair.new.step))
        refusal = state.outcome.refusal if state else None
        yield Symptom(VerdictKind.REFUSED, causes.meaning(refusal))
    elif pair.change is VerdictChange.REGRESSED_LOUDLY:
        yield from (symptom for symptom in symptoms if symptom.kind is not VerdictKind.WRONG)
    else:
        before = wrong_values(pair.old) if pair.old else frozenset()
        new = [finding for finding in pair.new.findings if finding_values(finding) - before]
        shown = {(finding.kind, finding.responsible) for finding in new}
        yield from (symptom for symptom in symptoms if (symptom.what, symptom.responsible) in shown)


def regression(key: CauseKey, pairs: Sequence[CellPair], run: Run) -> Regression:
    def complexity(pair: CellPair) -> tuple[int, int, bool, bool, str]:
        verdict, variant = pair.either, run.info.variant(pair.either.variant)
        some_columns = verdict.query != "all"
        return len(variant.steps), verdict.step, variant.twin, some_columns, verdict.case

    readers = {pair.either.reader for pair in pairs if not pair.is_step}
    anyones = not readers or key.symptom.responsible in WRITERS
    met = anyones or any(run.info.reader(reader).by_default for reader in readers)
    return Regression(key, tuple(sorted(pairs, key=complexity)), met)


def _harm(cause: Regression) -> tuple[bool, bool, int, int, int, int]:
    kinds = list(FindingKind)
    kind = kinds.index(cause.key.finding) if cause.key.finding else len(kinds)
    change = WORSE.index(cause.changes[0])
    return (
        cause.loud, not cause.by_default, change, -len(cause.scenarios), kind, -len(cause.pairs),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Swap:
    """The old side with one component of the new one, compared with the old side."""

    component: str
    old: str
    new: str
    worse: tuple[CellPair, ...] = ()
    why_not: str = ""
    """Why it could not be tried; else empty."""

    def __str__(self) -> str:
        return f"{self.component} {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class SuspectComponents:
    alone: tuple[Swap, ...] = ()
    partly: tuple[Swap, ...] = ()
    untried: tuple[Swap, ...] = ()

    @property
    def together(self) -> bool:
        return not (self.alone or self.partly or self.untried)


def suspect_components(cause: Regression, swaps: Sequence[Swap]) -> SuspectComponents:
    questions = _questions(cause.pairs)
    # No mapping by swap: a witness may hold a struct, which has no hash.
    shown = [(swap, questions & _questions(swap.worse)) for swap in swaps if not swap.why_not]
    return SuspectComponents(
        tuple(swap for swap, some in shown if some == questions),
        tuple(swap for swap, some in shown if some and some != questions),
        tuple(swap for swap in swaps if swap.why_not),
    )


def _questions(pairs: Sequence[CellPair]) -> set[QuestionKey]:
    """Return the questions as the old side calls them, which all swaps have in common."""
    return {pair.old.question for pair in pairs if pair.old}


_ANSWERED: Final = frozenset({VerdictKind.CORRECT, VerdictKind.WRONG})
"""The verdicts that can tell: who refuses shows no cause, and helps nobody."""
READ_OPTIMIZED: Final = "read_optimized"


class Workaround(StrEnum):
    COMPACT = "compact"
    REWRITE = "rewrite"
    COPY_ON_WRITE = "copy-on-write"
    OTHER_VIEW = "another view"
    """Ask another view of the table, which shows less."""
    OTHER_ENGINE = "another engine"


def workarounds(cause: Regression, run: Run) -> tuple[Workaround, ...]:
    known = grouped(((verdict.variant, verdict.query), verdict) for verdict in run.verdicts)
    evidence = grouped(
        (workaround, other)
        for verdict in cause.asked
        for variant in _tables(run.info.variant(verdict.variant), run)
        for other in known.get((variant.id, verdict.query), ())
        if other.verdict in _ANSWERED
        for workaround in _shown_by(other, verdict, run)
    )
    return tuple(
        workaround
        for workaround in Workaround
        if (verdicts := evidence.get(workaround))
        and all(f.kind is not cause.key.finding for v in verdicts for f in v.findings)
    )


def _tables(variant: VariantInfo, run: Run) -> Iterator[VariantInfo]:
    """Yield a variant, and what is the same but for copy-on-write."""
    yield variant
    if variant.format == "hudi-mor":
        for other in run.info.variants:
            if other.format == "hudi-cow" and _story(other) == _story(variant):
                yield other


def _story(variant: VariantInfo) -> tuple[object, ...]:
    settings = tuple(sorted(variant.settings.items()))
    return variant.scenario, settings, variant.writers, variant.twin


def _shown_by(other: Verdict, verdict: Verdict, run: Run) -> Iterator[Workaround]:
    """Yield what a verdict on the same query of another answer is evidence for."""
    step, reader = other.step == verdict.step, other.reader == verdict.reader
    if other.variant != verdict.variant:
        if step and reader and verdict.view != READ_OPTIMIZED:
            yield Workaround.COPY_ON_WRITE
        return
    view, variant = other.view == verdict.view, run.info.variant(verdict.variant)
    if reader and view and other.step == _next(variant, "compact", verdict.step):
        yield Workaround.COMPACT
    rewrites = variant.settings.get("rewrites") == "all"
    if reader and view and rewrites and other.step == _next(variant, "touch", verdict.step):
        yield Workaround.REWRITE
    if step and reader and not view:
        yield Workaround.OTHER_VIEW
    distributions = {run.info.reader(one.reader).distribution for one in (other, verdict)}
    if step and view and len(distributions) > 1:
        yield Workaround.OTHER_ENGINE


def _next(variant: VariantInfo, operation: str, after: int) -> int | None:
    steps = (step.number for step in variant.steps if step.operation == operation)
    return next((number for number in steps if number > after), None)


@dataclass(frozen=True, slots=True)
class Remedy:
    """Settings with which every cell of the new side was asked that is worse, or that is right."""

    reader: str
    changes: tuple[str, ...]
    """What is set otherwise: `use-column-names=true`."""
    heals: frozenset[QuestionKey]
    """The questions that are worse without them, and right with them."""
    harms: frozenset[QuestionKey]
    """The questions that are right without them, and with them are not, or are not known to be."""
    lines: tuple[SettingLine, ...] = ()
    """For the engine's configuration; empty where only the harness's words are known."""

    @property
    def settings(self) -> tuple[SettingLine, ...]:
        return self.lines or tuple(SettingLine(change, "") for change in self.changes)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(map(str, self.settings))


def reader_remedy(
    reader: str,
    changes: Iterable[str],
    verdicts: Iterable[Verdict],
    worse: Collection[QuestionKey],
    right: Collection[QuestionKey],
) -> Remedy:
    """Return what settings of a reader do.

    `worse` and `right` are what it answers without them worse than the old side, and rightly.
    """
    kinds = {verdict.question: verdict.verdict for verdict in verdicts if verdict.reader == reader}
    good = {question for question, kind in kinds.items() if kind is VerdictKind.CORRECT}
    return Remedy(
        reader, tuple(changes), frozenset(good & set(worse)), frozenset(set(right) - good)
    )


def writer_remedy(
    writer: str, changes: Iterable[str], without: Iterable[CellPair], pairs: Iterable[CellPair]
) -> Remedy:
    """Return what settings of a writer do to `pairs`; `without` them these were others.

    A question of the old side is right if it is so on every table that stands for it.
    """
    bad = {*WORSE, VerdictChange.UNKNOWN}
    asked = [(pair.old.question, pair.change) for pair in pairs if pair.old]
    helped = {question for question, _ in asked}
    helped -= {question for question, change in asked if change in bad}
    both = [
        (pair, pair.old.question in helped, pair.new) for pair in without if pair.old and pair.new
    ]
    heals = {new.question for pair, helps, new in both if helps and pair.change in WORSE}
    harms = {
        new.question for _, helps, new in both if not helps and new.verdict is VerdictKind.CORRECT
    }
    return Remedy(writer, tuple(changes), frozenset(heals), frozenset(harms))


def ranked(remedies: Iterable[Remedy]) -> tuple[Remedy, ...]:
    """Return the settings that heal anything: without harm first, then those that heal most."""
    helping = (remedy for remedy in remedies if remedy.heals)
    return tuple(
        sorted(helping, key=lambda r: (bool(r.harms), -len(r.heals), len(r.harms), len(r.changes)))
    )


def remedy_for(worse: Collection[QuestionKey], remedies: Iterable[Remedy]) -> Remedy | None:
    return next((remedy for remedy in remedies if remedy.heals >= set(worse)), None)

"""What is worse on the new side, by its cause: what happened to the table before it. Pure.

The causes are those of the new side's run (`run.causes`); here they are narrowed to what is worse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.comparison.cell_pairs import WORSE, CellPair, VerdictChange, finding_places, places
from harness.core.grouping import grouped
from harness.core.records import WRITERS, FindingKind, Refusal, Verdict, VerdictKind
from harness.run import causes
from harness.run.causes import CauseKey, Symptom
from harness.run.load_run import Run

NEW_WRITER: Final = "the new writer"
"""Stands for the operation where a table is so since it is written by another one."""


@dataclass(frozen=True, slots=True)
class Regression:
    """One cause of answers that are worse, and all of those."""

    key: CauseKey
    """Without an engine where a writer did it, in a step."""
    pairs: tuple[CellPair, ...]
    """The simplest one first: of the shortest scenario, after the earliest step."""
    by_default: bool
    """Whether somebody meets it who has set nothing."""

    @property
    def changes(self) -> tuple[VerdictChange, ...]:
        """The classes of its pairs, the most harmful first."""
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
    """Return the causes of what is worse, the most harmful first; `new`: the new side's run.

    Silent ones come before loud ones; of these, those that engines have by default; of these, those
    that most scenarios show.
    """
    worse = [(pair, symptom) for pair in pairs for symptom in _symptoms(pair, new)]
    keys = _keys(new, {pair.either.case for pair, _ in worse})
    first = _first_steps(worse)
    groups = grouped(
        (_key(keys.get((pair.either.case, symptom)), pair, symptom, first, new), pair)
        for pair, symptom in worse
    )
    return tuple(sorted((regression(key, of, new) for key, of in groups.items()), key=_harm))


def _keys(run: Run, cases: Collection[str]) -> Mapping[tuple[str, Symptom], CauseKey]:
    return {
        (case, cause.key.symptom): cause.key
        for cause in (causes.causes(run.verdicts, run) if cases else ())
        for case in cause.cases
        if case in cases
    }


_FirstSteps = Mapping[tuple[str, str, Symptom], int]
"""After which step a reader first is worse so, on each table."""


def _first_steps(worse: Iterable[tuple[CellPair, Symptom]]) -> _FirstSteps:
    steps = grouped(((p.either.variant, p.either.reader, of), p.either.step) for p, of in worse)
    return {key: min(numbers) for key, numbers in steps.items()}


def _key(
    known: CauseKey | None, pair: CellPair, symptom: Symptom, first: _FirstSteps, run: Run
) -> CauseKey:
    """Return the cause of a pair; what is so since another writer writes is that writer's."""
    verdict = pair.either
    step = run.step(verdict.variant, verdict.step)
    key = known or CauseKey("", symptom, step.operation)
    began = first[verdict.variant, verdict.reader, symptom]
    takes_over = _takes_over(pair, run)
    if takes_over is None or began > _first_asked(pair, takes_over, run):
        return key
    return replace(key, operation=NEW_WRITER)


def _first_asked(pair: CellPair, since: int, run: Run) -> int:
    """Return after which step a reader was first asked since one; some are asked seldom."""
    verdict = pair.either
    asked = (v.step for v in run.of_reader.get((verdict.variant, verdict.reader), ()))
    return min((step for step in asked if step >= since), default=since)


def _takes_over(pair: CellPair, run: Run) -> int | None:
    """Return the first step with rows of the new side's writer, where the old side has another."""
    if pair.old is None or pair.old.variant == pair.either.variant:
        return None
    writers = run.variant(pair.either.variant).writers
    return next((step for step, writer in enumerate(writers) if writer != writers[0]), 1)


def _symptoms(pair: CellPair, run: Run) -> Iterator[Symptom]:
    """Yield the symptoms by which a pair is worse."""
    if pair.change not in WORSE or pair.new is None:
        return
    symptoms = causes.symptoms(pair.new, run.answers.get(pair.new.case))
    if pair.is_step and pair.new.verdict is not VerdictKind.WRONG:
        yield Symptom(VerdictKind.REFUSED, causes.meaning(_refusal(pair.new, run)))
    elif pair.change is VerdictChange.REGRESSED_LOUDLY:
        yield from (symptom for symptom in symptoms if symptom.kind is not VerdictKind.WRONG)
    else:
        before = places(pair.old) if pair.old else frozenset()
        new = [finding for finding in pair.new.findings if finding_places(finding) - before]
        shown = {(finding.kind, finding.responsible) for finding in new}
        yield from (symptom for symptom in symptoms if (symptom.what, symptom.responsible) in shown)


def _refusal(step: Verdict, run: Run) -> Refusal | None:
    state = run.by_step.get((step.variant, step.step))
    return state.outcome.refusal if state else None


def regression(key: CauseKey, pairs: Sequence[CellPair], run: Run) -> Regression:
    """Return what these pairs have in common; `run`: the new side's."""

    def complexity(pair: CellPair) -> tuple[int, int, bool, bool, str]:
        verdict, variant = pair.either, run.variant(pair.either.variant)
        some_columns = verdict.query != "all"
        return len(variant.steps), verdict.step, variant.twin, some_columns, verdict.case

    readers = {pair.either.reader for pair in pairs if not pair.is_step}
    anyones = not readers or key.symptom.responsible in WRITERS
    met = anyones or any(causes.by_default(run, reader) for reader in readers)
    return Regression(key, tuple(sorted(pairs, key=complexity)), met)


def _harm(cause: Regression) -> tuple[bool, bool, int, int, int, int]:
    kinds = list(FindingKind)
    kind = kinds.index(cause.key.finding) if cause.key.finding else len(kinds)
    change = WORSE.index(cause.changes[0])
    return (
        cause.loud, not cause.by_default, change, -len(cause.scenarios), kind, -len(cause.pairs),
    )  # fmt: skip

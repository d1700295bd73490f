"""What is worse on the new side, by its cause: what happened to the table before it. Pure.

The causes are those of the new side's run (`run.causes`); here they are narrowed to what is worse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.comparison.cell_pairs import CellPair
from harness.comparison.verdict_change import WORSE, VerdictChange, places, places_of
from harness.core.grouping import grouped
from harness.core.records import FindingKind, Refusal, Verdict, VerdictKind
from harness.core.responsible import WRITERS
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
        """Return the classes of its pairs, the most harmful first."""
        met = {each.change for each in self.pairs}
        return tuple(each for each in WORSE if each in met)

    @property
    def first(self) -> CellPair:
        """Return the simplest pair."""
        return self.pairs[0]

    @property
    def scenarios(self) -> tuple[str, ...]:
        """Return the scenarios that show it, the smallest first."""
        return tuple(dict.fromkeys(each.either.scenario for each in self.pairs))


def regressions(found: Iterable[CellPair], new: Run) -> tuple[Regression, ...]:
    """Return the causes of what is worse, the most harmful first; `new`: the new side's run.

    Silent ones come before loud ones; of these, those that engines have by default; of these, those
    that most scenarios show.
    """
    every = [(pair, symptom) for pair in found for symptom in _worse(pair, new)]
    keys = _keys(new, {pair.either.case for pair, _ in every})
    first = _first_steps(every)
    seen = (
        (_key(keys.get((pair.either.case, symptom)), pair, symptom, first, new), pair)
        for pair, symptom in every
    )
    made = [regression(key, pairs, new) for key, pairs in grouped(seen).items()]
    return tuple(sorted(made, key=_harm))


def _keys(run: Run, wanted: Collection[str]) -> Mapping[tuple[str, Symptom], CauseKey]:
    """Return the cause of each symptom of some cases."""
    found = causes.causes(run.verdicts, run) if wanted else ()
    return {
        (case, each.key.symptom): each.key
        for each in found
        for case in each.cases
        if case in wanted
    }


_Worse = tuple[CellPair, Symptom]


def _first_steps(found: Iterable[_Worse]) -> Mapping[tuple[str, str, Symptom], int]:
    """Return after which step a reader first is worse so, on each table."""
    steps = grouped(((e.either.variant, e.either.reader, of), e.either.step) for e, of in found)
    return {place: min(each) for place, each in steps.items()}


def _key(
    known: CauseKey | None,
    pair: CellPair,
    symptom: Symptom,
    first: Mapping[tuple[str, str, Symptom], int],
    run: Run,
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
    asked = (e.step for e in run.of_reader.get((verdict.variant, verdict.reader), ()))
    return min((step for step in asked if step >= since), default=since)


def _takes_over(pair: CellPair, run: Run) -> int | None:
    """Return the first step with rows of the new side's writer, where the old side has another."""
    if pair.old is None or pair.old.variant == pair.either.variant:
        return None
    writers = run.variant(pair.either.variant).writers
    return next((at for at, each in enumerate(writers) if each != writers[0]), 1)


def _worse(pair: CellPair, run: Run) -> Iterator[Symptom]:
    """Yield the symptoms by which a pair is worse."""
    if pair.change not in WORSE or pair.new is None:
        return
    found = causes.symptoms(pair.new, run.answers.get(pair.new.case))
    if pair.is_step and pair.new.verdict is not VerdictKind.WRONG:
        yield Symptom(VerdictKind.REFUSED, causes.meaning(_refusal(pair.new, run)))
    elif pair.change is VerdictChange.REGRESSED_LOUDLY:
        yield from (each for each in found if each.kind is not VerdictKind.WRONG)
    else:
        before = places(pair.old) if pair.old else frozenset()
        new = [each for each in pair.new.findings if places_of(each) - before]
        shown = {(each.kind, each.party) for each in new}
        yield from (each for each in found if (each.what, each.party) in shown)


def _refusal(step: Verdict, run: Run) -> Refusal | None:
    state = run.by_step.get((step.variant, step.step))
    return state.outcome.refusal if state else None


def regression(key: CauseKey, seen: Sequence[CellPair], run: Run) -> Regression:
    """Return what these pairs have in common; `run`: the new side's."""

    def plain(pair: CellPair) -> tuple[int, int, bool, bool, str]:
        verdict, variant = pair.either, run.variant(pair.either.variant)
        asked = verdict.query != "all"
        return len(variant.steps), verdict.step, variant.twin, asked, verdict.case

    readers = {each.either.reader for each in seen if not each.is_step}
    anyones = not readers or key.symptom.party in WRITERS
    met = anyones or any(causes.by_default(run, each) for each in readers)
    return Regression(key, tuple(sorted(seen, key=plain)), met)


def _harm(found: Regression) -> tuple[bool, bool, int, int, int, int]:
    worst = found.changes[0]
    loud, place = worst is VerdictChange.REGRESSED_LOUDLY, WORSE.index(worst)
    kinds = list(FindingKind)
    kind = kinds.index(found.key.finding) if found.key.finding else len(kinds)
    return loud, not found.by_default, place, -len(found.scenarios), kind, -len(found.pairs)

"""The findings of a run by their cause, as docs/reproducers.md defines it. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.core.records import (
    WRITERS,
    Answer,
    FindingKind,
    Responsible,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.model import past_views, query_shapes
from harness.run.load_run import WRITE
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario
from harness.scenario.operations import name_of

REFUSED: Final = "refused"
"""The kind of a sign that is an engine's error."""
LONGEST: Final = 90
"""Characters of a name; one that is longer, or names no strategy, ends in a digest."""
DIGITS: Final = 6
_STEP: Final = re.compile(r"catalog of step \d+")


@dataclass(frozen=True, slots=True)
class Sign:
    """How an answer is wrong, in words that stay the same when the scenario shrinks."""

    kind: str
    """A finding's name, or `refused` with the engine's name of the error."""
    strategies: tuple[str, ...]
    """The read strategies that reproduce the answer; what a refusal means, where that is known."""
    responsible: Responsible | None = None
    """Whose doing it is where the files are wrong; else None."""
    inconclusive: bool = False
    """Whether the one strategy is not claimed, as the answer is too small."""

    @property
    def strategy(self) -> str:
        """Empty where there are none or several, and where the one is not claimed."""
        return self.strategies[0] if len(self.strategies) == 1 and not self.inconclusive else ""

    @property
    def refused(self) -> bool:
        return self.kind.startswith(REFUSED)

    def among(self, shown: frozenset[Sign]) -> bool:
        """Return whether it is among the signs of a smaller scenario.

        What one strategy explains stays so, and what none explains. Several strategies, and one
        that is not claimed, all have to fit still: the fewer steps there are, the more others do.
        """
        same_kind = [sign for sign in shown if sign.kind == self.kind]
        if self.responsible is not None:  # how many engines agree decides which of them it is
            return any(sign.responsible is not None for sign in same_kind)
        if not (self.strategies[1:] or self.inconclusive):
            return self in shown
        return any(set(self.strategies) <= set(sign.strategies) for sign in same_kind)

    def __str__(self) -> str:
        text = " or ".join(self.strategies) + "; too little to name it by" * self.inconclusive
        return f"{self.kind} ({text})" if text else self.kind


@dataclass(frozen=True, slots=True)
class Cause:
    operation: str
    """The step's, with the last schema change before it where it is none itself."""
    suspect: str
    """The reader; `writer` with its name, `model` or `unsure`, where it is not the reader."""
    view: str
    """Without the step that a view of the past goes back to: that follows from the steps."""
    format: str
    sign: Sign

    @property
    def name(self) -> str:
        strategy = "" if self.sign.refused else self.sign.strategy
        parts = (self.operation, self.sign.kind, strategy, self.suspect, self.view, self.format)
        name = re.sub(r"[^a-z0-9.]+", "-", " ".join(parts).lower()).strip("-")
        if strategy and len(name) <= LONGEST:
            return name
        digest = hashlib.sha256(str(self).encode()).hexdigest()
        return f"{name[:LONGEST]}-{digest[:DIGITS]}"

    def __str__(self) -> str:
        return f"{self.operation}: {self.sign}, {self.suspect}, {self.view} of {self.format}"


@dataclass(frozen=True, slots=True)
class CauseGroup:
    cause: Cause
    cases: tuple[str, ...]
    witness: Verdict
    """The one that is seen first in the shortest scenario."""


def signs(verdict: Verdict, answer: Answer | None) -> frozenset[Sign]:
    """Return how an answer is wrong; nothing where it is right or not known."""
    if verdict.verdict is VerdictKind.REFUSED and answer is not None and answer.refusal:
        means = (verdict.because,) if verdict.because and verdict.view != WRITE else ()
        return frozenset({Sign(f"{REFUSED} {answer.refusal.kind}", means)})
    strategies = tuple(dict.fromkeys(map(plain_strategy, verdict.reproduces)))
    inconclusive = verdict.inconclusive and len(strategies) == 1
    shown = set()
    for finding in verdict.findings:
        # What depends on other questions to the server, no scenario of its own shows.
        if finding.kind is FindingKind.ORDER_DEPENDENT:
            continue
        kind, responsible = str(finding.kind), finding.responsible
        if responsible in {Responsible.READER, None}:
            shown.add(Sign(kind, strategies, inconclusive=inconclusive))
        else:
            shown.add(Sign(kind, (), responsible))
    if verdict.verdict is VerdictKind.UNKNOWN:  # who is not known to be wrong is not accused
        return frozenset(sign for sign in shown if sign.responsible is Responsible.MODEL)
    return frozenset(shown) if verdict.verdict is VerdictKind.WRONG else frozenset()


def step_answers(
    verdicts: Iterable[Verdict], states: Mapping[tuple[str, int], StateRecord]
) -> Mapping[str, Answer]:
    """Return the answer of a writer to each step that it refused, or recorded wrongly, by case.

    The creation is none: nothing can be left out before it. `states`: by variant and step.
    """
    answers = {}
    for verdict in verdicts:
        state = states.get((verdict.variant, verdict.step))
        if verdict.view == WRITE and verdict.step and state is not None:
            refusal = state.outcome.refusal
            if refusal or verdict.verdict is VerdictKind.WRONG:
                answers[verdict.case] = Answer(verdict.case, verdict.sql, refusal=refusal)
    return answers


def plain_strategy(name: str) -> str:
    """Return a strategy's name without the number of a step, which changes as steps are left out.

    >>> plain_strategy("by name, catalog of step 3")
    'by name, an older catalog'
    """
    return _STEP.sub("an older catalog", name)


def groups(
    variants: Iterable[Variant], verdicts: Iterable[Verdict], answers: Mapping[str, Answer]
) -> tuple[CauseGroup, ...]:
    """Group all findings and refusals, of writers too (`step_answers`); the largest first."""
    by_id = {variant.id: variant for variant in variants}
    series = defaultdict[tuple[str, ...], list[Verdict]](list)
    for verdict in verdicts:
        # What verdicts after one step after another are about; a step is by itself.
        step = f"step {verdict.step}" if verdict.view == WRITE else ""
        shape = step or query_shapes.shape_of(verdict.query)
        view = past_views.name_of(verdict.view)
        series[verdict.variant, verdict.reader, view, shape].append(verdict)
    seen, first = defaultdict[Cause, list[str]](list), defaultdict[Cause, list[Verdict]](list)
    for (variant_id, *_), of_question in series.items():
        if variant := by_id.get(variant_id):
            for cause, verdict, began in _causes(of_question, variant, answers):
                seen[cause].append(verdict.case)
                first[cause] += [verdict] if began else []

    def simplicity(verdict: Verdict) -> tuple[int, bool, bool, int, str]:
        variant = by_id[verdict.variant]
        columns = len(variant.scenario.table.columns)
        return verdict.step, verdict.query != "all", variant.twin, columns, verdict.case

    made = (
        CauseGroup(cause, tuple(dict.fromkeys(cases)), min(first[cause], key=simplicity))
        for cause, cases in seen.items()
    )
    return tuple(sorted(made, key=lambda group: (-len(group.cases), group.cause.name)))


def _causes(
    verdicts: Iterable[Verdict], variant: Variant, answers: Mapping[str, Answer]
) -> Iterator[tuple[Cause, Verdict, bool]]:
    """Yield the cause of each finding about one question, and whether it is first seen there."""
    since: dict[Sign, int] = {}
    for verdict in sorted(verdicts, key=lambda verdict: verdict.step):
        shown = signs(verdict, answers.get(verdict.case))
        since = {sign: since.get(sign, verdict.step) for sign in shown}
        view = past_views.name_of(verdict.view)
        for sign, step in since.items():
            suspect = str(sign.responsible or verdict.reader)
            if verdict.view == WRITE or sign.responsible in WRITERS:
                suspect = f"writer {variant.writers[step]}"
            operation = operation_of(variant.scenario, step)
            cause = Cause(operation, suspect, view, variant.format, sign)
            yield cause, verdict, step == verdict.step


def operation_of(scenario: Scenario, step: int) -> str:
    """Name what a step does; a write after a schema change is named with that."""
    operations = [done.operation for done in scenario.steps[:step]]
    changes = [name_of(operation) for operation in operations if operation.CHANGES_SCHEMA]
    last = name_of(operations[-1])
    if operations[-1].CHANGES_SCHEMA or not changes:
        return last
    return f"{changes[-1]} then {last}"

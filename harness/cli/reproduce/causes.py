"""The findings of a run by their root cause: what brought them about, and who shows them how. Pure.

The cause of a finding is the step after which it is first seen: a schema change, or a write after
one. Findings of one kind that a reader has by the same way of reading, in the same view of the same
format, after the same operation, are one group. What files hold otherwise than it was written is
the writer's, or the model's, whoever reads it; what a writer refused is a group of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.core.responsible import WRITERS, Responsible
from harness.model import past_views, query_shapes
from harness.run.load_run import WRITE
from harness.scenario.cells import Variant
from harness.scenario.definition import Scenario
from harness.scenario.operations import name_of

REFUSED: Final = "refused"
"""The kind of a sign that is an engine's error."""
LONGEST: Final = 90
"""Characters of a name; one that is longer, or does not tell the way, ends in a digest."""
DIGITS: Final = 6
SEVERAL: Final = 2
_STEP: Final = re.compile(r"catalog of step \d+")


@dataclass(frozen=True, slots=True)
class Sign:
    """How an answer is wrong, in words that stay the same when the scenario shrinks."""

    kind: str
    """A finding's name, or `refused` with the engine's name of the error."""
    ways: tuple[str, ...]
    """The ways of reading that reproduce the answer; what a refusal means, where it tells. None of
    what files hold: no way of reading brings it about."""
    party: Responsible | None = None
    """The writer, the model, or neither for sure, where files hold what is wrong; else None."""
    scant: bool = False
    """Whether the one way is not claimed, as the answer tells too little."""

    @property
    def way(self) -> str:
        """The one way, empty where there are none or several, and where it is not claimed."""
        return self.ways[0] if len(self.ways) == 1 and not self.scant else ""

    @property
    def refused(self) -> bool:
        """Whether it is an error."""
        return self.kind.startswith(REFUSED)

    def among(self, found: frozenset[Sign]) -> bool:
        """Return whether it is among the signs of a smaller scenario.

        What is explained in one way stays so, and what none explains; of several ways, and of one
        that is not claimed, all have to fit still: the fewer steps there are the more others do.
        """
        if self.party is not None:  # how many engines agree decides which of them it is
            return any(sign.kind == self.kind and sign.party is not None for sign in found)
        if len(self.ways) < SEVERAL and not self.scant:
            return self in found
        return any(sign.kind == self.kind and set(self.ways) <= set(sign.ways) for sign in found)

    def __str__(self) -> str:
        told = " or ".join(self.ways) + "; too little to name it by" * self.scant
        return f"{self.kind} ({told})" if told else self.kind


@dataclass(frozen=True, slots=True)
class Cause:
    """What findings of one group have in common."""

    operation: str
    """The step's, with the last schema change before it where it is none itself."""
    whose: str
    """The reader; `writer` with its name, `model` or `unsure`, where it is not the reader's."""
    view: str
    """Of one of the past the name alone: the step that it goes back to follows from the steps."""
    format: str
    sign: Sign

    @property
    def name(self) -> str:
        """A name for files: letters, digits and dashes."""
        way = "" if self.sign.refused else self.sign.way
        told = (self.operation, self.sign.kind, way, self.whose, self.view, self.format)
        name = re.sub(r"[^a-z0-9.]+", "-", " ".join(told).lower()).strip("-")
        if way and len(name) <= LONGEST:
            return name
        digest = hashlib.sha256(str(self).encode()).hexdigest()
        return f"{name[:LONGEST]}-{digest[:DIGITS]}"

    def __str__(self) -> str:
        return f"{self.operation}: {self.sign}, {self.whose}, {self.view} of {self.format}"


@dataclass(frozen=True, slots=True)
class CauseGroup:
    """All findings of one cause."""

    cause: Cause
    cases: tuple[str, ...]
    witness: Verdict
    """The one that is seen first in the shortest scenario."""


def signs(verdict: Verdict, answer: Answer | None) -> frozenset[Sign]:
    """Return how an answer is wrong; nothing where it is right or not known."""
    if verdict.verdict is VerdictKind.REFUSED and answer is not None and answer.refusal:
        means = (verdict.because,) if verdict.because and verdict.view != WRITE else ()
        return frozenset({Sign(f"{REFUSED} {answer.refusal.kind}", means)})
    ways = tuple(dict.fromkeys(map(plain_way, verdict.reproduces)))
    scant = verdict.scant and len(ways) == 1
    # What depends on other questions to the server, no scenario of its own shows.
    own = (
        finding for finding in verdict.findings if finding.kind is not FindingKind.ORDER_DEPENDENT
    )
    found = (_sign(finding, ways, scant=scant) for finding in own)
    if verdict.verdict is VerdictKind.UNKNOWN:  # who is not known to be wrong is not accused
        return frozenset(sign for sign in found if sign.party is Responsible.MODEL)
    return frozenset(found) if verdict.verdict is VerdictKind.WRONG else frozenset()


def _sign(finding: Finding, ways: tuple[str, ...], *, scant: bool) -> Sign:
    kind = str(finding.kind)
    filed = finding.party not in {Responsible.READER, None}
    return Sign(kind, (), finding.party) if filed else Sign(kind, ways, scant=scant)


def step_answers(
    verdicts: Iterable[Verdict], states: Mapping[tuple[str, int], StateRecord]
) -> Mapping[str, Answer]:
    """Return the answer of a writer to each step that it refused, or recorded wrongly, by case.

    The creation is none: nothing can be left out before it. `states`: by variant and step.
    """
    found = {}
    for verdict in verdicts:
        state = states.get((verdict.variant, verdict.step))
        if verdict.view == WRITE and verdict.step and state is not None:
            refusal = state.outcome.refusal
            if refusal or verdict.verdict is VerdictKind.WRONG:
                found[verdict.case] = Answer(verdict.case, verdict.sql, refusal=refusal)
    return found


def plain_way(way: str) -> str:
    """Return the text of a way without the number of a step, which changes when steps are left out.

    >>> plain_way("by name, catalog of step 3")
    'by name, an older catalog'
    """
    return _STEP.sub("an older catalog", way)


def groups(
    variants: Sequence[Variant], verdicts: Iterable[Verdict], answers: Mapping[str, Answer]
) -> tuple[CauseGroup, ...]:
    """Group all findings and refusals; the largest groups first.

    `answers`: those of writers too (`step_answers`).
    """
    of = {variant.id: variant for variant in variants}
    every = _series(verdict for verdict in verdicts if verdict.variant in of)
    found = (_of_series(series, of[series[0].variant], answers) for series in every)
    made = [_group(cause, seen, of) for cause, seen in grouped(chain(*found)).items()]
    return tuple(sorted(made, key=lambda group: (-len(group.cases), group.cause.name)))


def _series(verdicts: Iterable[Verdict]) -> Iterator[list[Verdict]]:
    """Yield the verdicts about one question after one step after another; a step is by itself."""
    series = grouped((_question(verdict), verdict) for verdict in verdicts)
    yield from (sorted(each, key=lambda verdict: verdict.step) for each in series.values())


def _question(verdict: Verdict) -> tuple[str, ...]:
    write = verdict.view == WRITE
    shape = f"step {verdict.step}" if write else query_shapes.shape_of(verdict.query)
    return verdict.variant, verdict.reader, past_views.name_of(verdict.view), shape


def _of_series(
    series: Sequence[Verdict], variant: Variant, answers: Mapping[str, Answer]
) -> Iterator[tuple[Cause, tuple[Verdict, bool]]]:
    """Yield the cause of each finding, and where it is seen: whether that is the first place."""
    since: dict[Sign, int] = {}
    for verdict in series:
        here = signs(verdict, answers.get(verdict.case))
        began = dict.fromkeys(here - set(since), verdict.step)
        since = {sign: step for sign, step in {**since, **began}.items() if sign in here}
        for sign, step in since.items():
            whose = _whose(sign, verdict, variant.writers[step])
            place = whose, past_views.name_of(verdict.view), variant.format
            cause = Cause(operation_of(variant.scenario, step), *place, sign)
            yield cause, (verdict, sign in began)


def _whose(sign: Sign, verdict: Verdict, writer: str) -> str:
    if verdict.view == WRITE or sign.party in WRITERS:
        return f"writer {writer}"
    return verdict.reader if sign.party is None else str(sign.party)


def operation_of(scenario: Scenario, step: int) -> str:
    """Name what a step does; a write after a schema change is named with that."""
    operations = [each.operation for each in scenario.steps[:step]]
    changes = [name_of(operation) for operation in operations if operation.CHANGES_SCHEMA]
    last = name_of(operations[-1])
    if operations[-1].CHANGES_SCHEMA or not changes:
        return last
    return f"{changes[-1]} then {last}"


def _group(
    cause: Cause, seen: Sequence[tuple[Verdict, bool]], of: Mapping[str, Variant]
) -> CauseGroup:
    cases = tuple(dict.fromkeys(verdict.case for verdict, _ in seen))
    first = [verdict for verdict, began in seen if began]

    def plain(verdict: Verdict) -> tuple[int, bool, bool, int, str]:
        variant = of[verdict.variant]
        columns = len(variant.scenario.table.columns)
        return verdict.step, verdict.query != "all", variant.twin, columns, verdict.case

    return CauseGroup(cause, cases, min(first, key=plain))

"""What is not right in a run, by its causes: who, how it is wrong, since which operation. Pure.

A line is seldom a cause by itself: one engine shows one finding by several versions and settings,
in several views and formats, after every step that comes later. All of that is one cause here, of
whoever compares runs as well: what two of them have in common has the same `CauseKey`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from harness.core import refusals
from harness.core.grouping import grouped
from harness.core.records import Answer, FindingKind, Refusal, Responsible, Verdict, VerdictKind
from harness.core.runtime_names import lock_name
from harness.model import past_views
from harness.run.load_run import Run

ORDER: Final = (
    VerdictKind.WRONG,
    VerdictKind.REFUSED,
    VerdictKind.UNKNOWN,
    VerdictKind.UNSUPPORTED,
    VerdictKind.CORRECT,
)
"""The worst first: a silent wrong answer is worse than an error."""
OR: Final = " or "
"""Stands between operations of which nobody can say since which it is so."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """How an answer is not right, whoever gave it."""

    kind: VerdictKind
    """Wrong also where a column shows it that was asked alone after the whole row was refused."""
    what: str
    """The finding's kind, what the refusal means, or why a cell is unknown or unsupported."""
    responsible: Responsible | None = None
    """Whose doing a finding is: the reader's and the writer's are never one cause."""


@dataclass(frozen=True, slots=True)
class CauseKey:
    """What all cells of a cause have in common."""

    engine: str
    """The product: `trino`."""
    symptom: Symptom
    operation: str
    """Since which it is so, in the words of scenario files: `rename_column`. Several, with `OR`
    between them, where nobody was asked between them. Empty where nothing was answered."""

    @property
    def finding(self) -> FindingKind | None:
        """The finding's kind; None for what is no finding."""
        return FindingKind(self.symptom.what) if self.symptom.kind is VerdictKind.WRONG else None


@dataclass(frozen=True, slots=True)
class RunCause:
    """A cause, with every cell that it brings about."""

    key: CauseKey
    verdicts: tuple[Verdict, ...]
    """The first one speaks for all: by default settings if any, in the smallest scenario."""
    known: tuple[str, ...]
    """The baselines' reasons; empty when it is new. Known and new cells are causes of their own."""
    by_default: bool
    """Whether somebody meets it who has chosen no setting."""

    @property
    def cases(self) -> tuple[str, ...]:
        return tuple(verdict.case for verdict in self.verdicts)

    @property
    def first(self) -> Verdict:
        """The one that speaks for all."""
        return self.verdicts[0]

    @property
    def readers(self) -> tuple[str, ...]:
        """Every reader that shows it, versions and settings in its name."""
        return tuple(dict.fromkeys(verdict.reader for verdict in self.verdicts))

    @property
    def views(self) -> tuple[str, ...]:
        """The views that show it, those of the past without their step."""
        return tuple(dict.fromkeys(past_views.name_of(verdict.view) for verdict in self.verdicts))

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The scenarios that show it, the smallest first."""
        return tuple(dict.fromkeys(verdict.scenario for verdict in self.verdicts))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are wrong."""
        findings = (f for v in self.verdicts for f in v.findings if f.kind is self.key.finding)
        return tuple(dict.fromkeys(chain.from_iterable(finding.columns for finding in findings)))

    def formats(self, run: Run) -> tuple[str, ...]:
        """Return the formats of the tables that show it."""
        return tuple(
            dict.fromkeys(run.variant(verdict.variant).format for verdict in self.verdicts)
        )


def causes(verdicts: Iterable[Verdict], run: Run) -> tuple[RunCause, ...]:
    """Return what is not right by its causes: new ones, default settings, silent ones first."""
    one: dict[_Since, _Since] = {}  # of a million cells each would have its own
    began = (pair for series in _series(verdicts) for pair in _began(series, run))
    shown = [(one.setdefault(since, since), verdict) for since, verdict in began]
    settled = _settled(one)
    keys = (((settled[since], bool(verdict.known)), verdict) for since, verdict in shown)
    causes_ = (_cause(key, of, run) for (key, _), of in grouped(keys).items())
    return tuple(sorted(causes_, key=_rank))


def engine(distribution: str) -> str:
    """Return the product that a distribution is of; people's own begin with it as well.

    >>> engine("spark-3.5.8-hudi-1.0.2"), engine("trino-ours@container")
    ('spark', 'trino')
    """
    return lock_name(distribution).partition("-")[0]


def symptoms(verdict: Verdict, answer: Answer | None) -> tuple[Symptom, ...]:
    """Return how an answer is not right; nothing where it is."""
    kind = verdict.verdict
    if kind in {VerdictKind.UNKNOWN, VerdictKind.UNSUPPORTED}:  # nobody is accused
        return (Symptom(kind, verdict.because),)
    symptoms_ = [
        Symptom(VerdictKind.WRONG, finding.kind, finding.responsible)
        for finding in verdict.findings
    ]
    if kind is VerdictKind.REFUSED:
        symptoms_.append(Symptom(kind, meaning(answer.refusal if answer else None)))
    return tuple(dict.fromkeys(symptoms_))


def meaning(refusal: Refusal | None) -> str:
    """Return what a refusal means, else what the error is called, with its innermost cause.

    >>> meaning(Refusal("GENERIC_INTERNAL_ERROR", "x", cause="java.io.IOException: of s_1"))
    'GENERIC_INTERNAL_ERROR, IOException'
    """
    if refusal is None:
        return "an error"
    classes = (name.rpartition(".")[2] for name in (refusal.kind, refusal.cause.partition(":")[0]))
    return refusals.meaning(refusal) or ", ".join(dict.fromkeys(filter(None, classes)))


_Since = tuple[str, Symptom, tuple[str, ...]]
"""An engine, a symptom, and the operations of which one brought it about."""


def _series(verdicts: Iterable[Verdict]) -> Iterator[Mapping[int, list[Verdict]]]:
    """Yield what a reader answered to a view of a variant, step after step.

    All questions to the view are one series: the whole row is asked after most steps, others only
    where a change makes them worth it, so that each by itself does not tell when it began.
    """
    pairs = (
        ((verdict.variant, verdict.reader, past_views.name_of(verdict.view)), verdict)
        for verdict in verdicts
    )
    for series in grouped(pairs).values():
        steps = grouped((verdict.step, verdict) for verdict in series)
        yield {step: steps[step] for step in sorted(steps)}


def _began(series: Mapping[int, Sequence[Verdict]], run: Run) -> Iterator[tuple[_Since, Verdict]]:
    """Yield each symptom in a series, with the operations of which one began it.

    What is seen again was there all the time, unless all was right between.
    """
    since: dict[Symptom, tuple[str, ...]] = {}
    known = 0
    for step, verdicts in series.items():
        if all(verdict.verdict is VerdictKind.CORRECT for verdict in verdicts):
            since.clear()
        between = _operations(run, verdicts[0].variant, range(min(known + 1, step), step + 1))
        for verdict in verdicts:
            refused = verdict.verdict is VerdictKind.REFUSED
            answer = run.answers.get(verdict.case) if refused else None
            for symptom in symptoms(verdict, answer):
                answered = symptom.kind in {VerdictKind.WRONG, VerdictKind.REFUSED}
                began = since.setdefault(symptom, between) if answered else ()
                yield (engine(run.distribution(verdict.reader)), symptom, began), verdict
        if any(verdict.verdict is not VerdictKind.UNKNOWN for verdict in verdicts):
            known = step


def _operations(run: Run, variant: str, steps: Iterable[int]) -> tuple[str, ...]:
    info = run.variant(variant)
    return tuple(dict.fromkeys(info.step(step).operation for step in steps))


def _settled(seen: Iterable[_Since]) -> Mapping[_Since, CauseKey]:
    """Return the cause of each beginning.

    Of several operations that may have begun it, it is the one that did in another series of the
    same engine; where that is none, or several, none is claimed.
    """
    every = tuple(dict.fromkeys(seen))
    sure = grouped(((who, symptom), of[0]) for who, symptom, of in every if len(of) == 1)
    return {
        (who, symptom, of): CauseKey(who, symptom, _operation(of, sure.get((who, symptom), ())))
        for who, symptom, of in every
    }


def _operation(possible: Sequence[str], sure: Collection[str]) -> str:
    shown = [operation for operation in possible if operation in sure]
    return shown[0] if len(shown) == 1 else OR.join(possible)


def _cause(key: CauseKey, verdicts: Sequence[Verdict], run: Run) -> RunCause:
    def simplicity(verdict: Verdict) -> tuple[bool, bool, int, int]:
        asked_alone = verdict.verdict is not key.symptom.kind
        steps = len(run.variant(verdict.variant).steps)
        return not by_default(run, verdict.reader), asked_alone, steps, verdict.step

    ordered = tuple(sorted(verdicts, key=simplicity))
    reasons = tuple(filter(None, dict.fromkeys(verdict.known for verdict in ordered)))
    return RunCause(key, ordered, reasons, by_default(run, ordered[0].reader))


def by_default(run: Run, reader: str) -> bool:
    """Return whether a reader has no setting that somebody chose against the engine's default."""
    info = run.readers.get(reader)
    return info is not None and info.by_default


def _rank(cause: RunCause) -> tuple[bool, bool, int, int, int]:
    kinds = list(FindingKind)
    finding = cause.key.finding
    return (
        bool(cause.known),
        not cause.by_default,
        ORDER.index(cause.key.symptom.kind),
        -len(cause.scenarios),
        kinds.index(finding) if finding else len(kinds),
    )

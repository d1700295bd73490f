"""Which verdicts are known, and which lines of a baseline no longer occur."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.core.records import Verdict, VerdictKind
from harness.core.runtime_names import lock_name
from harness.judge.baseline.known import (
    QUERY,
    READER,
    VARIANT,
    WRITE,
    Expect,
    Known,
    Properties,
    holds,
)
from harness.model import past_views
from harness.scenario.cells import Variant, parse_reader

JUDGED: Final = (VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED)

_VERSIONED: Final = re.compile(r"(?P<engine>.+?)-(?P<version>\d.*)")


@dataclass(frozen=True, slots=True)
class Facts:
    """What verdicts do not say by themselves."""

    variants: Mapping[str, Variant]
    engines: Mapping[str, tuple[str, str]]
    """Engine and version of each distribution."""
    refusals: Mapping[str, str]
    """The kind of the refusal of each refused case, steps included."""
    applied: tuple[tuple[str, int], ...] = ()
    """Variant and number of each step that was applied."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A cell or a step as a baseline sees it."""

    scenario: str
    properties: Properties
    shown: Expect | None
    """How it is wrong or refused; None when it is correct."""
    judged: bool = True
    """False when nothing is known of it, or its reader does not support it."""

    @property
    def step(self) -> int:
        return int(self.properties["step"])


def all_seen(verdicts: Sequence[Verdict], facts: Facts) -> tuple[Seen, ...]:
    """Return what is seen of each verdict, in their order, and then of each applied step."""
    return (*(_seen(verdict, facts) for verdict in verdicts), *seen_of_steps(facts, verdicts))


def _seen(verdict: Verdict, facts: Facts) -> Seen:
    shown = None
    if verdict.verdict in {VerdictKind.WRONG, VerdictKind.REFUSED}:
        refused = verdict.verdict is VerdictKind.REFUSED
        shown = Expect(
            facts.refusals.get(verdict.case, "unnamed") if refused else "",
            frozenset(finding.kind for finding in verdict.findings),
            frozenset(column for finding in verdict.findings for column in finding.columns),
        )
    variant, view = facts.variants[verdict.variant], past_views.name_of(verdict.view)
    properties = _properties(variant, verdict.step, verdict.reader, view, facts)
    if verdict.view != WRITE:
        properties[QUERY] = verdict.query
    return Seen(verdict.scenario, properties, shown, verdict.verdict in JUDGED)


def seen_of_steps(facts: Facts, verdicts: Iterable[Verdict]) -> Iterator[Seen]:
    """Yield what is seen of each applied step that has no verdict of its own."""
    judged = {(verdict.variant, verdict.step) for verdict in verdicts if verdict.view == WRITE}
    for name, step in facts.applied:
        if (name, step) not in judged:
            variant = facts.variants[name]
            properties = _properties(variant, step, variant.writers[step], WRITE, facts)
            yield Seen(variant.scenario.name, properties, None)


def _properties(
    variant: Variant, step: int, reader_text: str, view: str, facts: Facts
) -> dict[str, str]:
    reader = parse_reader(reader_text)
    # However it was run: a container and a process of one version are expected to answer equally.
    distribution = lock_name(reader.distribution)
    engine, version = facts.engines.get(distribution) or named(distribution)
    # Writers that follow one another are all named: the table is the work of every one of them.
    writers = dict.fromkeys(map(lock_name, variant.writers[: step + 1]))
    return {
        "view": view,
        "step": str(step),
        "engine": engine,
        "version": version,
        "distribution": distribution,
        **{f"{READER}{name}": value for name, value in reader.settings},
        "format": variant.format,
        "twin": str(variant.twin).lower(),
        "writer": ", ".join(writers),
        **{f"{VARIANT}{name}": value for name, value in variant.settings.items()},
    }


def named(distribution: str) -> tuple[str, str]:
    """Return engine and version of a distribution that is no longer there, by its name.

    >>> named("trino-368")
    ('trino', '368')
    """
    match = _VERSIONED.fullmatch(distribution)
    return (match["engine"], match["version"]) if match else (distribution, "")


@dataclass(frozen=True, slots=True)
class Applied:
    """Verdicts with what is known of them, and what is to be said of the baselines."""

    verdicts: tuple[Verdict, ...]
    gone: tuple[Known, ...] = ()
    """Lines that no longer occur: the run has cells of theirs, and none answers as they say."""
    idle: tuple[Known, ...] = ()
    """Lines of which this run has no cell; nothing is said of them."""
    unreviewed: tuple[Known, ...] = ()
    """Lines whose `because` is still to be written."""
    expired: tuple[Known, ...] = ()
    """Lines whose date has passed; they do not count."""
    answered: tuple[Verdict, ...] = ()
    """Those that their reader answered, although it is declared not to know such tables."""


def apply(
    verdicts: Sequence[Verdict],
    known: Mapping[str, Sequence[Known]],
    facts: Facts,
    today: datetime.date,
) -> Applied:
    """Fill `Verdict.known` where the first line that holds expects exactly what was found.

    `known` has the lines of each scenario. Of a line that another one before it hides in this run,
    and of one whose cells are all unknown, nothing is said.
    """
    lines = Lines(known, facts, today)
    return lines.applied([lines.apply(verdict) for verdict in verdicts])


class Lines:
    """The baselines of a run, which its verdicts are held against one after another."""

    def __init__(
        self, known: Mapping[str, Sequence[Known]], facts: Facts, today: datetime.date
    ) -> None:
        """`known` has the lines of each scenario."""
        self._facts = facts
        self._every = [line for lines in known.values() for line in lines]
        self._lines = {
            name: [line for line in lines if line.counts(today)] for name, lines in known.items()
        }
        self._expired = tuple(line for line in self._every if not line.counts(today))
        self._tried, self._occurring = set[Known](), set[Known]()

    def apply(self, verdict: Verdict) -> Verdict:
        """Return a verdict with what is known of it."""
        if not self._lines.get(verdict.scenario):
            return replace(verdict, known="") if verdict.known else verdict
        return replace(verdict, known=self._match(_seen(verdict, self._facts)))

    def applied(self, verdicts: Sequence[Verdict]) -> Applied:
        """Return the verdicts, to which all was applied, with what is to be said of the lines."""
        for seen in seen_of_steps(self._facts, verdicts):
            self._match(seen)
        counted = [line for lines in self._lines.values() for line in lines]
        gone = self._tried - self._occurring
        return Applied(
            verdicts=tuple(verdicts),
            gone=tuple(line for line in counted if line in gone),
            idle=tuple(line for line in counted if line not in self._tried),
            unreviewed=tuple(line for line in self._every if not line.reviewed),
            expired=self._expired,
            answered=tuple(verdict for verdict in verdicts if verdict.disclaimed),
        )

    def _match(self, seen: Seen) -> str:
        """Return the reason of the line that knows a place; empty where none does."""
        lines = self._lines.get(seen.scenario, ())
        line = next((line for line in lines if holds(line.when, seen.properties)), None)
        if line is None:
            return ""
        if seen.judged:
            self._tried.add(line)
        if line.expect != seen.shown or not line.expect.knowable:
            return ""
        self._occurring.add(line)
        return line.because

"""Which verdicts are known, and which lines of a baseline no longer occur."""

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from harness.core import yaml_writer
from harness.core.grouping import grouped
from harness.core.records import FindingKind, Verdict, VerdictKind
from harness.core.reviewed_lines import TODO
from harness.core.runtime_names import lock_name
from harness.core.yaml_writer import block
from harness.judge.baseline.known import (
    QUERY,
    READER,
    STEP,
    UNSET,
    VARIANT,
    VIEW,
    WRITE,
    Expect,
    Known,
    Properties,
    Support,
    When,
    holds,
    parse,
    steps,
)
from harness.model import past_views
from harness.scenario.cells import Variant, parse_reader

JUDGED: Final = (VerdictKind.CORRECT, VerdictKind.WRONG, VerdictKind.REFUSED, VerdictKind.OPEN)
"""What is open shows nothing that a line could hold, as what is correct."""

_VERSIONED: Final = re.compile(r"(?P<engine>.+?)-(?P<version>\d.*)")


@dataclass(frozen=True, slots=True)
class Facts:
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
    if verdict.verdict.is_bad:
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
    of one whose cells are all unknown, and of one of which it has no cell, nothing is said.
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
        if line.expect != seen.shown:
            return ""
        self._occurring.add(line)
        return line.because


def _dump(text: str, old: Sequence[Known], remaining: Sequence[Known], new: Sequence[Known]) -> str:
    """Return the text with the lines that stay, in their own words, and then the new ones.

    A comment belongs to what comes after it. A list in brackets has no words of its own.
    """
    rows = text.splitlines(keepends=True)
    rows[-1:] = [row if row.endswith("\n") else f"{row}\n" for row in rows[-1:]]
    head, words = "", dict[int, str]()
    if old and all(rows[line.line - 1].startswith("- ") for line in old):
        begins = [_with_comment(rows, line.line) for line in old]
        head = "".join(rows[: begins[0]])
        for line, begin, end in zip(old, begins, [*begins[1:], len(rows)], strict=True):
            words[line.line] = "".join(rows[begin:end])
    lines = [words.get(line.line) or _written(line) for line in remaining]
    lines += map(_written, new)
    return "".join([head, *lines]) if lines else ""


def _with_comment(rows: Sequence[str], start: int) -> int:
    at = start - 1
    while at and rows[at - 1].startswith("#"):
        at -= 1
    return at


def _written(line: Known) -> str:
    """Write a line out, as `parse` reads it."""

    def value(name: str, text: str) -> object:
        if name == STEP and text.isdecimal():
            return int(text)
        return text == "true" if text in {"true", "false"} else text

    kinds = [kind.value for kind in FindingKind if kind in line.expect.kinds]
    expect: dict[str, Any] = {
        "refused": line.expect.refused,
        "finding": kinds[0] if len(kinds) == 1 else kinds,
        "columns": sorted(line.expect.columns),
    }
    form: dict[str, Any] = {
        "when": {name: value(name, text) for name, text in line.when},
        "expect": {name: part for name, part in expect.items() if part},
        "support": line.support.value,
        "because": line.because,
    }
    form |= {"issue": line.issue} if line.issue else {}
    form |= {"until": line.until.isoformat()} if line.until else {}
    return yaml_writer.written(block([block(form)]), offset=0)


class CellIndex:
    """The judged cells by their numbers; each condition is tried once on each of them."""

    def __init__(self, seen: Iterable[Seen]) -> None:
        self.seen = tuple(cell for cell in seen if cell.judged)
        self._one: Callable[[tuple[str, str]], frozenset[int]] = cache(self._of_one)
        self.others: Callable[[Expect], frozenset[int]] = cache(self._others)

    def cells(self, when: When) -> frozenset[int]:
        """Return the cells of which all conditions hold."""
        result = frozenset(range(len(self.seen))).intersection(*map(self._one, when))
        about_views = any(name == VIEW for name, _ in when)
        return result if about_views else result - self._one((VIEW, WRITE))

    def _of_one(self, pair: tuple[str, str]) -> frozenset[int]:
        # What `holds` says of steps is about all conditions together; here is only one of them.
        def fits(cell: Seen) -> bool:
            return holds((pair, (VIEW, cell.properties[VIEW])), cell.properties)

        return self._where(fits)

    def _others(self, shown: Expect) -> frozenset[int]:
        """Return the cells that do not answer so: the correct ones, and those wrong otherwise."""
        return self._where(lambda cell: cell.shown != shown)

    def _where(self, fits: Callable[[Seen], bool]) -> frozenset[int]:
        return frozenset(at for at, cell in enumerate(self.seen) if fits(cell))


STAYS: Final = "engine"
"""A line is about one engine, even where several are wrong in the same way."""
FIRST: Final = (STAYS, "format", VIEW, QUERY, STEP)
VERSIONS: Final = ("version", "distribution")
LAST: Final = ("twin", "writer")
WHY: Final = f"{TODO}: say why"


def _derive(ground: CellIndex, covered: Collection[int]) -> Iterator[Known]:
    """Yield lines for the wrong cells that no line covers, the first of them first.

    A line holds of no cell that is correct or answers otherwise, so their order does not matter.
    """
    done = set(covered)
    for at, cell in enumerate(ground.seen):
        if at not in done and (line := _line(ground, at, cell)):
            yield line
            done |= ground.cells(line.when)


def _story(line: Known) -> tuple[str, list[tuple[str, str]], int, When]:
    when = dict(line.when)
    settings = [pair for pair in line.when if pair[0].startswith(READER)]
    return when[STAYS], settings, steps(when.get(STEP, ">=0")).start, line.when


def _line(ground: CellIndex, at: int, seen: Seen) -> Known | None:
    """Return the most general line for a wrong cell.

    None when another cell has all the same properties and answers otherwise.
    """
    if seen.shown is None:
        return None
    # The most telling properties first; the settings are those that readers of the engine have.
    engine = seen.properties[STAYS]
    readers = (cell.properties for cell in ground.seen if cell.properties[STAYS] == engine)
    settings = sorted({name for reader in readers for name in reader if name.startswith(READER)})
    variants = sorted(name for name in seen.properties if name.startswith(VARIANT))
    names = (*FIRST, *VERSIONS, *settings, *variants, *LAST)
    when = {name: seen.properties.get(name, UNSET) for name in names}
    others = ground.others(seen.shown)
    if ground.cells(tuple(when.items())) & others:
        return None
    for name in (STEP, *(name for name in reversed(names) if name not in {STEP, STAYS})):
        without = {other: value for other, value in when.items() if other != name}
        cells = ground.cells(tuple(without.items()))
        if at in cells and not cells & others:
            when = without
        elif name == STEP:
            when[STEP] = _interval(ground, at, cells, others)
    return Known(tuple(when.items()), seen.shown, Support.NOTYET, because=WHY)


def _interval(ground: CellIndex, at: int, cells: Collection[int], others: Collection[int]) -> str:
    """Return the range of steps around a cell in which every cell answers as it does."""
    middle = ground.seen[at].step
    steps_of = grouped((index in others, ground.seen[index].step) for index in cells)
    wrong, matching = (steps_of.get(other, ()) for other in (True, False))
    low = max((step for step in wrong if step < middle), default=-1)
    high = min((step for step in wrong if step > middle), default=None)
    inside = [step for step in matching if low < step and (high is None or step < high)]
    first, last = min(inside), max(inside)
    if high is None:
        return f">={first}"
    return str(first) if first == last else f"{first}-{last}"


def update(text: str, path: str, seen: Sequence[Seen], today: datetime.date) -> str:
    """Return the text of a baseline after which nothing that was seen is new or gone.

    `text` is the one there is, `seen` the cells of its scenario. A line stays as it is when all of
    its cells answer as it says, or when the run has none of them. Other lines go; what people said
    of them stays in the first line that expects the same. Empty when nothing is known.

    Raises ScenarioProblem: the old baseline cannot be read.
    """
    old, ground = parse(text, path), CellIndex(seen)
    remaining, covered = [], set[int]()
    for line in old:
        cells = ground.cells(line.when)
        if line.counts(today) and not cells & ground.others(line.expect):
            remaining.append(line)
            covered |= cells
    gone = {line.expect: line for line in reversed(old) if line not in remaining}
    derived = sorted(_derive(ground, covered), key=_story)
    new = [_in_words_of(gone.get(line.expect), line, today) for line in derived]
    return _dump(text, old, remaining, new)


def _in_words_of(before: Known | None, line: Known, today: datetime.date) -> Known:
    if before is None:
        return line
    if before.counts(today):
        return replace(before, when=line.when)
    because = f"{TODO}: not mended until {before.until}: {before.because}"
    return replace(before, when=line.when, because=because, until=None)

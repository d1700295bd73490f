"""The conditions under which cells are wrong: as few as the facts allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.judge.baseline.cell_index import CellIndex
from harness.judge.baseline.known import (
    QUERY,
    READER,
    STEP,
    UNSET,
    VARIANT,
    VIEW,
    Expect,
    When,
    steps,
)
from harness.judge.baseline.seen import Seen

KEPT: Final = "engine"
"""A line is about one engine, even where several are wrong alike."""
FIRST: Final = (KEPT, "format", VIEW, QUERY, STEP)
VERSIONS: Final = ("version", "distribution")
LAST: Final = ("twin", "writer")


@dataclass(frozen=True, slots=True)
class Rule:
    """A line without the words that people add to it."""

    when: When
    expect: Expect


def derive(ground: CellIndex, covered: int = 0) -> tuple[Rule, ...]:
    """Return rules for the wrong cells that no line covers and that have nothing unexplained.

    Greedy: first the rule that explains most of what is left, or the one with fewest conditions.
    A rule holds of no cell that is correct or answers otherwise, so their order does not matter;
    they are given reader by reader, each in the order of the steps.
    """
    left = ground.knowable & ~covered
    rules = dict.fromkeys(rule for at in ground.places(left) for rule in _rules(ground, at))
    cells = {rule: ground.cells(rule.when) for rule in rules}
    chosen = []
    while best := max(rules, key=lambda rule: _worth(rule, cells[rule] & left), default=None):
        if not cells[best] & left:
            break
        chosen.append(best)
        left &= ~cells[best]
    return tuple(sorted(chosen, key=_story))


def _story(rule: Rule) -> tuple[str, list[tuple[str, str]], int, When]:
    when = dict(rule.when)
    settings = [pair for pair in rule.when if pair[0].startswith(READER)]
    return when[KEPT], settings, steps(when.get(STEP, ">=0")).start, rule.when


def _worth(rule: Rule, explained: int) -> tuple[int, int]:
    return explained.bit_count(), -len(rule.when)


def _rules(ground: CellIndex, at: int) -> Iterator[Rule]:
    """Yield the two most general rules for a cell: one for most steps, one for most readers.

    None when another cell has all the same properties and answers otherwise.
    """
    seen = ground.seen[at]
    names = _order(seen, ground.settings(seen.properties[KEPT]))
    full = {name: seen.properties.get(name, UNSET) for name in names}
    if seen.shown is None or ground.cells(_when(full, names)) & ground.others(seen.shown):
        return
    rest = [name for name in reversed(names) if name != STEP]
    position = rest.index(VIEW)
    for order in ((STEP, *rest), (*rest[:position], STEP, *rest[position:])):
        yield Rule(_general(ground, at, full, order, names), seen.shown)


def _order(seen: Seen, readers: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the properties, the most telling first."""
    variants = sorted(name for name in seen.properties if name.startswith(VARIANT))
    return (*FIRST, *VERSIONS, *readers, *variants, *LAST)


def _when(conditions: dict[str, str], names: Sequence[str]) -> When:
    return tuple((name, conditions[name]) for name in names if name in conditions)


def _general(
    ground: CellIndex, at: int, full: dict[str, str], order: Sequence[str], names: Sequence[str]
) -> When:
    """Return the rule without the conditions, tried in that order, that it does not need."""
    result = ground.seen[at].shown
    if result is None:
        raise ValueError("a correct cell needs no rule")
    others, remaining = ground.others(result), dict(full)
    for name in order:
        without = {each: value for each, value in remaining.items() if each != name}
        cells = ground.cells(_when(without, names))
        if name != KEPT and cells >> at & 1 and not cells & others:
            remaining = without
        elif name == STEP:
            remaining[STEP] = _interval(ground, at, cells, others)
    return _when(remaining, names)


def _interval(ground: CellIndex, at: int, cells: int, others: int) -> str:
    """Return the range of steps around a cell's own in which every cell answers alike."""
    bounds = ground.seen[at].step
    wrong = [ground.seen[witness].step for witness in ground.places(cells & others)]
    low = max((step for step in wrong if step < bounds), default=-1)
    high = min((step for step in wrong if step > bounds), default=None)
    matching = [ground.seen[witness].step for witness in ground.places(cells & ~others)]
    inside = [step for step in matching if low < step and (high is None or step < high)]
    first, last = min(inside), max(inside)
    if high is None:
        return f">={first}"
    return str(first) if first == last else f"{first}-{last}"

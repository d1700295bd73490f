"""A baseline for what was seen: lines that still hold stay as people wrote them, new ones come."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from harness.core import yaml_writer
from harness.core.cached_method import cached_method
from harness.core.records import FindingKind
from harness.core.yaml_writer import block
from harness.judge.baseline.apply import Seen
from harness.judge.baseline.known import (
    QUERY,
    READER,
    STEP,
    TODO,
    UNSET,
    VARIANT,
    VIEW,
    WRITE,
    Expect,
    Known,
    Support,
    When,
    holds,
    parse,
    steps,
)


def dump(text: str, old: Sequence[Known], remaining: Sequence[Known], new: Sequence[Known]) -> str:
    """Return the text with the lines that are kept, in their own words, and then the new ones."""
    head, words = _words(text, old)
    lines = [words.get(line.line) or written(line) for line in remaining]
    lines += [written(line) for line in new]
    return "".join([head, *lines]) if lines else ""


def _words(text: str, old: Sequence[Known]) -> tuple[str, dict[int, str]]:
    """Return what stands before the first line, and the words of each by the number it begins at.

    A comment belongs to what comes after it. A list in brackets has no words of its own.
    """
    whole = text if text.endswith("\n") else f"{text}\n"
    rows = whole.splitlines(keepends=True)
    starts = [line.line for line in old]
    if not all(rows[start - 1].startswith("- ") for start in starts):
        return "", {}
    begins = [_with_comment(rows, start) for start in starts]
    parts = zip(begins, [*begins[1:], len(rows)], strict=False)
    words = ["".join(rows[begin:end]) for begin, end in parts]
    return "".join(rows[: begins[0]]) if begins else "", dict(zip(starts, words, strict=True))


def _with_comment(rows: Sequence[str], start: int) -> int:
    at = start - 1
    while at and rows[at - 1].startswith("#"):
        at -= 1
    return at


def written(line: Known) -> str:
    """Write a line out, as `parse` reads it."""
    kinds = [kind.value for kind in FindingKind if kind in line.expect.kinds]
    expect: dict[str, Any] = {
        "refused": line.expect.refused,
        "finding": kinds[0] if len(kinds) == 1 else kinds,
        "columns": sorted(line.expect.columns),
    }
    form: dict[str, Any] = {
        "when": {name: _value(name, value) for name, value in line.when},
        "expect": {name: value for name, value in expect.items() if value},
        "support": line.support.value,
        "because": line.because,
    }
    form |= {"issue": line.issue} if line.issue else {}
    form |= {"until": line.until.isoformat()} if line.until else {}
    return yaml_writer.written(block([block(form)]), offset=0)


def _value(name: str, value: str) -> object:
    if name == STEP and value.isdecimal():
        return int(value)
    return value == "true" if value in {"true", "false"} else value


class CellIndex:
    """Cells by their place in `seen`; a set of them is the bits of a number.

    Each condition is tried once on each cell; sets are then joined bit by bit.
    """

    def __init__(self, seen: Iterable[Seen]) -> None:
        self.seen = tuple(seen_ for seen_ in seen if seen_.judged)
        self.knowable = _bits(
            seen_cell.shown is not None and seen_cell.shown.knowable for seen_cell in self.seen
        )
        self._steps = _bits(seen_cell.properties[VIEW] == WRITE for seen_cell in self.seen)

    def cells(self, when: When) -> int:
        """Return the cells of which all conditions hold."""
        result = (1 << len(self.seen)) - 1
        for pair in when:
            result &= self._one(pair)
        return result if any(name == VIEW for name, _ in when) else result & ~self._steps

    @cached_method
    def _one(self, pair: tuple[str, str]) -> int:
        return _bits(_holds(pair, seen) for seen in self.seen)

    @cached_method
    def others(self, result: Expect) -> int:
        """Return the cells that do not answer so: the correct ones, and those wrong otherwise."""
        return _bits(seen.shown != result for seen in self.seen)

    def settings(self, engine: str) -> tuple[str, ...]:
        """Return the names of the settings that readers of an engine have."""
        readers = (seen.properties for seen in self.seen if seen.properties["engine"] == engine)
        return tuple(
            sorted({name for reader in readers for name in reader if name.startswith(READER)})
        )

    def places(self, cells: int) -> Iterator[int]:
        return (at for at in range(len(self.seen)) if cells >> at & 1)


def _holds(pair: tuple[str, str], seen: Seen) -> bool:
    # What `holds` says of steps is about the whole of the conditions; here is only one of them.
    return holds((pair, (VIEW, seen.properties[VIEW])), seen.properties)


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << at for at, flag in enumerate(flags) if flag)


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
        raise ValueError("a correct check needs no rule")
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


WHY: Final = f"{TODO}: say why"


def update(text: str, path: str, seen: Sequence[Seen], today: datetime.date) -> str:
    """Return the text of a baseline after which nothing that was seen is new or gone.

    `text` is the one there is, `seen` the cells of its scenario. A line stays as it is when all of
    its cells answer as it says, or when the run has none of them. Other lines go; what people said
    of them is kept in the first line that expects the same. Empty when nothing is known.

    Raises ScenarioProblem: the old baseline cannot be read.
    """
    old, ground = parse(text, path), CellIndex(seen)
    kept = [line for line in old if line.counts(today) and _right(line, ground)]
    covered = 0
    for line in kept:
        covered |= ground.cells(line.when)
    said = {line.expect: line for line in reversed(old) if line not in kept}
    new = [_line(rule, said, today) for rule in derive(ground, covered)]
    return dump(text, old, kept, new)


def _right(line: Known, ground: CellIndex) -> bool:
    return not ground.cells(line.when) & ground.others(line.expect)


def _line(rule: Rule, old_line: Mapping[Expect, Known], today: datetime.date) -> Known:
    before = old_line.get(rule.expect)
    if before is None:
        return Known(rule.when, rule.expect, Support.NOTYET, WHY)
    if before.counts(today):
        return replace(before, when=rule.when)
    because = f"{TODO}: not mended until {before.until}: {before.because}"
    return replace(before, when=rule.when, because=because, until=None)

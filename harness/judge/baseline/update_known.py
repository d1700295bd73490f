"""A baseline for what was seen: lines that still hold stay as people wrote them, new ones come."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from harness.judge.baseline.cell_index import CellIndex
from harness.judge.baseline.derive import Rule, derive
from harness.judge.baseline.dump_known import dump
from harness.judge.baseline.known import TODO, Expect, Known, Support
from harness.judge.baseline.parse_known import parse
from harness.judge.baseline.seen import Seen

WHY: Final = f"{TODO}: say why"


def update(text: str, path: str, seen: Sequence[Seen], today: datetime.date) -> str:
    """Return the text of a baseline after which nothing that was seen is new or gone.

    `text` is the one there is, `seen` the cells of its scenario. A line stays as it is when all of
    its cells answer as it says, or when the run has none of them. Other lines go; what people said
    of them is kept in the first line that expects the same. Empty when nothing is known.

    Raises:
        ScenarioProblem: the old baseline cannot be read.

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

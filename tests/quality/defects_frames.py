"""Planted readers of tables that were written by a DataFrame without a column and with a new one.

An upstream rename comes so (apache/hudi#11803). Nothing is renamed by it: the rows of before have
no value under the new name, and those of the DataFrame none under the old one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tests.builders.random_story import Plot
from tests.builders.table_story import Story, table_of
from tests.builders.traced_answer import Line, Seen, read
from tests.quality.planted import planted, with_cell

NEW: Final = "renamed"
BEFORE: Final = 1
"""The step that inserts the rows; the next one is the DataFrame's."""
FRAME: Final = "401,402"


def _framed(plot: Plot, by_chance: random.Random) -> Plot:
    table = table_of(plot.columns, plot.partition_by)
    old = by_chance.choice([name for name, _ in table.columns if name not in table.fixed])
    names = ",".join(NEW if name == old else name for name, _ in table.columns)
    frame = f"frame {FRAME} {names} {NEW} {dict(table.columns)[old]}"
    return replace(plot, steps=f"insert 401..404; {frame}; upsert 403")


def _old(story: Story) -> str:
    (lacking,) = story.operations[BEFORE].lacking(story.history[BEFORE].schema)  # type: ignore[attr-defined]
    return str(lacking)


def _shows(line: Line, at: int, other: Line, from_: int) -> Line:
    return with_cell(line, at, other.values[from_], other.tokens[from_])


@planted("DataFrame with other columns (right)", harmless=True, twist=_framed)
def _right(story: Story, _: random.Random) -> Seen:
    return read(story)


@planted("DataFrame: old values under the new name", twist=_framed)
def _renamed(story: Story, _: random.Random) -> Seen:
    seen, old = read(story), _old(story)
    at, from_ = seen.names.index(NEW), seen.names.index(old)
    lines = (
        _shows(line, at, line, from_) if line.values[at] is None else line for line in seen.lines
    )
    return replace(seen, lines=tuple(lines))


@planted("DataFrame: the values of before where it has none", twist=_framed)
def _kept(story: Story, _: random.Random) -> Seen:
    seen, old = read(story), _old(story)
    at, before = seen.names.index(old), read(story.until(BEFORE))
    return replace(seen, lines=tuple(_with_before(seen, before, at, old)))


def _with_before(seen: Seen, before: Seen, at: int, old: str) -> Iterator[Line]:
    from_, earlier = before.names.index(old), {line.key: line for line in before.lines}
    for line in seen.lines:
        framed = line.key in FRAME.split(",")
        yield _shows(line, at, earlier[line.key], from_) if framed else line

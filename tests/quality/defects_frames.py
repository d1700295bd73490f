"""Planted readers of rows that lack a value of now: late versions, and DataFrames of other columns.

Under event time a late version changes nothing, under commit time it replaces the row; a reader
that merges by the other mode is wrong in both. A DataFrame without a column and with a new one is
what an upstream rename makes (apache/hudi#11803), and renames nothing.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from harness.model.schema import MergeMode
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story, table_of
from tests.builders.traced_answer import Line, Seen, read
from tests.quality.planted import Twist, Way, free, plant, planted, with_cell

OTHER = {MergeMode.EVENT_TIME: MergeMode.COMMIT_TIME, MergeMode.COMMIT_TIME: MergeMode.EVENT_TIME}


def _late(mode: MergeMode) -> Twist:
    """Let versions come late, of rows in base files and of rows in log files."""

    def twist(plot: Plot, _: random.Random) -> Plot:
        before = "insert 401..405; upsert 402"
        since = "late upsert 401,402; late delete 403"
        return replace(
            plot, mor=True, merge_mode=mode, steps=f"{before}; {plot.steps}; {since}; upsert 405"
        )

    return twist


def _by(mode: MergeMode) -> Way:
    return lambda story, _: read(story, Reader("id", mode=mode))


for _mode, _other in OTHER.items():
    plant(f"late versions, {_mode} (right)", _by(_mode), harmless=True, twist=_late(_mode))
    plant(f"late versions, {_mode}: read by {_other}", _by(_other), twist=_late(_mode))


def _partial(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a newer version lack the value of a column at the end, and a late one have it."""
    before = replace(plot, mor=True, steps=f"insert 401..405; {plot.steps}; upsert 402")
    name = by_chance.choice(free(before))
    lacks = f'rows [{{"id":"402","{name}":null}}]'
    mode = MergeMode.PARTIAL_UPDATE
    return replace(before, merge_mode=mode, steps=f"{before.steps}; {lacks}; late upsert 401,402")


_PARTIAL = MergeMode.PARTIAL_UPDATE
plant(f"{_PARTIAL} (right)", _by(_PARTIAL), harmless=True, twist=_partial)
plant(f"{_PARTIAL}: by event time", _by(MergeMode.EVENT_TIME), twist=_partial)

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
def _unchanged(story: Story, _: random.Random) -> Seen:
    seen, old = read(story), _old(story)
    at, before = seen.names.index(old), read(story.until(BEFORE))
    return replace(seen, lines=tuple(_with_before(seen, before, at, old)))


def _with_before(seen: Seen, before: Seen, at: int, old: str) -> Iterator[Line]:
    from_, earlier = before.names.index(old), {line.key: line for line in before.lines}
    for line in seen.lines:
        framed = line.key in FRAME.split(",")
        yield _shows(line, at, earlier[line.key], from_) if framed else line

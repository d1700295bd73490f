"""Planted readers of versions that came late: the table's merge mode says which ones stand.

Under event time a late version changes nothing, under commit time it replaces the row, and a late
delete takes it away. A reader that merges by the other mode is wrong in both. Where the table
declares partial updates, it shows the NULL of a newer version.
"""

from __future__ import annotations

import random
from dataclasses import replace

from harness.model.table import MergeMode
from tests.builders.random_story import Plot
from tests.builders.simulated_reader import Reader
from tests.builders.traced_answer import read
from tests.quality.planted import Twist, Way, free, plant

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

"""Planted readers of tables that were overwritten, emptied, or lost a partition.

The files of before lie in the folder until they are cleaned away, and only the timeline says that
they are none of the table's any more. Who does not ask it shows rows that are gone.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.builders.random_story import Plot
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read
from tests.quality.planted import Twist, plant

ENDS = {
    "overwrite": "overwrite 402,405; upsert 405",
    "overwrite of a partition": "overwrite 401,403 partition; upsert 402",
    "delete of a partition": "delete_partition 402; insert 405",
    "truncate": "truncate; insert 405",
}
"""What each history ends with, by what is told of it."""


def _ending(end: str, *, mor: bool) -> Twist:
    def twist(plot: Plot, _: random.Random) -> Plot:
        by = plot.partition_by or ("p",)
        columns = plot.columns if plot.partition_by else f"{plot.columns}, p string"
        steps = f"insert 401..404; {plot.steps}; upsert 401,402; {end}"
        return replace(plot, mor=mor, columns=columns, partition_by=by[:1], steps=steps)

    return twist


def _everything(story: Story, _: random.Random) -> Seen:
    every = [replace(file, gone=range(0)) for file in story.disk.files]
    disk = replace(story.disk, files=every)
    return replace(read(replace(story, disk=disk)), story=story)


for _mor in (False, True):
    _on = "merge-on-read" if _mor else "copy-on-write"
    for _what, _end in ENDS.items():
        _twist = _ending(_end, mor=_mor)
        plant(
            f"{_what} on {_on} (right)", lambda story, _: read(story), harmless=True, twist=_twist
        )
        plant(f"{_what} on {_on}: what was there before too", _everything, twist=_twist)

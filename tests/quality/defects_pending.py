"""Planted readers of tables whose compaction is scheduled and not carried out.

Log files lie on both sides of its instant: those of before belong to the base file, those of since
to the file that is not there yet. A reader has to take in both, and a read-optimized view neither.
"""

from __future__ import annotations

import random
from dataclasses import replace

from harness.model.file_facts import FileKind
from harness.scenario.operations.api import StepTrace
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read
from tests.quality.defects_base import BASE, VIEW
from tests.quality.planted import plant, planted


def _pending(plot: Plot, _: random.Random) -> Plot:
    """Let a compaction wait while the rows of its file groups are written again."""
    before = "insert 401..406; upsert 401; delete 402"
    since = "compact schedule; upsert 403; upsert 401; delete 404"
    return replace(plot, mor=True, steps=f"{plot.steps}; {before}; {since}")


def _waiting(story: Story) -> tuple[int, set[str]]:
    step = max(
        at
        for at, operation in enumerate(story.operations, start=1)
        if operation.trace() is StepTrace.SCHEDULED
    )
    slices = story.disk.slices(step).items()
    return step, {group for group, (_, logs) in slices if logs}


def _without_newer(story: Story) -> Seen:
    step, groups = _waiting(story)

    def of_then(file: File) -> File | None:
        newer = file.kind is FileKind.LOG and file.group in groups and file.step > step
        return None if newer else file

    # The files are as they should be: what happens to them is the reader's doing.
    return replace(read(story, files=of_then), files=None)


plant(
    "pending compaction: log files of both sides (right)",
    lambda story, _: read(story),
    harmless=True,
    twist=_pending,
)
plant(
    "pending compaction: read-optimized shows neither (right)",
    lambda story, _: replace(read(story, BASE), view=VIEW),
    harmless=True,
    twist=_pending,
)
plant(
    "pending compaction: log files written since ignored",
    lambda story, _: _without_newer(story),
    twist=_pending,
)
plant(
    "pending compaction: read-optimized as if it were carried out",
    lambda story, _: replace(_without_newer(story), view=VIEW),
    twist=_pending,
)


@planted("pending compaction: nothing but log files written since", twist=_pending)
def _without_older(story: Story, _: random.Random) -> Seen:
    step, groups = _waiting(story)
    seen = read(story)
    again = groups & {file.group for file in story.disk.files if file.step > step}
    kept = (
        line for line in seen.lines if line.step > step or line.file.rpartition("_")[0] not in again
    )
    return replace(seen, lines=tuple(kept))

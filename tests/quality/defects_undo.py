"""Planted readers and writers of tables that a restore or a rollback took back.

What was taken back may stay: whole files, log files alone, rows that came since, the columns.
"""

import random
from dataclasses import replace

from harness.model.file_facts import FileKind
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read
from tests.quality.defects_base import BASE, VIEW
from tests.quality.planted import Twist, Way, plant, plant_right, planted

DELETED, NEW = "402", "405"
"""Rows that the history deletes and inserts, before it takes both back."""


def _taken_back(how: str, *, mor: bool | None = None) -> Twist:
    """Let a history end with writes that are taken back, and one more write."""

    def twist(plot: Plot, _: random.Random) -> Plot:
        merge_on_read = plot.mor if mor is None else mor
        steps = f"{plot.steps}; insert 401..404; {how}; insert 406"
        return replace(plot, mor=merge_on_read, steps=steps)

    return twist


RESTORED = "savepoint; upsert 401; delete 402; insert 405; restore"
COLUMN = "savepoint; add added string; upsert 401; restore"
COMPACTED = "upsert 403; savepoint; upsert 401; delete 402; compact; restore"
FAILED = "fail 401,405"
ROLLED_BACK = "merge update 401 delete 402 insert 405; rollback"


def _stays(story: Story, kind: FileKind | None = None) -> Seen:
    def stays(file: File) -> File:
        return replace(file, gone=range(0)) if kind in {None, file.kind} else file

    return read(story, files=stays)


def _blamed(kind: FileKind | None, *, writer: bool) -> Way:
    def defect(story: Story, _: random.Random) -> Seen:
        seen = _stays(story, kind)
        # Where the files are as they should be it is the reader's doing.
        return seen if writer else replace(seen, files=None)

    return defect


UNDOING = {"restore": RESTORED, "rollback": ROLLED_BACK, "failed write": FAILED}
for _name, _how in UNDOING.items():
    plant_right(f"{_name}: what stands", _taken_back(_how))
    plant(
        f"{_name}: read as if nothing had been taken back",
        _blamed(None, writer=False),
        twist=_taken_back(_how),
    )
    plant(f"writer: {_name} leaves the files", _blamed(None, writer=True), twist=_taken_back(_how))
    plant(
        f"{_name}: log files that were taken back are merged",
        _blamed(FileKind.LOG, writer=False),
        twist=_taken_back(_how, mor=True),
    )
plant_right(
    "restore over a compaction: read-optimized", _taken_back(COMPACTED, mor=True), BASE, VIEW
)


@planted("restore: deleted rows stay away", twist=_taken_back(RESTORED))
def _stay_away(story: Story, _: random.Random) -> Seen:
    seen = read(story)
    return replace(seen, lines=tuple(line for line in seen.lines if line.key != DELETED))


@planted("restore: rows that came since stay", twist=_taken_back(RESTORED))
def _still_there(story: Story, _: random.Random) -> Seen:
    right, seen = read(story), _stays(story)
    return replace(right, lines=(*right.lines, *(line for line in seen.lines if line.key == NEW)))


@planted("restore: the catalog's columns stay behind", twist=_taken_back(COLUMN))
def _columns(story: Story, _: random.Random) -> Seen:
    with_column = next(truth.schema for truth in story.history if truth.schema.has("added"))
    return read(story, schema=with_column)

"""Planted readers and writers of tables with file groups that were clustered, replaced or archived.

The old file groups lie in the folder until they are cleaned away: who does not ask the timeline
shows rows twice, or those of before. What a clustering loses no reader finds again.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File, Record
from tests.builders.table_story import Story
from tests.builders.traced_answer import Files, Seen, read
from tests.quality.defects_base import BASE, VIEW
from tests.quality.planted import Twist, free, having, plant, plant_right, planted


def _clustered(plot: Plot, _: random.Random) -> Plot:
    """Let a history go on after a clustering, in one of the file groups that it made."""
    before, since = "insert 401..404; insert 405; upsert 401; delete 402", "upsert 403; delete 404"
    return replace(plot, steps=f"{plot.steps}; {before}; cluster; {since}")


def _on(*, mor: bool) -> Twist:
    return lambda plot, by_chance: replace(_clustered(plot, by_chance), mor=mor)


def _renamed(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a history end with a clustering of a column that was renamed before."""
    name = by_chance.choice(free(plot))
    return replace(plot, steps=f"{plot.steps}; insert 401..403; rename {name} renamed; cluster")


def _part_renamed(plot: Plot, by_chance: random.Random) -> Plot:
    plot = having("struct<a: string, b: int>")(plot, by_chance)
    return replace(plot, steps=f"{plot.steps}; insert 401..403; rename x.a renamed; cluster")


def _unreplaced(story: Story, files: Files | None = None) -> Seen:
    every = [replace(file, gone=range(0)) for file in story.disk.files]
    disk = replace(story.disk, files=every)
    return replace(read(replace(story, disk=disk), files=files), story=story, files=None)


def _made(story: Story, file: File) -> bool:
    return file.group.split("-")[0] in {f"g{file.gone.start}" for file in story.disk.files}


for _mor in (False, True):
    _kind = "merge-on-read" if _mor else "copy-on-write"
    plant_right(f"clustering on {_kind}: new file groups alone", _on(mor=_mor))
    plant(
        f"clustering on {_kind}: replaced file groups too",
        lambda story, _: _unreplaced(story),
        twist=_on(mor=_mor),
    )
    plant(
        f"clustering on {_kind}: replaced file groups instead of new ones",
        lambda story, _: _unreplaced(story, lambda file: None if _made(story, file) else file),
        twist=_on(mor=_mor),
    )

plant_right("clustering: read-optimized shows what it merged", _on(mor=True), BASE, VIEW)


@planted("writer: clustering after a rename writes NULL", twist=_renamed)
def _emptied(story: Story, _: random.Random) -> Seen:
    """Look for the new name in files that have the old one."""
    return read(story, files=_new(story, lambda record: {**record, "renamed": None}))


@planted("writer: clustering after the rename of a part writes NULL", twist=_part_renamed)
def _part_emptied(story: Story, _: random.Random) -> Seen:
    def emptied(record: Record) -> Record:
        old = record["x"]
        return {**record, "x": {**old, "renamed": None} if isinstance(old, dict) else old}

    return read(story, files=_new(story, emptied))


def _new(story: Story, change: Callable[[Record], Record]) -> Files:

    def changed(file: File) -> File:
        if file.step < story.truth.step:
            return file
        return replace(file, records={key: change(record) for key, record in file.records.items()})

    return changed


@planted("writer: clustering leaves out a row", twist=_renamed)
def _rowless(story: Story, _: random.Random) -> Seen:
    def rowless(file: File) -> File:
        remaining = {key: record for key, record in file.records.items() if str(key) != "402"}
        return replace(file, records=remaining) if file.step == story.truth.step else file

    return read(story, files=rowless)


ENDS = {
    "overwrite": "overwrite 402,405; upsert 405",
    "overwrite of a partition": "overwrite 401,403 partition; upsert 402",
    "delete of a partition": "delete_partition 402; insert 405",
    "truncate": "truncate; insert 405",
}
"""What each history ends with, by its description."""


def _ending(end: str, *, mor: bool) -> Twist:
    def twist(plot: Plot, _: random.Random) -> Plot:
        by = plot.partition_by or ("p",)
        columns = plot.columns if plot.partition_by else f"{plot.columns}, p string"
        steps = f"insert 401..404; {plot.steps}; upsert 401,402; {end}"
        return replace(plot, mor=mor, columns=columns, partition_by=by[:1], steps=steps)

    return twist


for _mor in (False, True):
    _kind = "merge-on-read" if _mor else "copy-on-write"
    for _what, _end in ENDS.items():
        _twist = _ending(_end, mor=_mor)
        plant_right(f"{_what} on {_kind}", _twist)
        plant(
            f"{_what} on {_kind}: what was there before too",
            lambda story, _: _unreplaced(story),
            twist=_twist,
        )


def _archived(plot: Plot, _: random.Random) -> Plot:
    """Let file groups stay as they were before commits are archived, and one be written anew."""
    before = "insert 401..403; insert 404,405; upsert 401; delete 402"
    since = "upsert 404; insert 406"
    return replace(plot, mor=False, steps=f"{plot.steps}; {before}; clean; archive; {since}")


plant_right("archive: all files", _archived)
plant(
    "archive: files of archived commits overlooked",
    lambda story, _: read(
        story, files=lambda file: None if file.step < story.truth.oldest else file
    ),
    twist=_archived,
)

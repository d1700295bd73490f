"""Planted writers that write a file anew wrongly, and readers of compactions that are pending.

A compaction, or a write on a copy-on-write table, may fetch rows from the group's first file, keep
what was deleted, or forget a row. While it is pending, log files lie on both sides of its instant:
a reader has to take in both, and a read-optimized view neither.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileKind
from harness.model.schema import Field, Schema
from harness.scenario.operations.api import StepTrace
from tests.builders import simulated_reader
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File, Record
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Files, Seen, Token, read
from tests.quality.defects_base import BASE, VIEW
from tests.quality.planted import Twist, Way, free, plant, plant_right, planted


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


plant_right("pending compaction: log files of both sides", _pending)
plant_right("pending compaction: read-optimized shows neither", _pending, BASE, VIEW)
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
    remaining = (
        line for line in seen.lines if line.step > step or line.file.rpartition("_")[0] not in again
    )
    return replace(seen, lines=tuple(remaining))


Records = Mapping[Value, Record]
Mistake = Callable[[Records, Records], Records]
"""Gives what is written instead, of the right rows and those of the file's forerunner."""
FIRST, GONE, KEPT = 401, 402, 403
"""Rows that every history here has: one with new values, one deleted, one with one new value."""


def _history(*, mor: bool) -> Twist:
    """Let a history end with a file that is written anew, of rows that changed since the last."""

    def twist(plot: Plot, by_chance: random.Random) -> Plot:
        name = by_chance.choice(free(plot))
        last = "compact" if mor else f"upsert {FIRST}"
        changes = f"upsert {FIRST}; delete {GONE}; update {KEPT} set {name}; {last}"
        return replace(plot, mor=mor, steps=f"insert 401..404; {plot.steps}; {changes}")

    return twist


def _spoilt(story: Story, mistake: Mistake) -> Files:
    """Spoil the files of the last step; the first ones of their groups come by before them."""
    before: dict[str, File] = {}

    def change(file: File) -> File:
        if file.kind is not FileKind.BASE:
            return file
        old = before.setdefault(file.group, file)
        if old.step == file.step:  # also of the next disk: its files come by from the first again
            before[file.group] = file
        if old.step >= file.step or file.step != story.truth.step:
            return file
        return replace(file, records=mistake(file.records, _as(story, old, file)))

    return change


def _as(story: Story, old: File, new: File) -> Records:
    alone = replace(story.disk, files=[old])
    rows = simulated_reader.rows_of(alone, new.step, new.schema, Reader("id"))
    return {row.key: _record(new.schema, row) for row in rows}


def _record(schema: Schema, row: simulated_reader.Read) -> Record:
    """Return a row as a record; in its shadow what came later has tokens for its NULL."""
    key = text_of(row.key)
    shadow = any(isinstance(value, Token) for value in row.values)
    values = [
        _token(value, column, key) if shadow else value
        for value, column in zip(row.values, schema.fields, strict=True)
    ]
    return dict(zip(schema.names, values, strict=True))


def _token(token: Value, field: Field, key: str) -> Value:
    match token:
        case None:
            return Token(field.id, -1, key, null=True)
        case dict():
            return {child.name: _token(token[child.name], child, key) for child in field.children}
    return token


def _older(right: Records, old: Records) -> Records:
    return {key: old.get(key, row) for key, row in right.items()}


def _one_older(right: Records, old: Records) -> Records:
    return {key: old.get(key, row) if _is(key, KEPT) else row for key, row in right.items()}


def _without_one(right: Records, _: Records) -> Records:
    return {key: row for key, row in right.items() if not _is(key, KEPT)}


def _is(key: Value, number: int) -> bool:
    return str(key) == str(number)


def _by(reader: Reader, view: str, mistake: Mistake) -> Way:
    def defect(story: Story, _: random.Random) -> Seen:
        files = _spoilt(story, mistake)
        return replace(read(story, reader, files=files), view=view)

    return defect


MISTAKES: Mapping[str, Mistake] = {
    "older values": _older,
    "one row's older values": _one_older,
    "a deleted row": lambda right, old: {**old, **right},
    "a row too few": _without_one,
}
for _name, _mistake in MISTAKES.items():
    plant(
        f"writer: compaction writes {_name}",
        _by(Reader("id"), "snapshot", _mistake),
        twist=_history(mor=True),
    )
    plant(
        f"writer: compaction writes {_name}, read-optimized",
        _by(BASE, VIEW, _mistake),
        twist=_history(mor=True),
    )
    plant(
        f"writer: a file written anew has {_name}",
        _by(Reader("id"), "snapshot", _mistake),
        twist=_history(mor=False),
    )

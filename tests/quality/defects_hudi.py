"""Planted readers that do with Hudi's files what Hive and Spark were seen to do."""

import datetime
import random
from dataclasses import replace

from harness.core.records import FindingKind
from harness.model.canonical import Value
from harness.model.file_facts import FileKind
from harness.model.schema import Schema
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read, spoil
from tests.quality.planted import planted, with_cell, with_lines

MICROSECOND = datetime.timedelta(microseconds=1)
FIRST = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone


def _fine(plot: Plot, _: random.Random) -> Plot:
    """Let a table have timestamps of more than milliseconds, before 1970 and after."""
    columns = plot.columns.replace("ts long, ", "ts long, x timestamp, ", 1)
    old, new = "1969-12-31T23:59:59.123456", "2024-02-29T00:00:00.000001"
    return replace(
        plot, columns=columns, steps=f"{plot.steps}; row id=401 x={old}; row id=402 x={new}"
    )


def _milliseconds(value: Value) -> Value:
    if not isinstance(value, datetime.datetime):
        return value
    since = value - FIRST
    micros = abs(since) // MICROSECOND // 1000 * 1000
    return FIRST + (micros if since > datetime.timedelta() else -micros) * MICROSECOND


@planted("timestamps cut to milliseconds towards 1970", twist=_fine)
def _cut(story: Story, _: random.Random) -> Seen:
    return spoil(read(story), ["timestamp"], FindingKind.ALTERED_VALUE, _changed)


def _changed(value: Value) -> Value:
    left = _milliseconds(value)
    return value if left == value else left


def _moved(plot: Plot, by_chance: random.Random) -> Plot:
    """Let columns of one type change places in a table with a timestamp.

    One is renamed: without that, places as they were at the creation give the same.
    """
    moves = ("f1 after f2", "a after b", "a after f1", "f2 after ts", "b after ts")
    columns = "id string, ts long, f1 string, f2 string, a boolean, b boolean, at timestamp, n int"
    first, second = by_chance.sample(moves, 2)
    writes = "upsert 2,3; insert 6..9"
    steps = f"insert 1..5; move {first}; rename n m; {writes}; move {second}; insert 10"
    return Plot(columns, steps, plot.mor)


@planted("by id, ids given anew in each file", twist=_moved)
def _anew(story: Story, _: random.Random) -> Seen:
    ids = [field.id for field in story.history[0].schema.fields]

    def numbered(file: File) -> File:
        if file.kind is not FileKind.BASE:
            return file
        fields = zip(ids, file.schema.fields, strict=True)
        made = tuple(replace(field, id=number) for number, field in fields)
        return replace(file, schema=Schema(made, file.schema.last_id))

    seen = read(story, files=numbered)
    # What happens is the reader's doing: the files are as they should be.
    return replace(seen, files=None)


def _freed(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a column of whole numbers take the name of one of texts."""
    type_ = by_chance.choice(("int", "long"))
    columns = f"id string, ts long, f1 string, f2 {type_}, f3 double"
    steps = "insert 1..4; insert 5; drop f1; rename f2 f1; insert 6; upsert 2"
    return Plot(columns, steps, plot.mor)


@planted("by name, texts that are no numbers as NULL", twist=_freed)
def _cast(story: Story, _: random.Random) -> Seen:
    at = story.truth.schema.names.index("f1")
    return with_lines(
        read(story, Reader("name")),
        lambda line: with_cell(line, at, None, None) if isinstance(line.values[at], str) else line,
    )

"""Planted readers that find columns, versions or files wrongly."""

import random
from collections.abc import Sequence
from dataclasses import replace

from harness.model.file_facts import FileKind
from harness.model.schema import Field
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Seen, read
from tests.quality.planted import Way, free, plant, planted, reordered, with_cell, with_lines


def by(reader: Reader) -> Way:
    return lambda story, _: read(story, reader)


plant("by id (right)", by(Reader("id")), harmless=True)
plant("columns by position", by(Reader("position")))
plant("columns by name", by(Reader("name")))
plant("by position, one too far right", by(Reader("position", shift=1)))
plant("by position, one too far left", by(Reader("position", shift=-1)))
plant("by position, five too far right", by(Reader("position", shift=5)))
plant("partition value as column", by(Reader("position", partition_counts=True)))
plant("base files by id, logs by name", by(Reader("id", logs_by="name")))
plant("base files by name, logs by id", by(Reader("name", logs_by="id")))
plant("base files by position, logs by id", by(Reader("position", logs_by="id")))
plant("log files ignored", by(Reader("id", logs="ignored")))
plant("log files ignored, by position", by(Reader("position", logs="ignored")))
plant("log files ignored, by name", by(Reader("name", logs="ignored")))
plant("deletes ignored", by(Reader("id", logs="undeleted")))
plant("oldest log record wins", by(Reader("id", logs="reversed")))
plant("NULL where the type was promoted", by(Reader("id", null_where_typed=True)))


def _again(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a history end with a dropped column whose name another one takes."""
    name = by_chance.choice(free(plot))
    return replace(plot, steps=f"{plot.steps}; drop {name}; add {name} string")


plant("dropped column resurrected by name", by(Reader("id", falls_back=True)), twist=_again)


def _structs(plot: Plot, _: random.Random) -> Plot:
    """Let a history end with changes in a struct."""
    columns = plot.columns.replace("ts long, ", "ts long, s struct<a: string, b: string>, ", 1)
    steps = f"{plot.steps}; add s.c string first; rename s.a d"
    return replace(plot, columns=columns, steps=steps)


plant("parts of structs by name", by(Reader("id", parts_by="name")), twist=_structs)
plant("parts of structs by position", by(Reader("id", parts_by="position")), twist=_structs)


counted = Reader("position", meta_counts=True)
plant("by position, meta columns counted", by(counted))
plant("log files ignored, meta columns counted", by(replace(counted, logs="ignored")))


def _logged(_: Plot, by_chance: random.Random) -> Plot:
    """Let texts stand where Hudi's columns are shown, and a log file be merged."""
    changes = ("drop f1", "rename f1 g", "move f1 after f2", "add g string after ts")
    last = by_chance.choice(("insert 6", "insert 6; upsert 6", "upsert 4"))
    steps = f"insert 1..3; insert 4,5; {by_chance.choice(changes)}; upsert 2; {last}"
    parts = by_chance.choice(((), ("p",)))
    columns = "id string, ts long, f1 string, f2 string, f3 string, p string"
    return Plot(columns, steps, mor=True, partition_by=parts)


overlaid = Reader("id", overlaid=True)
plant("three of Hudi's columns under others", by(overlaid), twist=_logged)


def _merged(_: Plot, by_chance: random.Random) -> Plot:
    """Let a log file be merged with rows that all show a text in the third column."""
    changes = ("drop f1", "rename f2 g", "move f1 after f2", "drop f1; rename f2 f1")
    change = by_chance.choice(changes)
    last = by_chance.choice(("insert 6", "upsert 4", "delete 3", "delete 2"))
    parts = by_chance.choice(((), ("p",)))
    columns = "id string, ts long, f1 string, f2 string, p string"
    steps = f"insert 1..3; insert 4; {change}; upsert 2; {last}"
    return Plot(columns, steps, mor=True, partition_by=parts)


rekeyed = Reader("id", rekeyed=True)
plant("record keys from the third column", by(rekeyed), twist=_merged)
named = replace(rekeyed, by="name", logs_by="id")
plant("record keys from the third column, base files by name", by(named), twist=_merged)


def _capitals(plot: Plot, by_chance: random.Random) -> Plot:
    """Let a column get its name in capitals, and another one take the name that it had."""
    cased = [name for name in free(plot) if name.upper().lower() == name != name.upper()]
    steps = "" if cased else "; add cased string"
    name = by_chance.choice(cased or ["cased"])
    steps = f"{plot.steps}{steps}; rename {name} {name.upper()}; add {name} string"
    return replace(plot, steps=steps)


@planted("names differ only in case, case ignored", twist=_capitals)
def _case(story: Story, _: random.Random) -> Seen:
    return read(story, Reader("name"), files=lambda file: _lowered(file, story))


def _lowered(file: File, story: Story) -> File:
    # Of two that look alike it takes the one that stands first in the file.
    renamed = [replace(field, name=field.name.lower()) for field in file.schema.fields]
    once: dict[str, Field] = {}
    for column in renamed:
        once.setdefault(column.name, column)
    now = {field.name.lower(): field.name for field in reversed(story.truth.schema.fields)}
    fields = tuple(replace(field, name=now.get(name, name)) for name, field in once.items())
    both = [
        replace(f, name=other.name)
        for f in fields
        for other in story.truth.schema.fields
        if other.name.lower() == f.name.lower() and other.name != f.name
    ]
    records = {
        key: _by_first(file, record, (*fields, *both)) for key, record in file.records.items()
    }
    schema = replace(file.schema, fields=(*fields, *both))
    return replace(file, schema=schema, names=schema.names, records=records)


def _by_first(file: File, record: object, fields: Sequence[Field]) -> dict[str, object]:
    names = {field.id: field.name for field in file.schema.fields}
    return {field.name: record[names[field.id]] for field in fields}  # type: ignore[index]


def _neighbours(story: Story) -> list[tuple[int, int]]:
    fields = list(story.truth.schema.fields)
    free = [n for n, field in enumerate(fields) if field.name != story.history[0].table.key]
    return [(a, b) for a in free for b in free if a < b and fields[a].type == fields[b].type]


@planted("columns of one type swapped")
def _swap(story: Story, by_chance: random.Random) -> Seen | None:
    pairs = _neighbours(story)
    return _swapped(story, *by_chance.choice(pairs)) if pairs else None


def _swapped(story: Story, a: int, b: int) -> Seen:
    order = list(range(len(story.truth.schema.fields)))
    order[a], order[b] = b, a
    return with_lines(read(story), lambda line: reordered(line, order))


@planted("columns of one type swapped in one file")
def _swap_in_one(story: Story, by_chance: random.Random) -> Seen | None:
    whole, pairs = read(story), _neighbours(story)
    if not pairs or not whole.lines:
        return None
    swapped = _swapped(story, *by_chance.choice(pairs))
    file = by_chance.choice(whole.lines).file
    both = zip(whole.lines, swapped.lines, strict=True)
    return replace(whole, lines=tuple(b if a.file == file else a for a, b in both))


def _step(story: Story, by_chance: random.Random) -> int:
    return by_chance.randrange(1, len(story.history))


@planted("schema of an earlier step, by id")
def _old_schema(story: Story, by_chance: random.Random) -> Seen:
    return _of_step(story, Reader("id"), _step(story, by_chance))


@planted("schema of an earlier step, by name")
def _old_names(story: Story, by_chance: random.Random) -> Seen:
    return _of_step(story, Reader("name"), _step(story, by_chance))


def _of_step(story: Story, reader: Reader, step: int) -> Seen:
    schema = story.history[step].schema
    columns = [frozenset(truth.schema.fields) for truth in story.history]
    seen = read(story, reader, schema=schema)
    return replace(seen, catalog=columns.index(frozenset(schema.fields)))


@planted("rows of an earlier step")
def _old_rows(story: Story, by_chance: random.Random) -> Seen:
    return read(story, step=_step(story, by_chance))


@planted("table of an earlier step, rows and schema")
def _old_table(story: Story, by_chance: random.Random) -> Seen:
    step = _step(story, by_chance)
    return read(story, step=step, schema=story.history[step].schema)


@planted("newest file of a group overlooked")
def _overlooked(story: Story, by_chance: random.Random) -> Seen | None:
    news = [f for f in story.disk.files if _others(story, f)]
    if not news:
        return None
    file = by_chance.choice(news)
    group, step = file.group, file.step
    return read(story, files=lambda f: None if (f.group, f.step) == (group, step) else f)


def _others(story: Story, file: File) -> bool:
    """Return whether a file has an older base file in its group."""
    return any(
        other.group == file.group and other.step < file.step and other.kind is FileKind.BASE
        for other in story.disk.files
    )


@planted("old file beside the new one")
def _beside(story: Story, by_chance: random.Random) -> Seen | None:
    olds = [f for f in story.disk.files if f.kind is FileKind.BASE and _replaced(story, f)]
    if not olds:
        return None
    old = by_chance.choice(olds)
    group, step = old.group, old.step
    again = read(story, files=lambda f: f if (f.group, f.step) == (group, step) else None)
    whole = read(story)
    return replace(whole, lines=(*whole.lines, *again.lines))


def _replaced(story: Story, file: File) -> bool:
    return any(
        other.group == file.group and other.step > file.step and other.kind is FileKind.BASE
        for other in story.disk.files
    )


@planted("one value of an older step")
def _one_old(story: Story, by_chance: random.Random) -> Seen | None:
    now, before = read(story), read(story, step=_step(story, by_chance))
    then = {line.key: line for line in before.lines}
    told_apart = [n for n, line in enumerate(now.lines) if line.key in then]
    columns = [n for n, name in enumerate(now.names) if name != story.history[0].table.key]
    if not told_apart or not columns:
        return None
    at, column = by_chance.choice(told_apart), by_chance.choice(columns)
    old = then[now.lines[at].key]
    new = with_cell(now.lines[at], column, old.values[column], old.tokens[column])
    return replace(now, lines=(*now.lines[:at], new, *now.lines[at + 1 :]))


@planted("a column's values one row too low")
def _slipped(story: Story, by_chance: random.Random) -> Seen | None:
    seen = read(story)
    columns = [n for n, name in enumerate(seen.names) if name != story.history[0].table.key]
    if len(seen.lines) < 2 or not columns:
        return None
    column = by_chance.choice(columns)
    pairs = zip(seen.lines, (*seen.lines[1:], seen.lines[0]), strict=True)
    lines = [
        with_cell(line, column, below.values[column], below.tokens[column]) for line, below in pairs
    ]
    return replace(seen, lines=tuple(lines))

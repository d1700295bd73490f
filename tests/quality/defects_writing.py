"""Planted writers: what they write is wrong, and a right reader shows it."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from harness.model.canonical import Value
from harness.model.file_facts import FileKind
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File
from tests.builders.table_story import Story
from tests.builders.traced_answer import Files, Seen, read
from tests.quality.defects_past import ends, seen_since
from tests.quality.planted import DEFECTS, Way, plant, planted


def _only(chosen: File, change: Files) -> Files:
    at = chosen.group, chosen.step, chosen.kind
    return lambda file: change(file) if (file.group, file.step, file.kind) == at else file


def _with_rows(story: Story, least: int = 1) -> list[File]:
    return [file for file in story.disk.files if len(file.records) >= least]


def _free(story: Story, file: File) -> list[str]:
    return [name for name in file.names if name not in story.history[0].table.fixed]


@planted("writer: values under each other's columns")
def _crossed(story: Story, by_chance: random.Random) -> Seen | None:
    choices = [
        (file, a, b)
        for file in _with_rows(story)
        for types in [{field.name: field.type for field in file.schema.fields}]
        for a in _free(story, file)
        for b in _free(story, file)
        if a < b and types[a] == types[b]
    ]
    if not choices:
        return None
    chosen, a, b = by_chance.choice(choices)
    swap = {a: b, b: a}

    def crossed(file: File) -> File:
        return _records(file, lambda record: {n: record[swap.get(n, n)] for n in record})

    return read(story, files=_only(chosen, crossed))


def _records(file: File, change: object) -> File:
    assert callable(change)
    return replace(file, records={key: change(record) for key, record in file.records.items()})


def _in_a_column(change: Callable[[File, str], File]) -> Way:
    """Change one column of one file."""

    def defect(story: Story, by_chance: random.Random) -> Seen | None:
        choices = [(file, name) for file in _with_rows(story) for name in _free(story, file)]
        if not choices:
            return None
        chosen, name = by_chance.choice(choices)
        return read(story, files=_only(chosen, lambda file: change(file, name)))

    return defect


def _emptied(file: File, name: str) -> File:
    return _records(file, lambda record: {**record, name: None})


def _narrowed(file: File, name: str) -> File:
    fields = tuple(field for field in file.schema.fields if field.name != name)
    names = tuple(other for other in file.names if other != name)
    return replace(file, schema=replace(file.schema, fields=fields), names=names)


plant("writer: NULL for a column", _in_a_column(_emptied))
plant("writer: a column left out of a file", _in_a_column(_narrowed))


@planted("writer: an update lost")
def _unwritten(story: Story, by_chance: random.Random) -> Seen | None:
    logs = [file for file in story.disk.files if file.kind is FileKind.LOG]
    return read(story, files=_only(by_chance.choice(logs), lambda _: None)) if logs else None


@planted("writer: deletes lost")
def _undeleted(story: Story, _: random.Random) -> Seen | None:
    if not any(file.deleted for file in story.disk.files):
        return None
    return read(story, files=lambda file: replace(file, deleted=()))


@planted("writer: a row left out")
def _rowless(story: Story, by_chance: random.Random) -> Seen | None:
    choices = [(file, key) for file in _with_rows(story) for key in file.records]
    if not choices:
        return None
    chosen, gone = by_chance.choice(choices)

    def rowless(file: File) -> File:
        remaining = {key: record for key, record in file.records.items() if key != gone}
        return replace(file, records=remaining)

    return read(story, files=_only(chosen, rowless))


@planted("writer: two rows' values exchanged")
def _exchanged(story: Story, by_chance: random.Random) -> Seen | None:
    files = _with_rows(story, least=2)
    if not files:
        return None
    chosen = by_chance.choice(files)
    a, b = by_chance.sample(list(chosen.records), 2)
    key = story.history[0].table.key

    def exchanged(file: File) -> File:
        left, right = file.records[a], file.records[b]
        crossed: dict[Value, Mapping[str, Value]] = {
            a: {**right, key: left[key]},
            b: {**left, key: right[key]},
        }
        return replace(file, records={**file.records, **crossed})

    return read(story, files=_only(chosen, exchanged))


def _compacted(plot: Plot, _: random.Random) -> Plot:
    """Let a history end with a compaction that has log files to take in."""
    return replace(plot, mor=True, steps=f"{plot.steps}; upsert 1,2; upsert 1,2; compact")


@planted("writer: compaction loses the log files", twist=_compacted)
def _loses(story: Story, by_chance: random.Random) -> Seen | None:
    merged = [
        file
        for file in story.disk.files
        if file.kind is FileKind.BASE and story.disk.merge_on_read and _has_logs(story, file)
    ]
    if not merged:
        return None
    chosen = by_chance.choice(merged)

    def lost(file: File) -> File | None:
        if file.group != chosen.group or file.step > chosen.step:
            return file
        newest = file.kind is FileKind.BASE and file.step < chosen.step
        return file if newest else None

    return read(story, files=lost)


def _has_logs(story: Story, base: File) -> bool:
    return any(
        file.group == base.group and file.kind is FileKind.LOG and file.step < base.step
        for file in story.disk.files
    )


for _name in ("an update lost", "deletes lost", "a row left out", "NULL for a column"):
    _whole = DEFECTS[f"writer: {_name}"]
    plant(f"{_whole.name}, since a step", seen_since(_whole.answer), twist=ends)

"""Planted readers that a read-optimized view shows something else than base files alone."""

import random
from collections.abc import Callable
from dataclasses import replace

from harness.model.file_facts import FileKind
from tests.builders.random_story import Plot
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reader
from tests.builders.table_story import Story
from tests.builders.traced_answer import Line, Seen, read
from tests.quality.planted import Way, filtered, plant, plant_right, planted, predicate

VIEW = "read_optimized"
BASE = Reader("id", logs="ignored")
Chosen = Callable[[str], bool]
"""Tells of a file group whether it is read wrongly."""


def _mor(plot: Plot, _: random.Random) -> Plot:
    """Let the table be merge-on-read, and end with changes that are in log files only."""
    steps = f"insert 401..406; {plot.steps}; upsert 401; delete 402; upsert 403; insert 407"
    return replace(plot, mor=True, steps=steps)


def _view(seen: Seen) -> Seen:
    return replace(seen, view=VIEW)


def _mixed(story: Story, reader: Reader, chosen: Chosen) -> Seen:
    right, wrong = read(story, BASE), read(story, reader)
    lines = [line for line in right.lines if not chosen(_group(line))]
    lines += [line for line in wrong.lines if chosen(_group(line))]
    return replace(right, lines=tuple(lines), view=VIEW)


def _group(line: Line) -> str:
    return line.file.rpartition("_")[0]


def _with_logs(story: Story) -> list[str]:
    return [group for group, (_, logs) in story.disk.slices(10**6).items() if logs]


def _in_one(reader: Reader) -> Way:
    def defect(story: Story, by_chance: random.Random) -> Seen | None:
        groups = _with_logs(story)
        if not groups:
            return None
        wrong = by_chance.choice(groups)
        return _mixed(story, reader, lambda group: group == wrong)

    return defect


plant_right("read-optimized", _mor, BASE, VIEW)
plant("read-optimized merges all logs", lambda story, _: _view(read(story)), twist=_mor)
plant("read-optimized merges the logs of one group", _in_one(Reader("id")), twist=_mor)
plant(
    "read-optimized shows newer values, but no delete",
    _in_one(Reader("id", logs="undeleted")),
    twist=_mor,
)
plant(
    "read-optimized by position",
    lambda story, _: _view(read(story, Reader("position", logs="ignored"))),
    twist=_mor,
)


@planted("read-optimized leaves out deleted rows", twist=_mor)
def _too_early(story: Story, _: random.Random) -> Seen:
    seen = _view(read(story, BASE))
    gone = {str(key) for key in story.truth.gone}
    return replace(seen, lines=tuple(line for line in seen.lines if line.key not in gone))


def _compacted(plot: Plot, _: random.Random) -> Plot:
    steps = f"insert 401..406; {plot.steps}; upsert 401; delete 402; compact; upsert 403"
    return replace(plot, mor=True, steps=steps)


@planted("read-optimized misses a compaction", twist=_compacted)
def _missed(story: Story, _: random.Random) -> Seen:
    last = max(compaction.step for compaction in _compactions(story))
    return _view(read(story, BASE, files=lambda file: None if _at(file, last) else file))


@planted("read-optimized misses the compaction of one group", twist=_compacted)
def _missed_one(story: Story, by_chance: random.Random) -> Seen:
    one = by_chance.choice(_compactions(story))
    at = one.group, one.step

    def without(file: File) -> File | None:
        return None if _at(file, one.step) and (file.group, file.step) == at else file

    return _view(read(story, BASE, files=without))


def _compactions(story: Story) -> list[File]:
    groups: set[str] = set()
    results = []
    for file in story.disk.files:
        if file.kind is FileKind.BASE and file.group in groups:
            results.append(file)
        groups.add(file.group)
    return results


def _at(file: File, step: int) -> bool:
    return file.kind is FileKind.BASE and file.step == step


@planted("read-optimized mixes two instants across groups", twist=_mor)
def _two_instants(story: Story, by_chance: random.Random) -> Seen:
    step = by_chance.randrange(1, len(story.history))
    old = read(story, Reader("id"), step=step, schema=story.truth.schema)
    groups = sorted({_group(line) for line in old.lines})
    chosen = set(by_chance.sample(groups, k=(len(groups) + 1) // 2))
    right = read(story, BASE)
    lines = [line for line in right.lines if _group(line) not in chosen]
    lines += [line for line in old.lines if _group(line) in chosen]
    return replace(right, lines=tuple(lines), view=VIEW)


@planted("read-optimized asks the predicate of merged rows", twist=_mor)
def _predicate(story: Story, _: random.Random) -> Seen | None:
    query = predicate(story)
    return None if query is None else _view(filtered(read(story), query))

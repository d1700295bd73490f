"""Planted readers that a read-optimized view shows something else than base files alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from harness.model.file_facts import FileKind
from tests.quality import asked
from tests.quality.chance import Plot
from tests.quality.notation import Told
from tests.quality.planted import Way, plant, planted
from tests.quality.shadow import Line, Seen, read
from tests.simulated import Reader
from tests.simulated_disk import File

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


def _mixed(told: Told, reader: Reader, chosen: Chosen) -> Seen:
    """Read the chosen file groups in another way than base files alone."""
    right, wrong = read(told, BASE), read(told, reader)
    lines = [each for each in right.lines if not chosen(_group(each))]
    lines += [each for each in wrong.lines if chosen(_group(each))]
    return replace(right, lines=tuple(lines), view=VIEW)


def _group(line: Line) -> str:
    return line.file.rpartition("_")[0]


def _with_logs(told: Told) -> list[str]:
    return [group for group, (_, logs) in told.disk.slices(10**6).items() if logs]


def _in_one(reader: Reader) -> Way:
    def way(told: Told, by_chance: random.Random) -> Seen | None:
        groups = _with_logs(told)
        if not groups:
            return None
        wrong = by_chance.choice(groups)
        return _mixed(told, reader, lambda group: group == wrong)

    return way


plant("read-optimized (right)", lambda told, _: _view(read(told, BASE)), harmless=True, twist=_mor)
plant("read-optimized merges all logs", lambda told, _: _view(read(told)), twist=_mor)
plant("read-optimized merges the logs of one group", _in_one(Reader("id")), twist=_mor)
plant(
    "read-optimized shows newer values, but no delete",
    _in_one(Reader("id", logs="undeleted")),
    twist=_mor,
)
plant(
    "read-optimized by position",
    lambda told, _: _view(read(told, Reader("position", logs="ignored"))),
    twist=_mor,
)


@planted("read-optimized leaves out deleted rows", twist=_mor)
def _too_early(told: Told, _: random.Random) -> Seen:
    seen = _view(read(told, BASE))
    gone = {str(key) for key in told.truth.gone}
    return replace(seen, lines=tuple(each for each in seen.lines if each.key not in gone))


def _compacted(plot: Plot, _: random.Random) -> Plot:
    steps = f"insert 401..406; {plot.steps}; upsert 401; delete 402; compact; upsert 403"
    return replace(plot, mor=True, steps=steps)


@planted("read-optimized misses a compaction", twist=_compacted)
def _missed(told: Told, _: random.Random) -> Seen:
    last = max(each.step for each in _compactions(told))
    return _view(read(told, BASE, files=lambda each: None if _at(each, last) else each))


@planted("read-optimized misses the compaction of one group", twist=_compacted)
def _missed_one(told: Told, by_chance: random.Random) -> Seen:
    one = by_chance.choice(_compactions(told))
    at = one.group, one.step

    def without(file: File) -> File | None:
        return None if _at(file, one.step) and (file.group, file.step) == at else file

    return _view(read(told, BASE, files=without))


def _compactions(told: Told) -> list[File]:
    groups: set[str] = set()
    found = []
    for each in told.disk.files:
        if each.kind is FileKind.BASE and each.group in groups:
            found.append(each)
        groups.add(each.group)
    return found


def _at(file: File, step: int) -> bool:
    return file.kind is FileKind.BASE and file.step == step


@planted("read-optimized mixes two instants across groups", twist=_mor)
def _two_instants(told: Told, by_chance: random.Random) -> Seen:
    step = by_chance.randrange(1, len(told.history))
    old = read(told, Reader("id"), step=step, schema=told.truth.schema)
    groups = sorted({_group(each) for each in old.lines})
    chosen = set(by_chance.sample(groups, k=(len(groups) + 1) // 2))
    right = read(told, BASE)
    lines = [each for each in right.lines if _group(each) not in chosen]
    lines += [each for each in old.lines if _group(each) in chosen]
    return replace(right, lines=tuple(lines), view=VIEW)


@planted("read-optimized asks the predicate of merged rows", twist=_mor)
def _predicate(told: Told, _: random.Random) -> Seen | None:
    found = [q.query for q in asked.questions(told) if q.text.startswith("predicate(")]
    if not found:
        return None
    whole = read(told)
    lines = [
        each
        for each in whole.lines
        if found[0].takes(dict(zip(whole.names, each.values, strict=True)))
    ]
    return replace(whole, lines=tuple(lines), query=found[0], view=VIEW)

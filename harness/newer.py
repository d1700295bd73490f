"""Whole rows that are as log files have them, where a view shows base files alone.

A row that only log files hold is there, one that they delete is not, or the predicate is held
against the newer version of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness import matching
from harness.checks.place import World
from harness.matching import Matching
from harness.model.canonical import text_of
from harness.model.truth import Row
from harness.record import Origin


def told(world: World, names: Sequence[str], found: Matching) -> dict[str, Origin]:
    """Give the state of each row that is too many, or absent, by the text of its key.

    `names`: what the columns of the answer are called.
    """
    if world.newer is None:
        return {}
    now = {text_of(row.key): row for row in world.newer.values()}
    early = (*_early(world, now, names, found), *_gone(world, now, found))
    return {key: _origin(world, key) for key in early}


def _early(
    world: World, now: Mapping[str, Row], names: Sequence[str], found: Matching
) -> Iterator[str]:
    older = {text_of(row.key): row for row in world.left_out.values()}
    for key, values in found.extra:
        if key in now and key in older:  # the predicate leaves out what the base file holds
            newest = matching.right(world, now[key], names, values)
            if newest > matching.right(world, older[key], names, values):
                yield key
        elif key in now:
            yield key


def _gone(world: World, now: Mapping[str, Row], found: Matching) -> Iterator[str]:
    """Give absent rows that are not there any more, but where all their file group is absent."""
    there = found.there
    for key, row in world.keys.items():
        if key in there or key in now:
            continue
        left = [k for k, other in world.keys.items() if k in now and other.group == row.group]
        others = left or [k for k in world.keys if k in now]
        if not others or there.intersection(others):
            yield key


def _origin(world: World, key: str) -> Origin:
    """Give the step of a row's newest state."""
    truth, name = world.now, world.history[0].table.key
    row = next((each for k, each in truth.rows.items() if text_of(k) == key), None)
    gone = next((step for k, step in truth.gone.items() if text_of(k) == key), truth.step)
    step = gone if row is None else max(row.written.values(), default=gone)
    return Origin(world.key_id, name, step, key)

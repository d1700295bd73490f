"""Which variants and readers of many runs are one line: what each was in the run before. Pure.

What has the same name is the same. A reader of another version, or a table of another writer, is
followed as a comparison of the two runs would: from each run to the newest one before it that has
what corresponds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from harness.comparison.correspondence import Correspondence, correspondence
from harness.run import causes
from harness.run.history_store import Line
from harness.run.kept_run import KeptRun
from harness.scenario.cells import parse_reader

Names = Sequence[Mapping[str, None]]
"""The names that each run has; in their order."""
Alike = Callable[[int, int], Mapping[str, str]]
"""What the run at one place calls what that at a later one has."""


def run_lines(runs: Sequence[KeptRun]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Return the lines of variants and those of readers; of runs that are the oldest first."""

    @cache
    def alike(old: int, new: int) -> Correspondence:
        return correspondence(runs[old].info, runs[new].info)

    variants = [dict.fromkeys(each.id for each in run.info.variants) for run in runs]
    # A step has no reader: the empty name.
    readers = [dict.fromkeys(("", *(r.reader for r in run.info.readers))) for run in runs]
    numbers = [each.number for each in runs]
    return (
        _lines(variants, lambda old, new: alike(old, new).variants, numbers),
        _lines(readers, lambda old, new: _of_one_engine(alike(old, new).readers), numbers),
    )


def _lines(names: Names, alike: Alike, numbers: Sequence[int]) -> tuple[Line, ...]:
    """Return a line for each name that no later run goes on with, of all that it goes on with."""
    found: list[Line] = []
    followed = set[tuple[int, str]]()
    for at in reversed(range(len(names))):
        for name in names[at]:
            if (at, name) not in followed:
                line = dict(_back(at, name, names, alike))
                followed |= set(line.items())
                found.append({numbers[each]: called for each, called in line.items()})
    return tuple(found)


def _back(at: int, name: str, names: Names, alike: Alike) -> Iterator[tuple[int, str]]:
    yield at, name
    for before in reversed(range(at)):
        was = name if name in names[before] else alike(before, at).get(name, "")
        if was or name in names[before]:
            yield before, was
            at, name = before, was


def _of_one_engine(readers: Mapping[str, str]) -> Mapping[str, str]:
    """Return the readers that are the same engine: what another one answers is no turn."""
    return {new: old for new, old in readers.items() if _engine(new) == _engine(old)}


def _engine(reader: str) -> str:
    return causes.engine(parse_reader(reader).distribution)

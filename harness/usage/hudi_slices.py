"""Which files of a Hudi table a reader reads today, from their names: how old the oldest one is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from harness.formats.hudi.files import BASE, LOG
from harness.usage.hudi_timeline import HudiTimeline
from harness.usage.table_folder import ListedFile, TableFolder, UnreadableError


@dataclass(frozen=True, slots=True)
class Slices:
    """The newest version of each file group, all together."""

    oldest: str = ""
    """The instant of the oldest; empty where there is no file."""
    base_file: str = ""
    """The oldest base file among them."""
    logs: bool = False
    why: str = ""
    """Why not all files were seen; those that were not may be older."""


def read(folder: TableFolder, timeline: HudiTimeline, replaced: Collection[str]) -> Slices:
    """Look at the names in the table's folders.

    `replaced`: the file groups that others took the place of.
    """
    found, why = Slices(), ""
    try:
        for seen in folder.walk():
            found = _older(found, _of_folder(seen, timeline, replaced))
    except UnreadableError as problem:
        why = str(problem)
    return Slices(found.oldest, found.base_file, found.logs, why)


def _older(one: Slices, other: Slices) -> Slices:
    first = min((each for each in (one, other) if each.oldest), key=lambda s: s.oldest, default=one)
    base = min(filter(None, (one.base_file, other.base_file)), key=_instant, default="")
    return Slices(first.oldest, base, one.logs or other.logs)


def _instant(path: str) -> str:
    found = BASE.fullmatch(path.rpartition("/")[2])
    return found["instant"] if found else ""


def _of_folder(
    seen: Iterable[ListedFile], timeline: HudiTimeline, replaced: Collection[str]
) -> Slices:
    """Return the newest versions in one folder: all versions of a file group lie in it."""
    bases: dict[str, ListedFile] = {}
    logs: dict[str, str] = {}
    for each in seen:
        if (base := BASE.fullmatch(each.name)) and timeline.has(base["instant"]):
            group = base["group"]
            bases[group] = max(bases.get(group, each), each, key=lambda s: _instant(s.path))
        elif log := LOG.fullmatch(each.name):
            logs[log["group"]] = min(logs.get(log["group"], log["instant"]), log["instant"])
    live = {group: each for group, each in bases.items() if group not in replaced}
    logs = {group: at for group, at in logs.items() if group not in replaced}
    # What a base file holds is as old as it is; its log files are younger.
    ages = {**logs, **{group: _instant(each.path) for group, each in live.items()}}
    first = min((each.path for each in live.values()), key=_instant, default="")
    return Slices(min(ages.values(), default=""), first, bool(logs))

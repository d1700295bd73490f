"""The file slices of a Hudi table as of an instant: of each file group the base file and the logs.

Sources: Hudi technical specification, "File Layouts", "Log File Format"; `HoodieFileGroup` and
`CompletionTimeQueryView`. Up to table version 6 a log file has the instant of the base file that it
goes on from in its name, from version 8 on that of its own write, which goes on from the last base
file that was begun before it was completed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from harness.formats.api import FileFactError
from harness.formats.hudi.records import HudiTable

BY_COMPLETION: Final = 8
"""The first table version in which log files go by when their writes were completed."""


@dataclass(frozen=True, slots=True)
class SliceFiles:
    group: str
    """See `timeline.file_group`."""
    base: str
    """The path of the base file; empty where there are only logs."""
    instant: str
    """That of the base file."""
    logs: tuple[str, ...]
    """Paths, in the order of their writes."""

    @property
    def folder(self) -> str:
        return self.group.rpartition("/")[0]


def slices(table: HudiTable, counts: Callable[[str], bool]) -> Iterator[SliceFiles]:
    """Yield the newest slice of each file group that nothing replaced, by their names.

    `counts`: whether an instant's writes are part of the table. Raises FileFactError where a file
    of a slice is missing that a write on the timeline names.
    """
    replaced = _replaced(table, counts)
    there = {file.path: file for file in table.data_files(replaced)}
    writes = (entry for entry in table.writes.values() if counts(entry.requested))
    named = (file for entry in writes for file in table.written(entry, replaced))
    bases: dict[str, tuple[str, str]] = {}
    logs = defaultdict[str, list[tuple[str, int, str, str]]](list)
    for file in ({file.path: file for file in named} | there).values():
        if file.is_base:
            if counts(file.instant):
                newest = file.instant, file.path
                bases[file.group] = max(bases.get(file.group, newest), newest)
        elif not file.name["cdc"]:
            at = _when(table, file.instant), int(file.name["number"]), file.name["token"]
            logs[file.group].append((*at, file.path))
    for group in sorted({*bases, *logs}):
        instant, base = bases.get(group, ("", ""))
        paths = tuple(log[-1] for log in sorted(logs[group]) if log[0] >= instant)
        for path in filter(None, (base, *paths)):
            if path not in there:
                raise FileFactError(f"{path}: there is no such file, which the timeline names")
        if base or paths:
            yield SliceFiles(group, base, instant, paths)


def _replaced(table: HudiTable, counts: Callable[[str], bool]) -> frozenset[str]:
    groups = (
        table.replaced_groups(entry) for entry in table.replacements() if counts(entry.requested)
    )
    return frozenset[str]().union(*groups)


def _when(table: HudiTable, instant: str) -> str:
    if int(table.version or 0) < BY_COMPLETION or instant not in table.writes:
        return instant
    return table.writes[instant].ended

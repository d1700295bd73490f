"""Hudi's timeline with what is not completed on it, from the names of its files. Pure.

See `harness.formats.hudi.timeline` for the names and their source; besides, in layout 1 the name
of a commit that is being made has no action (`<requested>.inflight`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from harness.formats.hudi import timeline

_NAME: Final = re.compile(
    r"(?P<requested>\d+)(_\d+)?(\.(?P<action>[a-z]+))??(\.(?P<state>requested|inflight))?"
)
PENDING: Final = {
    "compaction": "pending-compaction",
    "logcompaction": "pending-log-compaction",
    "clustering": "pending-clustering",
    "replacecommit": "pending-replacement",
    "indexing": "pending-indexing",
    "rollback": "pending-rollback",
    "restore": "pending-restore",
    "clean": "pending-clean",
    "commit": "pending-write",
    "deltacommit": "pending-write",
}
"""What a table whose instant of an action is not completed is said to have."""


@dataclass(frozen=True, slots=True)
class HudiTimeline:
    """The instants of the active timeline."""

    completed: Mapping[str, str]
    """The action of each, by the time at which it was requested."""
    pending: Mapping[str, str]
    """Likewise of those that are not completed."""

    @property
    def begin(self) -> str:
        """The first write; those that are older were completed, and are archived."""
        found = {**self.pending, **self.completed}.items()
        return min((at for at, action in found if action in timeline.OF_WRITES), default="")

    def has(self, instant: str) -> bool:
        """Return whether what an instant wrote is part of the table.

        What is neither here nor older was rolled back (`BaseHoodieTimeline`,
        `containsOrBeforeTimelineStarts`).
        """
        return instant in self.completed or instant < self.begin


def of_names(names: Iterable[str]) -> HudiTimeline:
    """Return the timeline that names of files are.

    >>> of_names(["1.commit", "2.compaction.requested", "2.compaction.inflight"]).pending
    {'2': 'compaction'}
    """
    completed: dict[str, str] = {}
    begun: dict[str, str] = {}
    for found in filter(None, map(_NAME.fullmatch, sorted(names))):
        action = found["action"] or "commit"
        if found["state"]:
            begun.setdefault(found["requested"], action)
        elif found["action"]:
            completed[found["requested"]] = action
    return HudiTimeline(completed, {at: what for at, what in begun.items() if at not in completed})

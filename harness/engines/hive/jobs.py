"""What ran for a query: jobs of MapReduce or of Tez, or none. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

FETCH: Final = "fetch"
MAP_REDUCE: Final = "mapreduce"
TEZ: Final = "tez"


@dataclass(frozen=True, slots=True)
class Job:
    """A task of a query that reads its tables."""

    name: str
    """What Hive calls it: `TEZ`, or `MAPRED`."""
    id: str
    """By which the log names it; empty for Tez."""

    @property
    def by_tez(self) -> bool:
        """Whether Tez ran it."""
        return self.name == "TEZ"


def jobs(tasks: str | None) -> tuple[Job, ...]:
    """Return the jobs among the tasks of a query, from its status in JSON.

    Those of Tez are of the type MAPRED too (`TezTask.getType`).

    >>> jobs('[{"taskType":"MAPRED","name":"TEZ"},{"taskType":"FETCH"}]')
    (Job(name='TEZ', id=''),)
    """
    found = (task for task in json.loads(tasks or "[]") if task.get("taskType") == "MAPRED")
    return tuple(Job(task.get("name") or "", task.get("externalHandle") or "") for task in found)


def path(found: Sequence[Job]) -> str:
    """Return the path that a query took.

    >>> path(()), path([Job("MAPRED", "job_1")]), path([Job("TEZ", "")])
    ('fetch', 'mapreduce', 'tez')
    """
    if not found:
        return FETCH
    return TEZ if any(job.by_tez for job in found) else MAP_REDUCE

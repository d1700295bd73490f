"""The table services of Hudi: how its procedures are called, and what shows that nothing was done.

A procedure answers without an error where it found nothing to do, and where it did nothing.
Source: `RunCompactionProcedure`, `RunClusteringProcedure` of Hudi 0.15.0, 1.0.2 and 1.2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.formats import hudi_files
from harness.formats.statements import DATABASE, Sql, Statement
from harness.model.file_facts import FileFact
from harness.model.identifiers import TABLE
from harness.scenario.operations.api import schedules
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.compact import Compact

Service = Compact | Cluster
_NAME: Final = f"table => '{DATABASE}.{TABLE}'"


def wording(service: Service, *, merge_on_read: bool) -> tuple[Statement, ...]:
    """Return the calls of a service; none where there are no log files to compact.

    First what waits is carried out. `run` of a compaction would not touch it, nor the file groups
    it is about, and neither would `scheduleAndExecute` of a clustering. The upgrade of a table to
    version 8 leaves a compaction that waits as well (seen on 1.0.2).
    """
    match service:
        case Compact(only) if merge_on_read:
            return _calls("run_compaction", (only.value,) if only else ("execute", "run"))
        case Cluster(only):
            both = ("execute", "scheduleAndExecute")
            return _calls("run_clustering", (only.value,) if only else both)
    return ()


def cannot(service: Service, *, merge_on_read: bool) -> str:
    """Return why a table cannot have a service; empty when it can."""
    if isinstance(service, Compact) and schedules(service) and not merge_on_read:
        return "has no log files, so no compaction of them can be scheduled"
    return ""


def left_undone(service: Service, before: Sequence[FileFact]) -> str:
    """Return what a service that left no trace should have done; empty when nothing."""
    lacking = "was scheduled" if schedules(service) else "is on the timeline"
    if isinstance(service, Compact):
        waiting = hudi_files.uncompacted(before)
        return f"no compaction {lacking}, but {waiting} log blocks wait for one" if waiting else ""
    # Hudi 1.0.2 leaves a file group as it is that is alone in its partition.
    groups = hudi_files.together(before)
    return f"no clustering {lacking}, but {groups} file groups share a partition" if groups else ""


def _calls(procedure: str, operations: Sequence[str]) -> tuple[Statement, ...]:
    return tuple(Sql(f"call {procedure}(op => '{each}', {_NAME})") for each in operations)

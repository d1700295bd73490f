"""What is missing from a Hudi table when an operation left no trace.

A procedure answers without an error where it found nothing to do, and where it did nothing.
Source: `RunCompactionProcedure`, `RunClusteringProcedure`, `RunCleanProcedure` and
`ArchiveCommitsProcedure` of Hudi; all were seen to work with 0.15.0, 1.0.2 and 1.2.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from harness.formats.hudi import files as hudi_files
from harness.model.file_facts import FileFact
from harness.scenario.operations.api import Operation, StepTrace
from harness.scenario.operations.failed_writes import FailedWrite, KilledWrite
from harness.scenario.operations.second_writer import BeginWrite
from harness.scenario.operations.services import RETAINED, Archive, Clean, Cluster, Compact
from harness.scenario.operations.snapshots import Restore, Rollback, Savepoint

Service = Compact | Cluster | Clean | Archive
MISSING: Final[Mapping[type[Operation], str]] = {
    **dict.fromkeys(
        (BeginWrite, FailedWrite, KilledWrite), "no write was begun that is not completed"
    ),
    Savepoint: "no new savepoint is on the timeline",
    Restore: "no new restore is completed",
    Rollback: "no new rollback is completed",
}
"""What is missing after these, whatever the table's files are."""


def missing_effect(operation: Operation, before: Sequence[FileFact], commits: int) -> str:
    """Return what an operation that left no trace should have done; empty when nothing.

    `commits`: how many there are.
    """
    if not isinstance(operation, Service):
        return MISSING.get(type(operation), "")
    missing, waiting, why = _missed(operation, before, commits)
    return f"no {missing}, but {waiting} {why}" if waiting else ""


def _missed(service: Service, before: Sequence[FileFact], commits: int) -> tuple[str, int, str]:
    """Return what is not there, and of how many things it can be told."""
    lacking = "was scheduled" if service.trace() is StepTrace.SCHEDULED else "is on the timeline"
    match service:
        case Compact():
            waiting = hudi_files.uncompacted(before)
            return f"compaction {lacking}", waiting, "log blocks wait for one"
        case Cluster():
            # Hudi 1.0.2 leaves a file group as it is that is alone in its partition.
            groups = hudi_files.together(before)
            return f"clustering {lacking}", groups, "file groups share a partition"
        case Clean():
            old = hudi_files.superseded(before)
            return "cleaning is on the timeline", old, "base files are not the newest"
    return "commit was archived", max(commits - RETAINED, 0), "are too many"

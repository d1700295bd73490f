"""The table services of Hudi: how its procedures are called, and what shows that nothing was done.

A procedure answers without an error where it found nothing to do, and where it did nothing.
Source: `RunCompactionProcedure`, `RunClusteringProcedure`, `RunCleanProcedure` and
`ArchiveCommitsProcedure` of Hudi; all were seen to work with 0.15.0, 1.0.2 and 1.2.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.formats.hudi import files as hudi_files
from harness.model.file_facts import FileFact
from harness.model.identifiers import TABLE
from harness.scenario.operations.api import schedules
from harness.scenario.operations.archive import Archive
from harness.scenario.operations.clean import Clean
from harness.scenario.operations.cluster import Cluster
from harness.scenario.operations.compact import Compact
from harness.scenario.statements import DATABASE, Sql, Statement

Service = Compact | Cluster | Clean | Archive
TABLE_ARGUMENT: Final = f"table => '{DATABASE}.{TABLE}'"
"""How every procedure of Hudi is told the table."""
_ONE_VERSION: Final = (
    "hoodie.cleaner.policy=KEEP_LATEST_FILE_VERSIONS,hoodie.cleaner.fileversions.retained=1"
)
_KEPT: Final = 3
"""How many commits may be on the timeline; where there are more, one less stays."""


def wording(
    service: Service, *, merge_on_read: bool, metadata_table: bool
) -> tuple[Statement, ...]:
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
        case Clean():
            return (Sql(f"call run_clean({TABLE_ARGUMENT}, options => '{_ONE_VERSION}')"),)
        case Archive():
            kept = f"min_commits => {_KEPT - 1}, max_commits => {_KEPT}, retain_commits => 1"
            # Where there is a metadata table, that says how far it may go (`TimelineArchiver`).
            asked = f"enable_metadata => {str(metadata_table).lower()}"
            return (Sql(f"call archive_commits({TABLE_ARGUMENT}, {asked}, {kept})"),)
    return ()


def unsupported(service: Service, *, merge_on_read: bool) -> str:
    """Return why a table cannot have a service; empty when it can."""
    if isinstance(service, Compact) and schedules(service) and not merge_on_read:
        return "has no log files, so no compaction of them can be scheduled"
    return ""


def missing_effect(service: Service, before: Sequence[FileFact], commits: int) -> str:
    """Return what a service that left no trace should have done; empty when nothing.

    `commits`: how many there are.
    """
    what, waiting, why = _missed(service, before, commits)
    return f"no {what}, but {waiting} {why}" if waiting else ""


def _missed(service: Service, before: Sequence[FileFact], commits: int) -> tuple[str, int, str]:
    """Return what is not there, and of how many things it can be told."""
    lacking = "was scheduled" if schedules(service) else "is on the timeline"
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
    return "commit was archived", max(commits - _KEPT, 0), "are too many"


def _calls(procedure: str, operations: Sequence[str]) -> tuple[Statement, ...]:
    return tuple(Sql(f"call {procedure}(op => '{each}', {TABLE_ARGUMENT})") for each in operations)

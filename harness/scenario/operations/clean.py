"""`clean`: files that no reader of today needs are removed; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from harness.model.truth import Truth
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.operations.procedures import TABLE_NAME, call_hudi, call_iceberg
from harness.scenario.statements import Sql, under

_ONE_VERSION: Final = (
    "hoodie.cleaner.policy=KEEP_LATEST_FILE_VERSIONS,hoodie.cleaner.fileversions.retained=1"
)
_ALL_SNAPSHOTS: Final = "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1"
_CHECK: Final = "spark.databricks.delta.retentionDurationCheck.enabled"
"""With `true`, its default, Delta removes no file that was part of the table in the last 7 days."""
_LISTERS: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_USUAL_LISTERS: Final = "10000"
"""So many tasks list the files of a vacuum (`DeltaFileOperations.recursiveListDirs` of Delta 3.3;
SQLConf of Spark 3.5.8, PARALLEL_PARTITION_DISCOVERY_PARALLELISM): minutes on a small machine."""


@dataclass(frozen=True, slots=True)
class Clean(Operation):
    """Keep the newest version of each file group alone: earlier tables cannot be gone back to."""

    EXAMPLES = (Example("clean", "removes all versions of files but the newest"),)
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA})
    TRACE = StepTrace.CLEANINGS

    def text(self) -> str:
        return "clean old files away"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything but the files of the past."""
        return replace(before, step=before.step + 1, oldest=before.step)

    def statements(self, context: StepContext) -> Statements:
        match context.kind.family:
            case Family.HUDI:
                return (call_hudi("run_clean", f"options => '{_ONE_VERSION}'"),)
            case Family.ICEBERG:
                return (call_iceberg("expire_snapshots", _ALL_SNAPSHOTS),)
        vacuum = Sql(f"vacuum {TABLE_NAME} retain 0 hours")
        by_one_task = under(_LISTERS, "1", _USUAL_LISTERS, (vacuum,))
        return under(_CHECK, "false", "true", by_one_task)

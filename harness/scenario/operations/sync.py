"""`sync`: the metastore is told the columns that the table has; the table stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_hudi


@dataclass(frozen=True, slots=True)
class Sync(Operation):
    """Bring the metastore up to a table whose columns were changed without telling it."""

    EXAMPLES = (
        Example(
            "sync",
            "tells the metastore the columns that the table has, see "
            "[below](#what-the-metastore-is-told)",
        ),
    )
    FAMILIES = frozenset({Family.HUDI})
    WHY_NOT = "has its columns from no metastore, so there is none to sync"

    def text(self) -> str:
        return "sync the metastore"

    def statements(self, context: StepContext) -> Statements:
        """Return the call of `HiveSyncTool` with the context.settings of the session."""
        return (call_hudi("hive_sync"),)

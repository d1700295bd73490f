"""`rewrite_position_deletes`: position delete files are written anew; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_iceberg


@dataclass(frozen=True, slots=True)
class RewritePositionDeletes(Operation):
    """Write the positions of deleted rows into new files, without those that name no live file."""

    EXAMPLES = (Example("rewrite_position_deletes", "writes the position delete files anew"),)
    FAMILIES = frozenset({Family.ICEBERG})

    def text(self) -> str:
        return "rewrite the position deletes"

    def statements(self, context: StepContext) -> Statements:
        all_files = "options => map('rewrite-all', 'true')"
        return (call_iceberg("rewrite_position_delete_files", all_files),)

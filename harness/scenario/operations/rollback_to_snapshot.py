"""`rollback_to_snapshot`: the rows are those after an earlier step again; the columns stay."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.model.undo import rolled_back_to
from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_iceberg
from harness.scenario.statements import instant_of


@dataclass(frozen=True, slots=True)
class RollbackToSnapshot(Operation):
    """Make the snapshot of a step the current one again."""

    EXAMPLES = (
        Example(
            "rollback_to_snapshot: 2",
            "makes the rows after step 2 the current ones again; the columns stay",
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    SHORT = "step"
    step: int

    def text(self) -> str:
        return f"roll back to the snapshot of step {self.step}"

    def evolve(self, before: Truth) -> Truth:
        """Return the rows of then under the columns of now (apache/iceberg#5591)."""
        return rolled_back_to(before, before.step + 1, self.step)

    def statements(self, context: StepContext) -> Statements:
        return (call_iceberg("rollback_to_snapshot", f"snapshot_id => {instant_of(self.step)}"),)

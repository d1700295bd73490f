"""`rollback`: the last write, or schema change, is taken back."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.model.undo import last_write, rolled_back
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.operations.procedures import call_hudi
from harness.scenario.statements import instant_of


@dataclass(frozen=True, slots=True)
class Rollback(Operation):
    """Take back the last write that stands, or the last schema change."""

    EXAMPLES = (Example("rollback", "takes back the last write or schema change"),)
    FAMILIES = frozenset({Family.HUDI})
    TRACE = StepTrace.UNDONE

    def text(self) -> str:
        return "roll back the last write"

    def evolve(self, before: Truth) -> Truth:
        """Return the table as it was before that; field ids are not given again."""
        return rolled_back(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        instant = instant_of(last_write(context.before))
        return (call_hudi("rollback_to_instant", f"instant_time => '{instant}'"),)

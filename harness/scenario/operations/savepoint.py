"""`savepoint`: the last write is kept, so that the table can go back to it; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.model.undo import last_write, saved
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
class Savepoint(Operation):
    """Make a savepoint of the last write, or schema change."""

    EXAMPLES = (Example("savepoint", "keeps the last write, so that the table can go back to it"),)
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    TRACE = StepTrace.SAVEPOINTS

    def text(self) -> str:
        return "make a savepoint"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything, and the table as it is now with it."""
        return saved(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.DELTA:
            return ()  # every version can be gone back to
        instant = instant_of(last_write(context.before))
        return (call_hudi("create_savepoint", f"commit_time => '{instant}'"),)

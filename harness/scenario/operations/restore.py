"""`restore`: the table goes back to its newest savepoint: rows, base files, and the schema."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.model.undo import last_write, restored
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.operations.procedures import TABLE_NAME, call_hudi
from harness.scenario.statements import Sql, instant_of


@dataclass(frozen=True, slots=True)
class Restore(Operation):
    """Take back everything since the newest savepoint."""

    EXAMPLES = (
        Example(
            "restore",
            "takes back everything since the newest savepoint, see [below](#what-is-taken-back)",
            after=("savepoint", "delete: [1]"),
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    TRACE = StepTrace.UNDONE

    def text(self) -> str:
        return "restore the savepoint"

    def evolve(self, before: Truth) -> Truth:
        """Return the table as it was at the savepoint; field ids are not given again."""
        return restored(before, before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        if context.before.saved is None:
            return ()
        instant = instant_of(last_write(context.before.saved))
        if context.kind.family is Family.HUDI:
            return (call_hudi("rollback_to_savepoint", f"instant_time => '{instant}'"),)
        return (Sql(f"restore table {TABLE_NAME} to version as of {instant}"),)

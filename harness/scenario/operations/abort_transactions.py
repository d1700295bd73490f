"""`abort_transactions`: what a killed writer left open is ended, as somebody does by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.statements import TRANSACTIONS, Sql


@dataclass(frozen=True, slots=True)
class AbortTransactions(Operation):
    """Abort the open transactions of the table, whose locks hold other writers up."""

    EXAMPLES = (
        Example(
            "abort_transactions",
            "ends what a killed writer of a transactional table left open, see "
            "[below](#what-is-taken-back)",
            after=("killed_write: [1, 5]",),
        ),
    )
    FAMILIES = frozenset({Family.HIVE_ACID})
    TRACE = StepTrace.UNDONE

    def text(self) -> str:
        return "abort the transactions that are open"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: what was not committed is still not.

        Raises:
            SchemaChangeError: no write died, so there is no such transaction.

        """
        if not before.failed:
            raise SchemaChangeError("no write was killed, so no transaction is open")
        return replace(before, step=before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        return (Sql(f"abort transactions {TRANSACTIONS}"),)

"""`abort_transactions`: what a killed writer left open is ended, as somebody does by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth


@dataclass(frozen=True, slots=True)
class AbortTransactions:
    """Abort the open transactions of the table, whose locks hold other writers up."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False

    def text(self) -> str:
        """Say it in a few words."""
        return "abort the transactions that are open"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: what was not committed is still not.

        Raises:
            SchemaChangeError: no write died, so there is no such transaction.

        """
        if not before.failed:
            raise SchemaChangeError("no write was killed, so no transaction is open")
        return replace(before, step=before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: the format has its own way."""
        return ()

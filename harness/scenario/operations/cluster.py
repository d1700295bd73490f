"""`cluster`: file groups are written anew as others, or that is only scheduled; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Strict

from harness.model.truth import Truth, compacted
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    ServiceMode,
    Statements,
    StepContext,
    StepTrace,
    TableKind,
)
from harness.scenario.operations.procedures import TABLE_ARGUMENT, TABLE_NAME
from harness.scenario.statements import Sql


@dataclass(frozen=True, slots=True)
class Cluster(Operation):
    """Write every file group of a partition into new ones, log files merged; the old are replaced.

    What is only scheduled waits, and the next `cluster` carries it out.
    """

    EXAMPLES = (
        Example(
            "cluster",
            "writes the file groups of each partition anew as others, log files "
            "merged, see [below](#services)",
        ),
        Example(
            "cluster: {only: schedule}", "plans a clustering, which the next `cluster` carries out"
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    only: Annotated[ServiceMode | None, Strict(strict=False)] = None

    def text(self) -> str:
        return "schedule a clustering" if self.only else "cluster"

    def evolve(self, before: Truth) -> Truth:
        """Let read-optimized readers see what snapshot readers see, once it is carried out."""
        if self.only:
            return replace(before, step=before.step + 1)
        return replace(compacted(before, before.step + 1), before_last=before)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.DELTA:
            # Delta documentation, "Table utility commands", "Optimize a table".
            return (Sql(f"optimize {TABLE_NAME}"),)
        # First what waits is carried out: `scheduleAndExecute` would not touch it.
        modes = (self.only.value,) if self.only else ("execute", "scheduleAndExecute")
        return tuple(
            Sql(f"call run_clustering(op => '{mode}', {TABLE_ARGUMENT})") for mode in modes
        )

    def unsupported(self, kind: TableKind) -> str:
        if self.only and kind.family is Family.DELTA:
            return "rewrites files at once: nothing can be scheduled"
        return Operation.unsupported(self, kind)

    def trace(self) -> StepTrace | None:
        return StepTrace.SCHEDULED if self.only else None

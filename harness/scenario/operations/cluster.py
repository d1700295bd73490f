"""`cluster`: file groups are written anew as others, or that is only scheduled; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import Strict

from harness.model.truth import Truth, compacted
from harness.scenario.operations.api import Only


@dataclass(frozen=True, slots=True)
class Cluster:
    """Write every file group of a partition into new ones, log files merged; the old are replaced.

    What is only scheduled waits, and the next `cluster` carries it out.
    """

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = False
    only: Annotated[Only | None, Strict(strict=False)] = None

    def text(self) -> str:
        """Say it in a few words."""
        return "schedule a clustering" if self.only else "cluster"

    def evolve(self, before: Truth) -> Truth:
        """Let read-optimized readers see what snapshot readers see, once it is carried out."""
        if self.only:
            return replace(before, step=before.step + 1)
        return replace(compacted(before, before.step + 1), before_last=before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: each format has its own way."""
        return ()

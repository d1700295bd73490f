"""`rewrite_manifests`: the lists of a table's files are written anew; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_iceberg


@dataclass(frozen=True, slots=True)
class RewriteManifests(Operation):
    """Write one manifest in the place of those that there are."""

    EXAMPLES = (Example("rewrite_manifests", "writes the lists of files anew"),)
    FAMILIES = frozenset({Family.ICEBERG})

    def text(self) -> str:
        return "rewrite the manifests"

    def statements(self, context: StepContext) -> Statements:
        return (call_iceberg("rewrite_manifests"),)

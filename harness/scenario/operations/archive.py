"""`archive`: old commits leave the table's list of commits; the rows stay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from harness.model.truth import Truth
from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_hudi

RETAINED: Final = 3
"""How many commits may be on the timeline; where there are more, one less stays."""


@dataclass(frozen=True, slots=True)
class Archive(Operation):
    """Move all but the newest commits to where no reader looks: files must be found without."""

    EXAMPLES = (
        Example("archive", "takes all commits but the newest two from the list of commits"),
    )
    FAMILIES = frozenset({Family.HUDI})

    def text(self) -> str:
        return "archive old commits"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything but the list of what was done."""
        return replace(before, step=before.step + 1, oldest=before.step)

    def statements(self, context: StepContext) -> Statements:
        retained = f"min_commits => {RETAINED - 1}, max_commits => {RETAINED}, retain_commits => 1"
        # Where there is a metadata table, that says how far it may go (`TimelineArchiver`).
        metadata = str(context.settings.get("metadata_table", "off") != "off").lower()
        return (call_hudi("archive_commits", f"enable_metadata => {metadata}", retained),)

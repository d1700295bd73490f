"""`create_tag`: the snapshot of now gets a name that stays; the rows and columns stay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.model.commit import ref_name
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
from harness.scenario.operations.procedures import ALTER_TABLE
from harness.scenario.statements import Sql


@dataclass(frozen=True, slots=True)
class CreateTag(Operation):
    """Tag the current snapshot, so that a query can name it."""

    EXAMPLES = (
        Example(
            "create_tag", "gives the current snapshot a tag, by which it is read later (view `tag`)"
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    TRACE = StepTrace.TAGS

    def text(self) -> str:
        return "create a tag"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything, and that the table of now has a name.

        Raises:
            SchemaChangeError: nothing was written, so there is no snapshot.

        """
        if not before.rows and not before.gone:
            raise SchemaChangeError("nothing is written yet that could be tagged")
        step = before.step + 1
        return replace(before, step=step, tags=(*before.tags, step))

    def statements(self, context: StepContext) -> Statements:
        return (Sql(f"{ALTER_TABLE} create tag `{ref_name(context.after.step)}`"),)

"""`create_index` and `drop_index`: what Hudi's metadata table knows of a column."""

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth
from harness.scenario.operations.api import Family, Operation, example
from harness.scenario.operations.spark_sql import quoted


@dataclass(frozen=True, slots=True)
class CreateIndex(Operation):
    """Rows and columns stay (Hudi documentation, "SQL DDL", "Create Index")."""

    EXAMPLES = example("create_index: f1", "makes a secondary index in the table's metadata table")
    TEXT = "create an index of {0.name}"
    FAMILIES = frozenset({Family.HUDI})
    SHORT = "name"
    SENT: ClassVar[str] = "create index {} on {{table}} ({})"
    name: str

    def evolve(self, before: Truth) -> Truth:
        before.schema.find(self.name)
        return replace(before, step=before.step + 1)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        by = quoted(f"by_{self.name.replace('.', '_')}")
        return (self.SENT.format(by, quoted(self.name)),)


@dataclass(frozen=True, slots=True)
class DropIndex(CreateIndex):
    EXAMPLES = example("drop_index: f1", "drops it", after=("create_index: f1",))
    TEXT = "drop the index of {0.name}"
    SENT = "drop index {} on {{table}}"

"""`add_partition_field`: new files are partitioned by one more field; old ones are not."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.partition_fields import added, parse
from harness.model.truth import Truth, with_spec
from harness.scenario.operations.api import Example, Family, Operation
from harness.scenario.operations.spark_sql import partition_field


@dataclass(frozen=True, slots=True)
class AddPartitionField(Operation):
    """Add a field to the partition spec: a column, or what a transform makes of one."""

    EXAMPLES = (
        Example(
            "add_partition_field: day(at)",
            "new files are partitioned by one more field of the partition spec: `p`, "
            "`bucket(4, p)`, `truncate(4, p)`, `year(p)`, `month(p)`, `day(p)` or "
            "`hour(p)`, see [below](#tables-of-iceberg)",
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    SHORT = "field"
    CHANGES_SCHEMA = True
    field: str

    def text(self) -> str:
        return f"add partition field {self.field}"

    def evolve(self, before: Truth) -> Truth:
        new, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, added(before.spec, new))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one `alter table` (Iceberg documentation, "Spark DDL")."""
        new = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} add partition field {new}",)

"""`drop_partition_field`: new files are no longer partitioned by a field; old ones are."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.partition_fields import dropped, parse
from harness.model.truth import Truth, with_spec
from harness.scenario.operations.api import Example, Family, Operation
from harness.scenario.operations.spark_sql import partition_field


@dataclass(frozen=True, slots=True)
class DropPartitionField(Operation):
    """Take a field out of the partition spec; its column stays."""

    EXAMPLES = (
        Example(
            "drop_partition_field: day(at)",
            "takes a field out of the partition spec",
            after=("add_partition_field: day(at)",),
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    SHORT = "field"
    CHANGES_SCHEMA = True
    field: str

    def text(self) -> str:
        return f"drop partition field {self.field}"

    def evolve(self, before: Truth) -> Truth:
        old, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, dropped(before.spec, old))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one `alter table` (Iceberg documentation, "Spark DDL")."""
        old = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} drop partition field {old}",)

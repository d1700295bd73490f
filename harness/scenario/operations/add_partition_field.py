"""`add_partition_field`: new files are partitioned by one more field; old ones are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.partition_fields import added, parse
from harness.model.truth import Truth, with_spec
from harness.scenario.operations.spark_sql import partition_field


@dataclass(frozen=True, slots=True)
class AddPartitionField:
    """Add a field to the partition spec: a column, or what a transform makes of one."""

    SHORT: ClassVar[str] = "field"
    CHANGES_SCHEMA: ClassVar[bool] = True
    field: str

    def text(self) -> str:
        """Say it in a few words."""
        return f"add partition field {self.field}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every row."""
        new, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, added(before.spec, new))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table` (Iceberg documentation, "Spark DDL")."""
        new = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} add partition field {new}",)

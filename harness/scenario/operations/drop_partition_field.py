"""`drop_partition_field`: new files are no longer partitioned by a field; old ones are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.partition_fields import dropped, parse
from harness.model.truth import Truth, with_spec
from harness.scenario.operations.spark_sql import partition_field


@dataclass(frozen=True, slots=True)
class DropPartitionField:
    """Take a field out of the partition spec; its column stays."""

    SHORT: ClassVar[str] = "field"
    CHANGES_SCHEMA: ClassVar[bool] = True
    field: str

    def text(self) -> str:
        """Say it in a few words."""
        return f"drop partition field {self.field}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every row."""
        old, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, dropped(before.spec, old))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table` (Iceberg documentation, "Spark DDL")."""
        old = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} drop partition field {old}",)

"""`replace_partition_field`: new files are partitioned by another field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.partition_fields import added, dropped, parse
from harness.model.truth import Truth, with_spec
from harness.scenario.operations.spark_sql import partition_field


@dataclass(frozen=True, slots=True)
class ReplacePartitionField:
    """Put a field in the place of another one, in one commit."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    field: str
    by: str

    def text(self) -> str:
        """Say it in a few words."""
        return f"replace partition field {self.field} by {self.by}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every row."""
        old, _ = parse(self.field, before.schema)
        new, _ = parse(self.by, before.schema)
        return with_spec(before, before.step + 1, added(dropped(before.spec, old), new))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table` (Iceberg documentation, "Spark DDL")."""
        old, new = (partition_field(*parse(text, before.schema)) for text in (self.field, self.by))
        return (f"alter table {{table}} replace partition field {old} with {new}",)

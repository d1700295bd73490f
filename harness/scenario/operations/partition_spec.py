"""Changes of Iceberg's partition spec. Source: Iceberg documentation, "Spark DDL"."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.partition_fields import added, dropped, parse
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
        new = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} add partition field {new}",)


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
        old = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} drop partition field {old}",)


@dataclass(frozen=True, slots=True)
class ReplacePartitionField(Operation):
    """Put a field in the place of another one, in one commit."""

    EXAMPLES = (
        Example(
            "replace_partition_field: {field: day(at), by: hour(at)}",
            "puts a field in the place of another one",
            after=("add_partition_field: day(at)",),
        ),
    )
    FAMILIES = frozenset({Family.ICEBERG})
    CHANGES_SCHEMA = True
    field: str
    by: str

    def text(self) -> str:
        return f"replace partition field {self.field} by {self.by}"

    def evolve(self, before: Truth) -> Truth:
        old, _ = parse(self.field, before.schema)
        new, _ = parse(self.by, before.schema)
        return with_spec(before, before.step + 1, added(dropped(before.spec, old), new))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        old, new = (partition_field(*parse(text, before.schema)) for text in (self.field, self.by))
        return (f"alter table {{table}} replace partition field {old} with {new}",)

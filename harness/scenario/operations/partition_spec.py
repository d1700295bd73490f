"""Changes of Iceberg's partition spec. Source: Iceberg documentation, "Spark DDL"."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.partition_fields import added, dropped, parse
from harness.model.truth import Truth, with_spec
from harness.scenario.operations.api import Example, Family, Operation
from harness.scenario.operations.spark_sql import partition_field


@dataclass(frozen=True, slots=True)
class PartitionFieldChange(Operation):
    """Something that is done to one field of the partition spec."""

    FAMILIES = frozenset({Family.ICEBERG})
    CHANGES_SCHEMA = True
    field: str

    def text(self) -> str:
        return f"{self._verb} partition field {self.field}"

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        field = partition_field(*parse(self.field, before.schema))
        return (f"alter table {{table}} {self._verb} partition field {field}",)

    @property
    def _verb(self) -> str:
        """What SQL calls the change, and so do we: the first word of the class's name."""
        return type(self).__name__.removesuffix("PartitionField").lower()


@dataclass(frozen=True, slots=True)
class AddPartitionField(PartitionFieldChange):
    EXAMPLES = (
        Example(
            "add_partition_field: day(at)",
            "new files are partitioned by one more field of the partition spec: `p`, "
            "`bucket(4, p)`, `truncate(4, p)`, `year(p)`, `month(p)`, `day(p)` or "
            "`hour(p)`, see [below](#tables-of-iceberg)",
        ),
    )
    SHORT = "field"

    def evolve(self, before: Truth) -> Truth:
        new, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, added(before.spec, new))


@dataclass(frozen=True, slots=True)
class DropPartitionField(PartitionFieldChange):
    EXAMPLES = (
        Example(
            "drop_partition_field: day(at)",
            "takes a field out of the partition spec",
            after=("add_partition_field: day(at)",),
        ),
    )
    SHORT = "field"

    def evolve(self, before: Truth) -> Truth:
        old, _ = parse(self.field, before.schema)
        return with_spec(before, before.step + 1, dropped(before.spec, old))


@dataclass(frozen=True, slots=True)
class ReplacePartitionField(PartitionFieldChange):
    EXAMPLES = (
        Example(
            "replace_partition_field: {field: day(at), by: hour(at)}",
            "puts a field in the place of another one",
            after=("add_partition_field: day(at)",),
        ),
    )
    by: str

    def text(self) -> str:
        return f"{PartitionFieldChange.text(self)} by {self.by}"

    def evolve(self, before: Truth) -> Truth:
        (old, _), (new, _) = (parse(text, before.schema) for text in (self.field, self.by))
        return with_spec(before, before.step + 1, added(dropped(before.spec, old), new))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        (replaced,) = PartitionFieldChange.sql(self, before, after)
        return (f"{replaced} with {partition_field(*parse(self.by, before.schema))}",)

"""`set_property`: a table is told from now on to be written otherwise; its rows stay."""

from dataclasses import dataclass

from harness.model.truth import Truth
from harness.scenario.operations.api import Example, Family, Operation
from harness.scenario.operations.spark_sql import text


@dataclass(frozen=True, slots=True)
class SetProperty(Operation):
    EXAMPLES = (
        Example(
            'set_property: {name: delta.enableDeletionVectors, value: "false"}',
            "gives a property of the table another value, from which later writes go on",
        ),
    )
    FAMILIES = frozenset({Family.DELTA, Family.ICEBERG})
    name: str
    value: str

    def text(self) -> str:
        return f"set {self.name} to {self.value}"

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (
            f"alter table {{table}} set tblproperties ({text(self.name)} = {text(self.value)})",
        )

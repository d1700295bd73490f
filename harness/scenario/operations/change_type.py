"""`change_type`: another type, the same field id."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import Example, Operation, TypeText
from harness.scenario.operations.spark_sql import quoted, type_text


@dataclass(frozen=True, slots=True)
class ChangeType(Operation):
    """Give the column at a dotted path the type `to`."""

    EXAMPLES = (
        Example(
            "change_type: {name: n, to: long}",
            "changes a type without parts; change a part by its path (`parts.n`, "
            "`m.value`, `l.element`); with `exact: false` [values need have no exact "
            "form there](#what-is-not-settled)",
        ),
    )
    CHANGES_SCHEMA = True
    name: str
    to: TypeText
    exact: bool = True
    """Whether the file is refused if a value has no exact form in the new type."""

    def text(self) -> str:
        return f"change the type of {self.name} to {self.to}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every value, shown in the new type."""
        schema = before.schema.change_type(self.name, self.to, exact=self.exact)
        return with_schema(before, before.step + 1, schema)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (
            f"alter table {{table}} alter column {quoted(self.name)} type {type_text(self.to)}",
        )

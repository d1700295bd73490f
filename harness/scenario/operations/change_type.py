"""`change_type`: another type, the same field id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import TypeText
from harness.scenario.operations.spark_sql import quoted, type_text


@dataclass(frozen=True, slots=True)
class ChangeType:
    """Give the column at a dotted path the type `to`."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    name: str
    to: TypeText
    exact: bool = True
    """Whether the file is refused if a value has no exact form in the new type."""

    def text(self) -> str:
        """Say it in a few words."""
        return f"change the type of {self.name} to {self.to}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every value, shown in the new type."""
        schema = before.schema.change_type(self.name, self.to, exact=self.exact)
        return with_schema(before, before.step + 1, schema)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table`."""
        return (
            f"alter table {{table}} alter column {quoted(self.name)} type {type_text(self.to)}",
        )

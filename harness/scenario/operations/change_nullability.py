"""`change_nullability`: whether a column may have NULL; its values stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from harness.model.truth import Truth, with_schema
from harness.scenario.operations.spark_sql import quoted


@dataclass(frozen=True, slots=True)
class ChangeNullability:
    """Let a column have NULL, or forbid it. Every column may have it when a table is created.

    No rule of the truth's follows from it: a write that breaks it is refused, and shows in what was
    applied.
    """

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    name: str
    nullable: bool

    def text(self) -> str:
        """Say it in a few words."""
        return f"{'allow' if self.nullable else 'forbid'} NULL in column {self.name}"

    def evolve(self, before: Truth) -> Truth:
        """Keep every column and value."""
        own = {before.schema.find(self.name).id}
        required = before.required - own if self.nullable else before.required | own
        return replace(with_schema(before, before.step + 1, before.schema), required=required)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table`."""
        change = "drop" if self.nullable else "set"
        return (f"alter table {{table}} alter column {quoted(self.name)} {change} not null",)

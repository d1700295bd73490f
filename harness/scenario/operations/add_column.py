"""`add_column`: a new column, at the root or in a struct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.canonical import Value
from harness.model.conversion import convert
from harness.model.datatypes import Decimal, Primitive
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import TypeText, place_of
from harness.scenario.operations.spark_sql import position, quoted, type_text, where


@dataclass(frozen=True, slots=True)
class AddColumn:
    """Add a column at the end of its siblings, `first`, or `after` one of them."""

    SHORT: ClassVar[str] = ""
    CHANGES_SCHEMA: ClassVar[bool] = True
    name: str
    type: TypeText
    first: bool = False
    after: str | None = None
    default: Value = None

    def text(self) -> str:
        """Say it in a few words."""
        default = "" if self.default is None else f" with the default {self.default}"
        return f"add column {self.name} {self.type}{where(self.first, self.after)}{default}"

    def evolve(self, before: Truth) -> Truth:
        """Return the column the next field id; rows that are there have the default, or no value.

        Source: Iceberg specification, "Default values".
        """
        place = place_of(self.first, self.after)
        schema = before.schema.add(self.name, self.type, place, self._default())
        return with_schema(before, before.step + 1, schema)

    def _default(self) -> Value:
        if self.default is None:
            return None
        if "." in self.name or not isinstance(self.type, Primitive | Decimal):
            raise SchemaChangeError("a default is for a column without parts, and for no part")
        try:
            return convert(self.default, self.type)
        except ValueError as wrong:
            raise SchemaChangeError(f"the default: {wrong}") from wrong

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:  # noqa: ARG002
        """Return one `alter table`."""
        column = f"{quoted(self.name)} {type_text(self.type)}{position(self.first, self.after)}"
        return (f"alter table {{table}} add columns ({column})",)

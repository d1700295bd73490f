"""`add_column`: a new column, at the root or in a struct."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.canonical import Value
from harness.model.conversion import convert
from harness.model.datatypes import Decimal, Primitive
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, with_schema
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    TableKind,
    TypeText,
    position_of,
)
from harness.scenario.operations.spark_sql import position, quoted, type_text, where
from harness.scenario.statements import IcebergCall


@dataclass(frozen=True, slots=True)
class AddColumn(Operation):
    """Add a column at the end of its siblings, `first`, or `after` one of them."""

    EXAMPLES = (
        Example(
            "add_column: {name: f3, type: string, after: f1}",
            "adds a column: with `after: x`, with `first: true`, or else at the end. "
            "With `default: x`, rows that are there have that value from then on; "
            "Iceberg's format version 3 only",
        ),
        Example(
            "add_column: {name: s.c, type: long, first: true}",
            "adds a part of a struct, by its dotted path",
        ),
    )
    CHANGES_SCHEMA = True
    name: str
    type: TypeText
    first: bool = False
    after: str | None = None
    default: Value = None

    def text(self) -> str:
        default = "" if self.default is None else f" with the default {self.default}"
        return f"add column {self.name} {self.type}{where(self.first, self.after)}{default}"

    def evolve(self, before: Truth) -> Truth:
        """Return the column the next field id; rows that are there have the default, or no value.

        Source: Iceberg specification, "Default values".
        """
        place = position_of(self.first, self.after)
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

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        column = f"{quoted(self.name)} {type_text(self.type)}{position(self.first, self.after)}"
        return (f"alter table {{table}} add columns ({column})",)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.ICEBERG or self.default is None:
            return None
        # Iceberg parses texts for what has no form in Java.
        moment = str(self.type).startswith("timestamp")
        default = str(self.default).replace(" ", "T") if moment else self.default
        named = {"name": self.name, "type_": str(self.type), "default": default}
        call = IcebergCall("add_column", {**named, "first": self.first, "after": self.after})
        return (call,)

    def unsupported(self, kind: TableKind) -> str:
        if self.default is not None and kind.family is not Family.ICEBERG:
            return f"has no default values of columns, which are {Family.ICEBERG}'s alone"
        return Operation.unsupported(self, kind)

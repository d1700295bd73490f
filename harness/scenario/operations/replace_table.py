"""`replace_table`: a table of other columns takes the place of the one that is there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.model.datatypes import DataType
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, replaced
from harness.scenario.operations.api import Family, Operation, TypeText, example


@dataclass(frozen=True, slots=True)
class ReplaceTable(Operation):
    """Make the table anew, without rows; its key, ordering and partition columns stay."""

    EXAMPLES = example(
        "replace_table: {columns: {id: string, ts: long, p: int, f1: int, g: string}}",
        "makes the table anew, without rows and with these columns (`create or replace table`)",
    )
    TEXT = "replace the table by one of {0._names}"
    FAMILIES = frozenset({Family.ICEBERG, Family.DELTA})
    CHANGES_SCHEMA = True
    columns: dict[str, TypeText]

    @property
    def _names(self) -> str:
        return ", ".join(self.columns)

    def typed(self) -> Mapping[str, DataType]:
        return self.columns

    def without(self, path: str) -> Operation:
        return replace(self, columns={n: t for n, t in self.columns.items() if n != path})

    def evolve(self, before: Truth) -> Truth:
        """Give each other column an id of its own, also one of a name that was there."""
        fixed, types, schema = before.table.fixed, dict(before.table.columns), before.schema
        for name in fixed:
            if self.columns.get(name) != types[name]:
                raise SchemaChangeError(f"'{name}' stays, as {types[name]}, in its role")
        for name, type_ in self.columns.items():
            if name not in fixed and schema.has(name):
                schema = schema.drop(name)
            if name not in fixed:
                schema = schema.add(name, type_)
        for name in schema.names:
            schema = schema if name in self.columns else schema.drop(name)
        table = replace(before.table, columns=tuple(self.columns.items()), options=())
        after = replaced(before, before.step + 1, lambda row: True)  # noqa: ARG005 - every one
        return replace(after, table=table, schema=schema.ordered(tuple(self.columns)), saved=None)

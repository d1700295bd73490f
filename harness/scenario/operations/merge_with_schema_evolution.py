"""`merge_with_schema_evolution`: a merge whose source has columns that the table lacks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.model.datatypes import DataType
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.operations.api import (
    Family,
    Key,
    Operation,
    Statements,
    StepContext,
    TypeText,
    example,
)
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.spark_sql import (
    columns_in_order,
    key_list,
    merge_into,
    quoted,
    select_nullable,
)
from harness.scenario.statements import of_table, under

AUTO_MERGE: Final = "spark.databricks.delta.schema.autoMerge.enabled"
"""Under it a merge adds columns; unlike the words of SQL it is there before Spark 4.0 too (Delta
documentation, "Automatic schema evolution")."""


@dataclass(frozen=True, slots=True)
class MergeWithSchemaEvolution(Operation):
    """Do what `merge` does by a source that also has `columns`, which the table gets at its end.

    Rows that are not in the source have NULL there.
    """

    EXAMPLES = example(
        "merge_with_schema_evolution: {columns: {g: string, s.c: int}, update: [1], insert: [6]}",
        "as `merge`, by a source that has columns, or parts of structs, which the table lacks: "
        "they are added to it (`merge with schema evolution into`)",
    )
    FAMILIES = frozenset({Family.ICEBERG, Family.DELTA})
    CHANGES_SCHEMA = True
    columns: dict[str, TypeText]
    update: tuple[Key, ...] = ()
    insert: tuple[Key, ...] = ()
    delete: tuple[Key, ...] = ()

    def text(self) -> str:
        return f"{self._merge.text()}, new {', '.join(self.columns)}"

    def typed(self) -> Mapping[str, DataType]:
        return self.columns

    def with_types(self, types: Mapping[str, DataType]) -> Operation:
        return replace(self, columns={**self.columns, **types})

    def without(self, path: str) -> Operation:
        left = {name: type_ for name, type_ in self.columns.items() if name != path}
        return replace(self, columns=left) if left else self._merge

    def evolve(self, before: Truth) -> Truth:
        if not self.columns:
            raise SchemaChangeError("columns: there is none; a merge without new ones is 'merge'")
        schema = before.schema
        for path, type_ in self.columns.items():
            schema = schema.add(path, type_)
        after = self._merge.evolve(replace(before, schema=schema))
        return replace(after, before_last=before)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one statement; to add columns Delta and Spark take `*` for those of the source."""
        gone = [before.rows[key] for key in before.rows if key not in after.rows]
        sent = [row for key, row in after.rows.items() if before.rows.get(key) != row]
        source = select_nullable([*sent, *gone], columns_in_order(after))
        merge, new = merge_into("{table}", source, after)
        keys = key_list(after, [row.key for row in gone])
        leave = f" when matched and {new}.{quoted(after.table.key)} in {keys} then delete"
        change = "when matched then update set * when not matched then insert *"
        return (f"{merge}{leave if gone else ''} {change}",)

    def statements(self, context: StepContext) -> Statements:
        sql = self.sql(context.before, context.after)
        if context.kind.family is Family.DELTA:
            return under(AUTO_MERGE, "true", "false", of_table(sql))
        # Iceberg has it since 1.11, on Spark 4.1 and later.
        return of_table(text.replace("merge ", "merge with schema evolution ", 1) for text in sql)

    @property
    def _merge(self) -> Merge:
        return Merge(self.update, self.insert, self.delete)

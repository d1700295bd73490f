"""`delete_where`: rows are deleted by a condition, whatever their keys are."""

from dataclasses import dataclass

from harness.engines.query_sql import predicate
from harness.model import query_shapes
from harness.model.query import Condition, Query
from harness.model.query_shapes import NoQuestionError
from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth, row_values, written
from harness.scenario.operations.api import WITH_DELETES, Operation, example


@dataclass(frozen=True, slots=True)
class DeleteWhere(Operation):
    EXAMPLES = example(
        "delete_where: p = 0",
        "deletes the rows that meet a condition, written [as in questions](#conditions)",
    )
    FAMILIES = WITH_DELETES
    SHORT = "where"
    where: str

    def text(self) -> str:
        return f"delete where {self.where}"

    def condition(self, before: Truth) -> Condition:
        try:
            (result,) = query_shapes.conditions(f"where({self.where})", before)
        except (NoQuestionError, ValueError) as wrong:
            raise SchemaChangeError(str(wrong)) from wrong
        return result

    def evolve(self, before: Truth) -> Truth:
        condition, names = self.condition(before), before.schema.names
        takes = Query(where=condition).takes
        values = {row.key: row_values(row, before.schema) for row in before.rows.values()}
        gone = [key for key, of in values.items() if takes(dict(zip(names, of, strict=True)))]
        return written(before, before.step + 1, deleted=gone)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (f"delete from {{table}} where {predicate(self.condition(before), '`')}",)

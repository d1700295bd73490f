"""Indexes in the metadata table of a Hudi table: SQL creates and drops them, or an indexer does.

Source: Hudi documentation, "SQL DDL", "Create Index"; Hudi 1.0 and later have those of SQL.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Strict

from harness.model.schema import SchemaChangeError
from harness.model.truth import Truth
from harness.scenario.operations.api import (
    Example,
    Family,
    Operation,
    Statements,
    StepContext,
    example,
)
from harness.scenario.operations.spark_sql import quoted, text
from harness.scenario.statements import TABLE_NAME, ClientCall, Sql, Statement, under

_EVOLVES: Final = "hoodie.schema.on.read.enable"
"""Under it `create index` ends with a `ClassCastException` (seen with Hudi 1.2.0)."""

_BESIDE_OTHERS: Final = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
}
"""An index is made beside other writers if need be, so there must be a lock."""


class IndexKind(StrEnum):
    """What an index holds, of a column or of an expression of it."""

    BLOOM_FILTERS = "bloom_filters"
    COLUMN_STATS = "column_stats"


@dataclass(frozen=True, slots=True)
class CreateIndex(Operation):
    EXAMPLES = (
        Example(
            "create_index: f1",
            "makes a secondary index of a column, the keys by its values; it needs the setting "
            "`index: record_level`",
        ),
        Example(
            "create_index: {column: f1, by: bloom_filters, expression: lower}",
            "makes an index of an expression: `bloom_filters` or `column_stats` of what a function "
            "of one argument makes of a column",
        ),
    )
    FAMILIES = frozenset({Family.HUDI})
    SHORT = "column"
    column: str
    by: Annotated[IndexKind | None, Strict(strict=False)] = None
    expression: str = ""

    def text(self) -> str:
        of = self.column if self.by is None else f"{self.expression} of {self.column} by {self.by}"
        return f"create an index of {of}"

    def evolve(self, before: Truth) -> Truth:
        before.schema.find(self.column)
        if (self.by is None) != (not self.expression):
            raise SchemaChangeError("'by' and 'expression' stand together or not at all")
        return replace(before, step=before.step + 1)

    def statements(self, context: StepContext) -> Statements:
        using = f" using {self.by}" if self.by else ""
        options = f" options (expr = {text(self.expression)})" if self.by else ""
        of = f"{_name(self.column)} on {TABLE_NAME}{using} ({quoted(self.column)}){options}"
        return _sent(f"create index {of}", context)


@dataclass(frozen=True, slots=True)
class DropIndex(Operation):
    EXAMPLES = example(
        "drop_index: f1",
        "drops the index that `create_index` made of a column",
        after=("create_index: f1",),
    )
    TEXT = "drop the index of {0.column}"
    FAMILIES = frozenset({Family.HUDI})
    SHORT = "column"
    column: str

    def statements(self, context: StepContext) -> Statements:
        return _sent(f"drop index {_name(self.column)} on {TABLE_NAME}", context)


def _name(column: str) -> str:
    return quoted(f"index_of_{column}")


def _sent(statement: str, context: StepContext) -> tuple[Statement, ...]:
    usual = str(context.settings.get("schema_on_read", "on") == "on").lower()
    sent = under(_EVOLVES, "false", usual, (Sql(statement),))
    if "concurrency" in context.settings:
        return sent
    set_ = (Sql(f"set {name}={value}", commits=False) for name, value in _BESIDE_OTHERS.items())
    back = (Sql(f"reset {name}", in_any_case=True, commits=False) for name in _BESIDE_OTHERS)
    return (*set_, *sent, *back)


class Indexed(StrEnum):
    """A partition of the metadata table."""

    BLOOM_FILTERS = "bloom_filters"
    COLUMN_STATS = "column_stats"
    RECORD_INDEX = "record_index"


_ENABLED: Final = {
    Indexed.BLOOM_FILTERS: "index.bloom.filter",
    Indexed.COLUMN_STATS: "index.column.stats",
    Indexed.RECORD_INDEX: "record.index",
}


@dataclass(frozen=True, slots=True)
class BuildIndex(Operation):
    EXAMPLES = example(
        "build_index: bloom_filters",
        "adds `bloom_filters`, `column_stats` or `record_index` to the metadata table, as an "
        "indexer beside the writers does (setting `concurrency`)",
    )
    TEXT = "build an index: {0.by}"
    FAMILIES = frozenset({Family.HUDI})
    SHORT = "by"
    by: Annotated[Indexed, Strict(strict=False)]

    def statements(self, context: StepContext) -> Statements:
        enabled = f"hoodie.metadata.{_ENABLED[self.by]}.enable", "true"
        return (ClientCall("index", (self.by.name,), (enabled,)),)

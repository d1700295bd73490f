"""`rewrite_data_files`: every data file is written anew, with the columns of now; the rows stay.

`compact` does it only to files of which rows are deleted. Source: Iceberg documentation, "Spark
Procedures", `rewrite_data_files`, option `rewrite-all`.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.operations.api import Example, Family, Operation, Statements, StepContext
from harness.scenario.operations.procedures import call_iceberg


@dataclass(frozen=True, slots=True)
class RewriteDataFiles(Operation):
    """Write all live data files of a partition into one, by the newest schema and spec."""

    EXAMPLES = (
        Example("rewrite_data_files", "writes every data file anew, with the columns of now"),
    )
    FAMILIES = frozenset({Family.ICEBERG})

    def text(self) -> str:
        return "rewrite the data files"

    def statements(self, context: StepContext) -> Statements:
        return (call_iceberg("rewrite_data_files", "options => map('rewrite-all', 'true')"),)

"""`killed_write`: a write whose process is killed when its files are there, before its commit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from harness.scenario.operations.api import Example, Family, Statements, StepContext
from harness.scenario.operations.failed_write import FailedWrite, validated
from harness.scenario.operations.new_rows import rows_text
from harness.scenario.statements import LOCATION, PIPE, of_table

WAITS: Final = f"select count(*) from orc.`{LOCATION}{PIPE}`#0"
"""A query that waits until somebody writes into the pipe: Spark opens an ORC file to learn its
columns, also one without length. Empty files of other kinds it leaves out."""


@dataclass(frozen=True, slots=True)
class KilledWrite(FailedWrite):
    """Write whole rows with these keys, new or replacing others; the writer dies at once."""

    EXAMPLES = (
        Example(
            "killed_write: [1, 5]",
            "writes these rows, and the writer's process is killed before the commit",
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA, Family.HIVE_ACID})

    def text(self) -> str:
        return f"write {rows_text(len(self.keys))}, killed before the commit"

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.HUDI:
            return None
        writes = of_table(self.sql(context.before, context.after))
        return validated([replace(write, killed=True) for write in writes], WAITS)

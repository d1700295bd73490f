"""`failed_write`: a write that dies when its files are there and its commit is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.model.truth import Row, Truth
from harness.model.undo import failed
from harness.scenario.operations.api import (
    Example,
    Family,
    Key,
    Operation,
    Statements,
    StepContext,
    StepTrace,
)
from harness.scenario.operations.new_rows import each_once, key_of, rows_text, some, whole
from harness.scenario.operations.spark_sql import insert_rows
from harness.scenario.statements import Statement, of_table, under

VALIDATORS: Final = "hoodie.precommit.validators"
VALIDATOR: Final = "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator"
QUERIES: Final = "hoodie.precommit.validators.single.value.sql.queries"
NEVER_SO: Final = "select count(*) from <TABLE_NAME>#-1"
"""A validator runs when all files are written and nothing is committed, and fails the write where
its query has another result (Hudi documentation, "Data Quality", "Pre-Commit Validators"). What a
writer leaves that was killed there is the same: an inflight instant with its files."""


@dataclass(frozen=True, slots=True)
class FailedWrite(Operation):
    """Write whole rows with these keys, new or replacing others, and fail before the commit."""

    EXAMPLES = (Example("failed_write: [1, 5]", "writes these rows and fails before the commit"),)
    FAMILIES = frozenset({Family.HUDI, Family.HIVE_ACID})
    TRACE = StepTrace.BEGUN
    SHORT = "keys"
    keys: tuple[Key, ...]

    def text(self) -> str:
        return f"write {rows_text(len(self.keys))}, fail before the commit"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: no reader may show what was not committed."""
        return failed(before, before.step + 1, self._versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says how it fails."""
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        keys = [key_of(before, key) for key in some(self.keys, "failed_write")]
        each_once(keys)
        return whole(before, keys)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is not Family.HUDI:
            return None
        return validated(of_table(self.sql(context.before, context.after)), NEVER_SO)


def validated(writes: Sequence[Statement], query: str) -> tuple[Statement, ...]:
    """Return writes to a table of Hudi that a validator checks before their commit."""
    checked = under(QUERIES, query, "", writes)
    return under(VALIDATORS, VALIDATOR, "", checked)

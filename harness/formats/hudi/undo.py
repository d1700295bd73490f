"""Undo in Hudi: how a savepoint, a restore and a rollback are told, and what they leave behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.formats.hudi.services import TABLE_ARGUMENT
from harness.model import undo
from harness.model.truth import Truth
from harness.scenario.operations.api import Operation
from harness.scenario.operations.failed_write import FailedWrite
from harness.scenario.operations.killed_write import KilledWrite
from harness.scenario.operations.restore import Restore
from harness.scenario.operations.rollback import Rollback
from harness.scenario.operations.savepoint import Savepoint
from harness.scenario.statements import (
    LOCATION,
    PIPE,
    Sql,
    Statement,
    instant_of,
    of_table,
    under,
)

UNDO: Final = (Savepoint, Restore, Rollback, FailedWrite)
VALIDATORS: Final = "hoodie.precommit.validators"
VALIDATOR: Final = "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator"
QUERIES: Final = "hoodie.precommit.validators.single.value.sql.queries"
NEVER_SO: Final = "select count(*) from <TABLE_NAME>#-1"
"""A validator runs when all files are written and nothing is committed, and fails the write where
its query has another result (Hudi documentation, "Data Quality", "Pre-Commit Validators"). What a
writer leaves that was killed there is the same: an inflight instant with its files."""
WAITS: Final = f"select count(*) from orc.`{LOCATION}{PIPE}`#0"
"""A query that waits until somebody writes into the pipe: Spark opens an ORC file to learn its
columns, also one without length. Empty files of other kinds it leaves out."""


NOT_BEGUN: Final = "no write was begun that is not completed"


def wording(operation: Operation, before: Truth, after: Truth) -> tuple[Statement, ...]:
    """Return the call of a procedure, with the instant that it is about; or a write that fails.

    Source: Hudi documentation, "SQL Procedures": `create_savepoint`, `rollback_to_savepoint`,
    `rollback_to_instant`.
    """
    if isinstance(operation, FailedWrite):
        killed = isinstance(operation, KilledWrite)
        writes = of_table(operation.sql(before, after))
        writes = tuple(replace(each, killed=killed) for each in writes)
        said = under(QUERIES, WAITS if killed else NEVER_SO, "", writes)
        return under(VALIDATORS, VALIDATOR, "", said)
    if isinstance(operation, Savepoint):
        return (_call("create_savepoint", "commit_time", undo.last_write(before)),)
    if isinstance(operation, Restore) and before.saved:
        step = undo.last_write(before.saved)
        return (_call("rollback_to_savepoint", "instant_time", step),)
    return (_call("rollback_to_instant", "instant_time", undo.last_write(before)),)


def _call(procedure: str, argument: str, step: int) -> Statement:
    return Sql(f"call {procedure}({TABLE_ARGUMENT}, {argument} => '{instant_of(step)}')")


def missing_effect(operation: Operation) -> str:
    """Return what is not on the timeline after one of these that left no trace."""
    if isinstance(operation, FailedWrite):
        return NOT_BEGUN
    if isinstance(operation, Savepoint):
        return "no new savepoint is on the timeline"
    return f"no new {'restore' if isinstance(operation, Restore) else 'rollback'} is completed"

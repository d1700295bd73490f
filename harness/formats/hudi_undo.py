"""Undo in Hudi: how a savepoint, a restore and a rollback are told, and what they leave behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from harness.formats import timeline
from harness.formats.statements import DATABASE, Sql, Statement, instant_of
from harness.model import undo
from harness.model.identifiers import TABLE
from harness.model.truth import Truth
from harness.scenario.operations.api import Operation
from harness.scenario.operations.restore import Restore
from harness.scenario.operations.rollback import Rollback
from harness.scenario.operations.savepoint import Savepoint

UNDO: Final = (Savepoint, Restore, Rollback)


def wording(operation: Operation, before: Truth) -> tuple[Statement, ...]:
    """Return the call of a procedure, with the instant that it is about.

    Source: Hudi documentation, "SQL Procedures": `create_savepoint`, `rollback_to_savepoint`,
    `rollback_to_instant`.
    """
    if isinstance(operation, Savepoint):
        return (_call("create_savepoint", "commit_time", undo.last_write(before)),)
    if isinstance(operation, Restore) and before.saved:
        step = undo.last_write(before.saved)
        return (_call("rollback_to_savepoint", "instant_time", step),)
    return (_call("rollback_to_instant", "instant_time", undo.last_write(before)),)


def _call(procedure: str, argument: str, step: int) -> Statement:
    table = f"table => '{DATABASE}.{TABLE}'"
    return Sql(f"call {procedure}({table}, {argument} => '{instant_of(step)}')")


def savepoints(names: Iterable[str]) -> tuple[str, ...]:
    """Return the instants of the completed savepoints, by the names on a timeline."""
    return _requested(names, timeline.SAVEPOINT)


def undone(names: Iterable[str]) -> tuple[str, ...]:
    """Return the instants of the completed restores and rollbacks, by the names on a timeline."""
    return _requested(names, timeline.UNDO)


def _requested(names: Iterable[str], actions: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each.requested for each in timeline.of_actions(names, actions))


def left_undone(operation: Operation) -> str:
    """Return what is not on the timeline after one of these that left no trace."""
    if isinstance(operation, Savepoint):
        return "no new savepoint is on the timeline"
    return f"no new {'restore' if isinstance(operation, Restore) else 'rollback'} is completed"

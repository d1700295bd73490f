"""What became of a step that was answered with an error: the table's own records say it. Pure.

That a statement raised says nothing of its commit. What follows a commit may fail (the catalog is
told, old files are cleaned away), and the rows are there all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import filterfalse

from harness.core.records import OutcomeKind, Refusal
from harness.formats.api import Committed
from harness.model.identifiers import TABLE
from harness.model.simulation.column_resolution import META
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.operations.api import StepTrace
from harness.scenario.statements import Statement


@dataclass(frozen=True, slots=True)
class TableRecords:
    """What a table's own records and the catalog say at one moment."""

    committed: Committed = field(default_factory=Committed)
    entries: tuple[CatalogEntry, ...] = ()
    unclear: str = ""
    """Why the records do not tell; empty where they do."""
    trace: StepTrace | None = None
    """The one field of `committed` that tells of the step; empty for those of writes and schema."""

    @property
    def done(self) -> object:
        """What tells that the step was done: equal before and after what did nothing."""
        return getattr(self.committed, self.trace) if self.trace else self.committed

    @property
    def columns(self) -> Sequence[object]:
        """The columns by the catalog."""
        return [(entry.name, entry.columns) for entry in self.entries if entry.name == TABLE]

    def behind(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the catalog entries that list other columns; of Hudi's own ones nothing is said.

        `columns`: in lower case and in order. Types are not compared: a metastore has fewer.
        """
        listed = {entry.name: [name.lower() for name, _ in entry.columns] for entry in self.entries}
        names = tuple(columns)
        return tuple(e for e, all_ in listed.items() if names != tuple(filterfalse(_is_meta, all_)))


@dataclass(frozen=True, slots=True)
class Raised:
    """A statement that was answered with an error."""

    refusal: Refusal
    statement: Statement
    later: tuple[Statement, ...]
    """Those of the step that were not sent."""
    before: TableRecords
    """The records before the statement."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What became of a step."""

    kind: OutcomeKind
    because: str = ""
    """Why it is not known."""


APPLIED = StepResult(OutcomeKind.APPLIED)
REFUSED = StepResult(OutcomeKind.REFUSED)


def result_of_error(
    raised: Raised, before: TableRecords, after: TableRecords, *, schema: bool = False
) -> StepResult:
    """Return what became of a step after the creation.

    Args:
        raised: its statement that was answered with an error.
        before: the records before the step.
        after: those after it.
        schema: whether it changes the schema, which the catalog is told as well.

    """
    if why := before.unclear or raised.before.unclear or after.unclear:
        return unknown(why)
    earlier = raised.before.done != before.done
    changed = after.done != raised.before.done
    if not (earlier or changed):
        same = after.columns == before.columns
        why = "the catalog has other columns since, and the table's own records have no such change"
        return REFUSED if same else unknown(why)
    if any(statement.commits for statement in raised.later) or (
        raised.statement.commits and not changed
    ):
        return unknown("a part of its statements was committed")
    if schema and after.columns == before.columns:
        return unknown("the table's own records have other columns since, and the catalog has not")
    return APPLIED


def result_of_sync(after: TableRecords, columns: Sequence[str]) -> StepResult:
    """Return what became of telling the catalog a table's columns: whether all entries list them.

    It changes nothing else, so one that was answered with an error may be done again.
    """
    return REFUSED if after.behind(columns) else APPLIED


def result_of_failed_write(
    refusal: Refusal | None, result: StepResult, made: Sequence[str]
) -> tuple[Refusal | None, StepResult]:
    """Return the refusal and what became of a write that was meant to fail: its error is no news.

    `made`: the instants that were completed.
    """
    if made:
        return None, unknown("the write was meant to fail, and was committed")
    return (None if result == APPLIED else refusal), result


def result_of_creation(after: TableRecords, wrong: str) -> StepResult:
    """Return what became of the creation of a table: without a catalog entry there is none.

    `wrong`: how what is there is not what was asked for; empty where it is.
    """
    if not any(entry.name == TABLE for entry in after.entries):
        return REFUSED
    return unknown(f"the catalog has the table, and {wrong}") if wrong else APPLIED


def _is_meta(name: str) -> bool:
    return name in META


def unknown(why: str) -> StepResult:
    """Return that nothing is known of the table."""
    return StepResult(OutcomeKind.UNKNOWN, why)

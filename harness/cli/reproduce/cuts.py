"""What can be taken away from a scenario, one thing at a time. Pure.

A cut means the same on every candidate of one search, so several that are harmless each alone can
be tried together. What a cut gives may be no valid scenario: whoever makes it has to look.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.column_cuts import ColumnCut, column_cuts
from harness.cli.reproduce.undo_rename import not_renamed
from harness.model.canonical import text_of
from harness.scenario.operations.api import Operation
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.rename_column import RenameColumn
from harness.scenario.operations.touch import Rewrites, Touch

KEYED = ("keys", "update", "insert", "delete")
"""The fields of operations that name rows by their keys."""


@dataclass(frozen=True, slots=True)
class StepCut:
    """A step is left out."""

    number: int

    def apply(self, candidate: Candidate) -> Candidate | None:
        """Return the candidate without it; None for the step that is looked at.

        A column that the step renamed keeps the name it had, in later steps too.
        """
        steps = candidate.numbered
        at = candidate.numbers.index(self.number) if self.number in candidate.numbers else None
        if at is None:
            return candidate
        gone, later = steps[at][1], steps[at + 1 :]
        if isinstance(gone, RenameColumn):
            later = list(not_renamed(later, gone))
        return candidate.having([*steps[:at], *later])


@dataclass(frozen=True, slots=True)
class RowCut:
    """A row is written by no step, or by one step less."""

    key: str
    number: int = 0
    """The only step that it is taken from; 0 for all of them."""

    def apply(self, candidate: Candidate) -> Candidate | None:
        """Return the candidate without it; a step that names no row any more goes."""
        name = candidate.scenario.table.key
        found = []
        for number, operation in candidate.numbered:
            here = self.number in {0, number}
            left = without_row(operation, self.key, name) if here else operation
            if left is not None:
                found.append((number, left))
        return candidate.having(found)


@dataclass(frozen=True, slots=True)
class TouchCut:
    """A touch adds its row, and rewrites nothing."""

    number: int

    def apply(self, candidate: Candidate) -> Candidate | None:
        """Return the candidate with that."""
        less = Touch(Rewrites.NONE)
        steps = candidate.numbered
        return candidate.having([(at, less if at == self.number else step) for at, step in steps])


@dataclass(frozen=True, slots=True)
class SettingCut:
    """A setting of the table is left as the writer has it."""

    name: str

    def apply(self, candidate: Candidate) -> Candidate | None:
        """Return the candidate without it."""
        left = {name: value for name, value in candidate.settings.items() if name != self.name}
        return replace(candidate, settings=left)


Cut = StepCut | RowCut | TouchCut | SettingCut | ColumnCut


def cuts(candidate: Candidate) -> Iterator[Cut]:
    """Yield all that can be taken away: steps, columns, rows, the rest; the last ones first."""
    steps = candidate.numbered
    yield from (StepCut(number) for number, _ in reversed(steps[:-1]))
    yield from column_cuts(candidate)
    key = candidate.scenario.table.key
    every = dict.fromkeys(row for _, operation in steps for row in rows_of(operation, key))
    yield from map(RowCut, reversed(every))
    for number, operation in steps:
        if isinstance(operation, Touch) and operation.rewrites not in {None, Rewrites.NONE}:
            yield TouchCut(number)
        elif not isinstance(operation, Insert):
            yield from (RowCut(row, number) for row in rows_of(operation, key))
    yield from map(SettingCut, candidate.settings)


def rows_of(operation: Operation, key: str) -> Iterator[str]:
    """Yield the keys of the rows that an operation names, as texts."""
    for name in KEYED:
        yield from map(text_of, getattr(operation, name, ()))
    yield from (text_of(row[key]) for row in getattr(operation, "rows", ()))


def without_row(operation: Operation, row: str, key: str) -> Operation | None:
    """Return an operation that does not name a row; None when it names no other."""
    if row not in rows_of(operation, key):
        return operation
    names = {field.name for field in fields(operation)}  # type: ignore[arg-type] # a dataclass
    left: dict[str, object] = {
        name: tuple(each for each in getattr(operation, name) if text_of(each) != row)
        for name in names & set(KEYED)
    }
    if "rows" in names:
        given = getattr(operation, "rows", ())
        left["rows"] = tuple(each for each in given if text_of(each[key]) != row)
    return replace(operation, **left) if any(left.values()) else None  # type: ignore[type-var]

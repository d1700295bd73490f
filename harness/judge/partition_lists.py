"""What a reader shows that goes by the list of columns which the catalog keeps of each partition.

Such a reader shows what the list gives, whatever the files hold (`core.catalog_readers`): that an
answer shows it is the doing of who left the list so. Where it was not recorded, and only follows
from the steps, it is one of two explanations, and nobody is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count

from harness.core.records import Responsible
from harness.judge import compare
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import Unpredicted, Value, same, text_of
from harness.model.query import Query, at
from harness.model.simulation.catalog import Lists
from harness.model.truth import Row


@dataclass(frozen=True)  # no slots: what is derived is kept
class PartitionLists:
    """The lists beside the rows of a view, and the question."""

    state: ExpectedState
    """Of the view, whatever rows of it are asked for."""
    query: Query
    lists: Lists | None
    """None where they are not known."""

    def responsible(self, difference: Difference) -> Responsible | None:
        """Return who is responsible for what would be the reader's if there were no lists."""
        if self.lists is None:
            lost = difference.actual is None or difference.kind is not DifferenceKind.CELL
            changed = len({truth.schema for truth in self.state.history}) > 1
            return None if lost and changed else Responsible.READER
        match self._gives(difference):
            case None:
                return None
            case True:
                return Responsible.COLUMNS if self.lists.recorded else None
        return Responsible.READER

    def _gives(self, difference: Difference) -> bool | None:
        """Return whether the lists give a wrong answer; None where it is not known what they do."""
        if difference.kind is DifferenceKind.CELL:
            return self._gives_value(difference)
        conditions = self.query.conditions
        if any(_unpredicted(row, c.path) for row in self._rows.values() for c in conditions):
            return None
        taken = {key for key, row in self._rows.items() if self.query.takes(row)}
        match difference.kind:
            case DifferenceKind.ABSENT_ROW if not self.query.limit:
                return difference.key in self._rows and difference.key not in taken
            case DifferenceKind.EXTRA_ROW:
                return difference.key in taken
            case DifferenceKind.COUNT | DifferenceKind.EXTREME:
                if any(
                    _unpredicted(self._rows[key], p) for key in taken for p in self.query.columns
                ):
                    return None
                rows = [tuple(self._rows[key].values()) for key in taken]
                return same(
                    self.query.answer(self.state.schema.names, rows)[0][0], difference.actual
                )
        return False

    def _gives_value(self, difference: Difference) -> bool | None:
        name = difference.column.partition(".")[0].partition("[")[0]
        row = self.state.keys.get(difference.key)
        if row is None or not self.state.schema.has(name):
            return False
        expected, given = self.state.shown(row)[name], self._rows[difference.key][name]
        if isinstance(given, Unpredicted):
            return None
        field = self.state.schema.find(name)
        whole = Difference(DifferenceKind.CELL, difference.key, name, expected, given, field)
        return any(
            other.location == difference.location and same(other.actual, difference.actual)
            for other in compare.parts_of(self.state, whole, field)
        )

    @cached_property
    def _rows(self) -> Mapping[str, Mapping[str, Value]]:
        """The rows as the lists give them: the values of the columns, by the text of the key."""
        return {text_of(row.key): self._given(row) for row in self.state.rows.values()}

    def _given(self, row: Row) -> Mapping[str, Value]:
        shown, lists = self.state.shown(row), self.lists
        if lists is None or row.group[1] not in lists.partitions:
            return shown
        by, places = self.state.history[-1].table.partition_by, count()
        return {
            name: value if name in by else lists.shown(value, next(places), row)
            for name, value in shown.items()
        }


def _unpredicted(row: Mapping[str, Value], path: str) -> bool:
    return isinstance(at(row, path), Unpredicted)

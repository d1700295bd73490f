"""Readers that use the list of columns which the catalog keeps for each partition.

Such a reader shows what the list gives, whatever the files hold (`core.catalog_readers`). An answer
that shows just that is the fault of whoever left the list out of date. Where the list was not
recorded and only follows from the steps, that is one of two explanations, and nobody is named.
"""

from collections.abc import Iterable, Mapping, Sequence
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


@dataclass(frozen=True)  # no slots, for cached_property
class PartitionLists:
    """The lists of a table, for one question about one of its views."""

    state: ExpectedState
    """The expected state of the whole view, not only of the rows that are asked for."""
    query: Query
    lists: Lists | None
    """None where they are not known."""

    def responsible(self, difference: Difference) -> Responsible | None:
        """Return who is responsible for a difference that is the reader's if there are none."""
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
        """Return whether the lists give the wrong answer; None where that cannot be predicted."""
        if difference.kind is DifferenceKind.CELL:
            return self._gives_value(difference)
        if not self._predicted(self._rows, [condition.path for condition in self.query.conditions]):
            return None
        taken = {key for key, row in self._rows.items() if self.query.takes(row)}
        match difference.kind:
            case DifferenceKind.ABSENT_ROW if not self.query.limit:
                return difference.key in self._rows and difference.key not in taken
            case DifferenceKind.EXTRA_ROW:
                return difference.key in taken
            case DifferenceKind.COUNT | DifferenceKind.EXTREME:
                if not self._predicted(taken, self.query.columns):
                    return None
                rows = [tuple(self._rows[key].values()) for key in taken]
                (number,), *_ = self.query.answer(self.state.schema.names, rows)
                return same(number, difference.actual)
        return False

    def _predicted(self, keys: Iterable[str], paths: Sequence[str]) -> bool:
        return not any(
            isinstance(at(self._rows[key], path), Unpredicted) for key in keys for path in paths
        )

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
        """The rows as the lists give them, by the text of the key."""
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

"""Whether the files of a view hold its truth; if not, whether what was sent settles it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.judge.file_contents import FileDifference, Holdings, ViewContent
from harness.model.canonical import Value, same, text_of
from harness.model.file_facts import FileFact
from harness.model.truth import row_values

LOST: Final = "it was written, and no file holds it"
EXTRA: Final = "it was deleted or never written, and a file holds it"
EARLIER: Final = "it was written since, and its file says that it was committed before"
LATER: Final = "it was written before, and its file says that it was committed since"


@dataclass(frozen=True, slots=True)
class Odd:
    """Something that files hold, and that was not written so."""

    key: str
    text: str
    file: FileFact | None = None
    """None where it is no value in one file."""


@dataclass(frozen=True)  # no slots: what is derived is kept
class FileAgreement:
    """The truth of a view beside what its files hold."""

    state: ExpectedState
    content: ViewContent
    holdings: Holdings

    @cached_property
    def equal(self) -> bool:
        """Whether files hold the truth."""
        there = {text_of(row.key): row for row in self.content.rows.values()}
        if len(self.content.rows) != len(there) or there.keys() != self.state.keys.keys():
            return False
        schema = self.state.schema
        return all(
            same(row_values(row, schema), row_values(there[key], schema))
            for key, row in self.state.keys.items()
        )

    @property
    def discrepancies(self) -> tuple[Odd, ...]:
        """What the files hold and was not written so, for people."""
        there, older = self._there, self.content.older
        lost = [Odd(key, EARLIER if key in older else LOST) for key in self.state.keys]
        before = {text_of(key) for key in self.state.left_out}
        extra = sorted(there - self.state.keys.keys())
        return (
            *(
                Odd(difference.key, _text(difference), difference.file)
                for difference in self.content.differences
            ),
            *self._by_folder(),
            *(odd for odd in lost if odd.key not in there),
            *(Odd(key, LATER if key in before else EXTRA) for key in extra),
            *(Odd(key, "it is there more than once") for key in sorted(self.content.twice)),
        )

    def _by_folder(self) -> Iterator[Odd]:
        """Yield the partition values that files hold and the names of their folders do not."""
        rows, named = self.content.rows, self.content.by_folder or {}
        for at, row in rows.items():
            for field in self.state.schema.fields:
                in_file, in_name = row.values.get(field.id), named.get(at, row).values.get(field.id)
                if not same(in_file, in_name):
                    in_folder = f"the folder's name says {_shown(in_name)}"
                    text = f"{in_folder}; the file holds {_shown(in_file)}"
                    yield Odd(text_of(row.key), f"of {field.name} {text}")

    def sent(self, difference: Difference) -> bool:
        """Return whether no rule of the model can be at fault for what files hold at a place."""
        match difference.kind:
            case DifferenceKind.ABSENT_ROW:
                return self._row(difference.key)
            case DifferenceKind.EXTRA_ROW if difference.key in self.state.keys:
                return self._cell(difference.key)  # a condition holds for what its file holds
            case DifferenceKind.EXTRA_ROW:
                return self.holdings.gone_sent(difference.key, self.state.step)
            case DifferenceKind.CELL if difference.field:
                return self._cell(difference.key, self.state.root_of(difference.field.id))
            case DifferenceKind.COUNT:
                return self._rows()
        return False

    def by_path(self, difference: Difference) -> bool:
        """Return whether all that files hold otherwise at a place stands in folders' names alone.

        These are read by nobody otherwise: an engine that shows what was written has lost the row.
        """
        field_id = self.state.root_of(difference.field.id) if difference.field else None
        result = [
            file_difference.in_path
            for file_difference in self.content.differences
            if difference.key in {"", file_difference.key}
            and field_id in {None, file_difference.field_id}
        ]
        return bool(result) and all(result)

    def named_otherwise(self, difference: Difference) -> bool:
        """Return whether the folder's name gives a cell's row another value than was written."""
        if difference.field is None:
            return self.by_path(difference) and self.sent(difference)
        named = self.content.by_folder
        rows = (
            row
            for row in (named or self.content.rows).values()
            if text_of(row.key) == difference.key
        )
        differs = any(
            not same(row.values.get(difference.field.id), difference.expected) for row in rows
        )
        # Where the file says the same as the name, the mistake is in what was written.
        return differs and (named is not None or self.sent(difference))

    def _cell(self, key: str, field_id: int | None = None) -> bool:
        result = [
            difference.sent
            for difference in self.content.differences
            if difference.key == key and field_id in {None, difference.field_id}
        ]
        row, newest = self.state.keys.get(key), self.content.newest.get(key)
        if result or field_id is None or row is None or newest is None:
            return bool(result) and all(result)
        return self.holdings.value_sent(row, field_id, newest)

    def _row(self, key: str) -> bool:
        """Return whether what was sent proves that a row has to be there.

        That a write of a row is its newest commit is a rule of the model. So where a file has taken
        the write in, and says that the row was committed earlier, values alone tell.
        """
        row = self.state.keys[key]
        taken_in = self.content.newest.get(key, -1) >= max(row.written.values(), default=0)
        if key in self._there or (key in self.content.older and taken_in):
            return self._cell(key)
        return self.holdings.row_sent(row, self.state.step)

    @cached_property
    def _there(self) -> frozenset[str]:
        return frozenset(text_of(row.key) for row in self.content.rows.values())

    def _rows(self) -> bool:
        there = self._there
        lost = [key for key in self.state.keys if key not in there]
        extra = there - self.state.keys.keys()
        gone = (self.holdings.gone_sent(key, self.state.step) for key in extra)
        if lost or extra:
            return all(gone) and all(map(self._row, lost))
        # A condition holds for other rows, as their values are others.
        return bool(self.content.differences) and all(
            difference.sent for difference in self.content.differences
        )


def _text(result: FileDifference) -> str:
    where = "the folder's name says" if result.in_path else "stands"
    shown = f"under {result.column} {where} {_shown(result.actual)}"
    return f"{shown}; written was {_shown(result.expected)}"


def _shown(value: Value) -> str:
    return repr(value) if isinstance(value, str) else text_of(value)

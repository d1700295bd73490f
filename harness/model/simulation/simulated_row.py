"""A row of a simulated reader."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact
from harness.model.schema import Schema
from harness.model.truth import Row, completed


@dataclass(frozen=True, slots=True)
class SimulatedRow:
    """A row as a reader shows it."""

    row: Row
    """The version of it that the file holds; Hudi's meta columns as well, where they are known."""
    values: tuple[Value, ...]
    file: FileFact
    """What it is read from."""

    @property
    def key(self) -> str:
        """The text of its key."""
        return text_of(self.row.key)

    def completed(self, older: SimulatedRow, schema: Schema) -> SimulatedRow:
        """Return it with the values of an older version where it has NULL."""
        pairs = zip(self.values, older.values, strict=True)
        values = tuple(mine if mine is not None else other for mine, other in pairs)
        return SimulatedRow(completed(self.row, older.row, schema), values, self.file)

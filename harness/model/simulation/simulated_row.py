"""A row of a simulated reader."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.canonical import Value, text_of
from harness.model.file_facts import FileFact
from harness.model.truth import Row


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

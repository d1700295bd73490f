"""`killed_write`: a write whose process is killed when its files are there, before its commit."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.operations.failed_write import FailedWrite
from harness.scenario.operations.new_rows import rows_text


@dataclass(frozen=True, slots=True)
class KilledWrite(FailedWrite):
    """Write whole rows with these keys, new or replacing others; the writer dies at once."""

    def text(self) -> str:
        """Say it in a few words."""
        return f"write {rows_text(len(self.keys))}, killed before the commit"

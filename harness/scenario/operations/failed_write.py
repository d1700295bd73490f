"""`failed_write`: a write that dies when its files are there and its commit is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.model.truth import Row, Truth
from harness.model.undo import failed
from harness.scenario.operations.api import Key
from harness.scenario.operations.new_rows import each_once, key_of, rows_text, some, whole
from harness.scenario.operations.spark_sql import insert_rows


@dataclass(frozen=True, slots=True)
class FailedWrite:
    """Write whole rows with these keys, new or replacing others, and fail before the commit."""

    SHORT: ClassVar[str] = "keys"
    CHANGES_SCHEMA: ClassVar[bool] = False
    keys: tuple[Key, ...]

    def text(self) -> str:
        """Say it in a few words."""
        return f"write {rows_text(len(self.keys))}, fail before the commit"

    def evolve(self, before: Truth) -> Truth:
        """Keep everything: no reader may show what was not committed."""
        return failed(before, before.step + 1, self._versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says how it fails."""
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        keys = [key_of(before, key) for key in some(self.keys, "failed_write")]
        each_once(keys)
        return whole(before, keys)

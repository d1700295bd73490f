"""`touch`: a write by the axis `rewrites`: which file groups get a new version."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Strict

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Group, Row, Truth, written
from harness.operations.rows import whole
from harness.operations.sql import insert_rows


class Rewrites(StrEnum):
    """Which file groups a touch rewrites; a new key is written in any case."""

    NONE = "none"
    SOME = "some"
    """One key of every second file group."""
    ALL = "all"
    """One key of every file group."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Write one new key, and one key of the file groups that the axis names."""

    SHORT: ClassVar[str] = "rewrites"
    CHANGES_SCHEMA: ClassVar[bool] = False
    rewrites: Annotated[Rewrites | None, Strict(strict=False)] = None
    """As the axis of the variant says; a scenario file may fix it for one step."""

    def text(self) -> str:
        """Say it in a few words."""
        return f"touch, rewrites {self._chosen()}"

    def evolve(self, before: Truth) -> Truth:
        """Add the new row and replace the chosen ones."""
        return written(before, before.step + 1, self._versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Give one insert statement; the format says that it replaces rows of the same key."""
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        new = next_key(before)
        if new in before.rows:
            raise SchemaChangeError(f"a touch adds the key {new}, and there is such a row already")
        return whole(before, (*self.touched(before), new))

    def touched(self, before: Truth) -> tuple[Value, ...]:
        """Give the keys that are written again: the first of each chosen file group."""
        firsts: dict[Group, Value] = {}
        for row in before.rows.values():
            firsts.setdefault(row.group, row.key)
        step = {Rewrites.NONE: 0, Rewrites.SOME: 2, Rewrites.ALL: 1}[self._chosen()]
        keys = [firsts[group] for group in sorted(firsts, key=lambda each: (each[0], str(each)))]
        return tuple(keys[::step]) if step else ()

    def _chosen(self) -> Rewrites:
        return self.rewrites or Rewrites.NONE


def next_key(truth: Truth) -> Value:
    """Give the key of the row that a touch as the next step adds."""
    return truth.generation.touch_keys[truth.step + 1]

"""`touch`: a write by the axis `rewrites`: which file groups get a new version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Strict

from harness.model.canonical import Value
from harness.model.schema import SchemaChangeError
from harness.model.truth import Group, Row, Truth, new_row, written
from harness.scenario.operations.api import Example, Operation
from harness.scenario.operations.new_rows import whole
from harness.scenario.operations.spark_sql import insert_rows


class Rewrites(StrEnum):
    """Which file groups a touch rewrites; a new key is written in any case."""

    NONE = "none"
    SOME = "some"
    """One key of every second file group."""
    ALL = "all"
    """One key of every file group."""
    PARTITION = "partition"
    """One key of every file group of one partition, where the new row goes too; the other
    partitions stay as they are. Without partitions the same as `all`."""


_EVERY: Final = {Rewrites.SOME: 2, Rewrites.ALL: 1, Rewrites.PARTITION: 1}
"""Of the file groups that may be rewritten, every how many-th is."""


@dataclass(frozen=True, slots=True)
class Touch(Operation):
    """Write one new key, and one key of the file groups that the axis names."""

    EXAMPLES = (
        Example("touch", "writes as the axis `rewrites` says, see below"),
        Example("touch: none", "adds the new row alone, whatever the axis says"),
        Example("touch: all", "sets the value of the axis for one step"),
    )
    SHORT = "rewrites"
    rewrites: Annotated[Rewrites | None, Strict(strict=False)] = None
    """As the axis of the variant says; a scenario file may fix it for one step."""

    def text(self) -> str:
        return f"touch, rewrites {self._chosen()}"

    def evolve(self, before: Truth) -> Truth:
        """Add the new row and replace the chosen ones."""
        return written(before, before.step + 1, self._versions(before))

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        """Return one insert statement; the format says that it replaces rows of the same key."""
        return (insert_rows(after, self._versions(before)),)

    def _versions(self, before: Truth) -> tuple[Row, ...]:
        new = next_key(before)
        if new in before.rows:
            raise SchemaChangeError(f"a touch adds the key {new}, and there is such a row already")
        given = self._partition(before) or {}
        added = new_row(before, new, before.step + 1, given)
        return (*whole(before, self.touched(before)), added)

    def touched(self, before: Truth) -> tuple[Value, ...]:
        """Return the keys that are written again: the first of each chosen file group."""
        firsts: dict[Group, Value] = {}
        only = self._partition(before)
        for row in before.rows.values():
            if only is None or row.group[1] == tuple(only.values()):
                firsts.setdefault(row.group, row.key)
        keys = [firsts[group] for group in sorted(firsts, key=lambda group: (group[0], str(group)))]
        return tuple(keys[:: _EVERY[self._chosen()]]) if self._chosen() in _EVERY else ()

    def _partition(self, before: Truth) -> Mapping[str, Value] | None:
        """Return the one partition that is written, that of the first row; None for every one."""
        first = next(iter(before.rows.values()), None)
        if self._chosen() is not Rewrites.PARTITION or first is None:
            return None
        return dict(zip(before.table.partition_by, first.group[1], strict=True))

    def _chosen(self) -> Rewrites:
        return self.rewrites or Rewrites.NONE


def next_key(truth: Truth) -> Value:
    """Return the key of the row that a touch as the next step adds."""
    return truth.generation.touch_keys[truth.step + 1]

"""What a table is, apart from its rows: columns, key, ordering column, partition columns."""

from __future__ import annotations

from dataclasses import dataclass

from harness.model.datatypes import DataType


@dataclass(frozen=True, slots=True)
class Table:
    """The definition a scenario begins with."""

    columns: tuple[tuple[str, DataType], ...]
    """In the order of `create table`."""
    key: str
    """The column that tells rows apart."""
    order_by: str | None = None
    """The ordering (precombine) column; of two versions of a row the greater one stands."""
    partition_by: tuple[str, ...] = ()

    @property
    def fixed(self) -> tuple[str, ...]:
        """The columns that schema changes may not touch: key, ordering and partition columns."""
        ordering = (self.order_by,) if self.order_by else ()
        return (self.key, *ordering, *self.partition_by)

"""What a table is, apart from its rows: columns, key, ordering column, partition columns."""

from dataclasses import dataclass
from enum import StrEnum

from harness.model.datatypes import DataType


class MergeMode(StrEnum):
    """Which of two versions of a row stands (Hudi documentation, "Record Merger")."""

    EVENT_TIME = "event_time"
    """The one with the greater ordering value, whichever was written last."""
    COMMIT_TIME = "commit_time"
    """The one that was written last."""
    PARTIAL_UPDATE = "partial_update"
    """Of each column the newest value, by the ordering column, that is not NULL."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[tuple[str, DataType], ...]
    """In the order of `create table`."""
    key: str
    """The column that tells rows apart."""
    order_by: str | None = None
    """The ordering (precombine) column."""
    partition_by: tuple[str, ...] = ()
    merge_mode: MergeMode | None = None
    """What the table declares; None for what its format does by itself, which makes no difference
    unless a version comes late."""

    @property
    def fixed(self) -> tuple[str, ...]:
        """The columns that schema changes may not touch: key, ordering and partition columns."""
        ordering = (self.order_by,) if self.order_by else ()
        return (self.key, *ordering, *self.partition_by)

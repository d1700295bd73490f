"""Which metastore the readers of a run ask through. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DISTRIBUTION: Final = "hive-metastore-3.1.3"
"""The one that every engine was seen to read through; tables are written on it, too,
unless a writer is too new for it."""
OLDEST: Final = "metastore"
"""The setting of an engine that names the oldest metastore through which it can ask."""


@dataclass(frozen=True, slots=True)
class MetastoreChoice:
    """A metastore, and which one made its database."""

    distribution: str = DISTRIBUTION
    upgraded_from: str = ""
    """The older one with which the tables were registered; empty where it made its own database."""

    @property
    def usual(self) -> bool:
        return self == USUAL

    @property
    def distributions(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.upgraded_from, self.distribution)))

    def __str__(self) -> str:
        older = f", upgraded from {self.upgraded_from}" if self.upgraded_from else ""
        return f"{self.distribution}{older}"


USUAL: Final = MetastoreChoice()

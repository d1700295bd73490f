"""A table state: a table as it was after a step, and what its readers must know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.object_storage import BUCKET
from harness.core.records import Outcome
from harness.engines.spark.values import canonical_type
from harness.model.column_statistics import IN_ORDER, StoredStatistics
from harness.model.commit import ExtraMetadata
from harness.model.simulation.column_resolution import META
from harness.runtime.metastore_objects import CatalogEntry

DATABASE_DIGITS: Final = 16
TABLE: Final = "table"


@dataclass(frozen=True, slots=True)
class FileSeen:
    """One file or folder, as far as a change of it would show."""

    path: str
    size: int
    """In bytes; of a folder 0."""
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Frozen:
    """What `state.json` holds."""

    outcome: Outcome
    """Of the step that led here."""
    entries: tuple[CatalogEntry, ...]
    instants: tuple[str, ...]
    """What each step so far made on the timeline of this table, empty where nothing."""
    table_version: str = ""
    """Where the format counts versions."""
    home: str = ""
    """The path that the table's own files name, where they name it: readers find it there."""
    others: tuple[tuple[str, int], ...] = ()
    """Instants beside those of the steps, each with the step whose rows it found."""
    statistics: StoredStatistics = IN_ORDER
    """What the writer's own Spark said of those that nothing else can read."""
    metadata: ExtraMetadata | None = None
    """What the step's own commit has, where the step was told of some."""
    listing: tuple[FileSeen, ...] = ()
    """What the frozen folder holds; set by `freeze`."""


@dataclass(frozen=True, slots=True)
class State:
    """A table state in the cache."""

    digest: str
    folder: Path
    frozen: Frozen

    @property
    def table(self) -> Path:
        """The folder of the table's files."""
        return self.folder / TABLE

    @property
    def home(self) -> Path:
        """Where readers find the files."""
        return Path(self.frozen.home) if self.frozen.home else self.table

    @property
    def database(self) -> str:
        """The database under which readers find its tables."""
        return f"s_{self.digest[:DATABASE_DIGITS]}"

    def database_in(self, warehouse: str) -> str:
        """Return the database of its tables in a warehouse; empty: on the disk."""
        return f"{self.database}_{warehouse}" if warehouse else self.database

    def location_in(self, warehouse: str) -> str:
        """Return where its files are in a warehouse: a path, or a URL of Hadoop's `s3a`."""
        return f"s3a://{BUCKET}/{self.digest}/{TABLE}" if warehouse else str(self.home)

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of each catalog entry, without Hudi's meta columns."""
        return {
            entry.name: tuple(n for n, _ in entry.columns if n not in META)
            for entry in self.frozen.entries
        }

    @property
    def catalog(self) -> tuple[str, ...]:
        """The columns that all catalog entries list; none where they differ among themselves."""
        every = set(self.columns.values())
        return every.pop() if len(every) == 1 else ()

    @property
    def catalog_types(self) -> tuple[str, ...]:
        """The types of these columns in our words, empty for one that we have no word for.

        The metastore's names of types are Spark's as well.
        """
        entries, columns = self.frozen.entries, set(self.catalog)
        every = {tuple(canonical_type(t) for n, t in e.columns if n in columns) for e in entries}
        return every.pop() if len(every) == 1 else ()

    @property
    def listed(self) -> Mapping[str, frozenset[str]]:
        """Those of Hudi's meta columns that each catalog entry lists."""
        return {
            entry.name: frozenset(n for n, _ in entry.columns if n in META)
            for entry in self.frozen.entries
        }


States = Mapping[tuple[str, int], State]
"""The frozen states by variant and step."""

"""What every format offers: its views, its statements for operations, and what its files say."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

from harness.engines.format_facts import FormatFacts
from harness.model.canonical import Value
from harness.model.commit import Moment
from harness.model.file_facts import ColumnStatistics, FileFact, Lineage
from harness.model.identifiers import TABLE
from harness.model.schema import Table
from harness.model.schema_history import SchemaHistory
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation, TableKind
from harness.scenario.statements import Statement

VariantSettings = Mapping[str, str]
"""The settings of a variant; a format ignores those that it does not know."""

CREATED_BY: Final = "created_by"
"""Setting of a variant: what creates the table."""
BY_FRAME: Final = "frame"
"""Its value where that is a DataFrame."""

NO_COMMIT: Final = "the table's own records have no commit of it"
"""The problem of a step that raised no error and left the table as it was."""

NO_CATALOG: Final = CatalogHistory()
"""For formats that need nothing from the catalog to read a table's files."""

FileRows = tuple[tuple[str, ...], tuple[tuple[Value, ...], ...]]
"""The names of a file's columns, and its rows."""


@dataclass(frozen=True, slots=True)
class Committed:
    """What a table's own records say was done to it: equal before and after what did nothing."""

    writes: tuple[str, ...] = ()
    """The instants of the completed writes."""
    schema: str = ""
    """Tells the schema from the one before, where a change of it makes no instant."""
    scheduled: tuple[str, ...] = field(default=(), compare=False)
    """The instants of what is planned and waits: no write. A step may make one besides."""
    cleanings: tuple[str, ...] = field(default=(), compare=False)
    """The instants that removed old files; a write may do so besides."""
    table_version: str = field(default="", compare=False)
    """The version of the table; a step may change it besides."""
    savepoints: tuple[str, ...] = field(default=(), compare=False)
    undone: tuple[str, ...] = field(default=(), compare=False)
    """The instants at which something was taken back; a write may do so first."""
    begun: tuple[str, ...] = field(default=(), compare=False)
    """The instants of writes that were not completed."""
    inflight: tuple[str, ...] = field(default=(), compare=False)
    """Those of them that write their files, or have."""
    tags: tuple[str, ...] = field(default=(), compare=False)
    checkpoints: tuple[str, ...] = field(default=(), compare=False)
    """The versions of which all is written down once more; a write may do so besides."""


@dataclass(frozen=True, slots=True)
class StoredMetadata:
    """The extra metadata of one commit."""

    stored: Mapping[str, str]
    question: str
    """The SQL that shows it, in columns `metadata_key` and `metadata_value`."""
    format_keys: Collection[str]
    """The keys that the format itself writes there."""


class FileFactError(Exception):
    """A file cannot be understood; nothing is said of the table's layout then."""


class QueriedStatistics(Protocol):
    """Statistics that only the writer's own Spark can read."""

    @property
    def sql(self) -> str:
        """The query for the Spark of the last writer; it is part of a state's identity."""

    def exist(self, folder: Path) -> bool:
        """Return whether the table in a folder has such statistics."""

    def parse(
        self, rows: Sequence[Mapping[str, Value]], files: Sequence[FileFact]
    ) -> tuple[ColumnStatistics, ...]:
        """Return the statistics of a table's files; raises FileFactError where rows are odd."""


class Format(ABC):
    """A format. What has a default here, most formats do not have."""

    NAME: str
    """As scenarios and profiles write it: `hudi-cow`."""
    kind: TableKind | None = None
    """What operations go by; None for a format that itself says which operations it has."""
    merge_on_read: bool = False
    past_views: tuple[str, ...] = ()
    """The questions about its past that can be asked (see `harness.model.past_views`)."""
    settings: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    """The settings a variant may name, each with its values; absent is the writer's default."""
    unsupported_types: frozenset[str] = frozenset()
    """Types that its tables cannot have, without parameters."""
    column_options: bool = False
    """Whether columns of its tables may be generated, numbered, or have a default at first."""
    partitions_last: bool = False
    """Whether SQL puts partition columns behind all others, wherever they were declared."""
    absolute_paths: bool = False
    """Whether a table's files name each other by absolute paths, so that no copy can be read."""

    @property
    @abstractmethod
    def reader_facts(self) -> FormatFacts:
        """What its readers must know."""

    @property
    def views(self) -> tuple[str, ...]:
        return ("snapshot",)

    def table_for(self, view: str) -> str:
        """Return the catalog entry that answers a view. Raises KeyError for an unknown view."""
        return dict.fromkeys((*self.views, *self.past_views), TABLE)[view]

    def unsupported(self, operation: Operation) -> str:
        """Return why an operation is impossible; one that a writer refuses is possible."""
        why = operation.unsupported(self.kind) if self.kind else ""
        return f"{self.NAME} {why}" if why else ""

    def unsupported_settings(self, settings: VariantSettings, scenario: Scenario) -> str:
        """Return why the table cannot have these settings, or why one of them changes nothing."""
        return ""

    def usual_settings(self, scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
        """Return the settings that a scenario's tables have where people use them: all values."""
        return {}

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        """Return the settings of the writing Spark session; `names`: of the writer's lock data."""
        return {}

    def properties(self, settings: VariantSettings) -> Mapping[str, str]:
        """Return the properties with which a table is made."""
        return {}

    @abstractmethod
    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        """Return the statements that make the table."""

    @abstractmethod
    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        """Return the statements of an operation; none where there is nothing to do."""

    @abstractmethod
    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        """Return the completed writes of a table, oldest first; only Hive's need `entries`."""

    @abstractmethod
    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        """Return what was done to a table; raises FileFactError where its records contradict."""

    def partial_write(
        self, files: Sequence[FileFact], made: Collection[str], rows: Collection[str]
    ) -> str:
        """Return why only a part of a failed write is there; empty where a commit has all.

        `files`: those after it; `made`: the instants that it made; `rows`: the keys that it writes.
        """
        return ""

    def instants_before(self, folder: Path, instant: str) -> tuple[str, ...]:
        """Return the instants that were completed when another one of the table was requested."""
        return ()

    def moment(self, folder: Path, instant: str) -> Moment:
        """Return a completed write in the words of engines; raises KeyError where there is none."""
        if not self.past_views:
            raise KeyError(instant)
        return {instant: Moment(instant) for instant in self.instants(folder)}[instant]

    def table_version(self, folder: Path) -> str:
        """Return the version of a table, as the format counts; empty where it does not."""
        return ""

    def timeline(self, folder: Path) -> tuple[str, ...]:
        """Return the actions on a table's own timeline with their states, in words."""
        return ()

    def schema_history(self, folder: Path) -> SchemaHistory | None:
        """Return the history of its schema that a table itself keeps; None where it keeps none."""
        return None

    def stored_metadata(self, folder: Path, instant: str) -> StoredMetadata | None:
        """Return the user's metadata in a completed write; None where there cannot be any."""
        return None

    def lineage(self, folder: Path, key: str, catalog: CatalogHistory) -> Lineage | None:
        """Return what files say of where rows come from; None where they do not say it."""
        return None

    def lineage_since(self, settings: VariantSettings, scenario: Scenario) -> int | None:
        """Return the step from which on they do; None for never."""
        return None

    def missing_effect(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        """Return what an operation that left no trace should have done to the files of `before`."""
        return ""

    def creation_problem(self, folder: Path, settings: VariantSettings) -> str:
        """Return how the new table is not what the settings ask for; empty when it is."""
        return ""

    @abstractmethod
    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        """Read the rows of a data file that a fact is about; raises FileFactError."""

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        """Read the statistics of columns of some of a table's files; raises FileFactError."""
        return ()

    def queried_statistics(self, settings: VariantSettings) -> QueriedStatistics | None:
        """Return the statistics for which the writer's Spark must be queried; None where none."""
        return None

    @abstractmethod
    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        """Read what a table's data files say of themselves; raises FileFactError.

        `key`: the key column; `catalog`: of the table, for files that do not say all of it.
        """

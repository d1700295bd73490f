"""What every format file offers: its views, its wording of operations, and what its files tell.

`formats/<family>/format.py` has `FORMATS`, a tuple of objects that satisfy `Format`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Final, Protocol

from harness.engines.format_facts import FormatFacts
from harness.model.canonical import Value
from harness.model.column_statistics import ColumnStatistics
from harness.model.commit import Moment
from harness.model.file_facts import FileFact
from harness.model.schema_history import SchemaHistory
from harness.model.table import Table
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.definition import Scenario
from harness.scenario.operations.api import Operation
from harness.scenario.statements import Statement

VariantSettings = Mapping[str, str]
"""The settings of a variant; those that a format does not know are not its own."""

HANDOVER_VERSION: Final = "handover_version"
"""Setting of a variant: the table version to which the first of two writers brings the table before
the other one goes on with it."""

CREATED_BY: Final = "created_by"
"""Setting of a variant: what creates the table."""
BY_FRAME: Final = "frame"
"""Its value where that is a DataFrame."""

NO_COMMIT: Final = "the table's own records have no commit of it"
"""What is said of a step that answered no error and left the table as it was."""

NO_CATALOG: Final = CatalogHistory()
"""Of a table of which nothing is asked of the catalog."""

FileRows = tuple[tuple[str, ...], tuple[tuple[Value, ...], ...]]
"""The names of a file's columns, and its rows."""


class Changes(Enum):
    """Where changed rows go."""

    REPLACE = auto()
    """Into a new version of their base file."""
    LOG = auto()
    """Into a log file."""
    APART = auto()
    """Into a new file; the old rows are deleted in theirs."""


@dataclass(frozen=True, slots=True)
class Habit:
    """How a format's files are made, as was seen in the files of real runs."""

    changes: Changes
    partitions: bool
    """Whether partition columns stand in the files, after the others, or in the path alone."""


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
    """The instants that are saved."""
    undone: tuple[str, ...] = field(default=(), compare=False)
    """The instants at which something was taken back; a write may do so first."""
    begun: tuple[str, ...] = field(default=(), compare=False)
    """The instants of writes that were not completed."""
    inflight: tuple[str, ...] = field(default=(), compare=False)
    """Those of them that write their files, or have."""
    tags: tuple[str, ...] = field(default=(), compare=False)
    """The names of snapshots that stay."""


@dataclass(frozen=True, slots=True)
class KeptMetadata:
    """The extra metadata of one commit."""

    stored: Mapping[str, str]
    """In the commit's file."""
    question: str
    """The SQL that shows it, in columns `metadata_key` and `metadata_value`."""
    own: Collection[str]
    """The names of what the format writes there by itself."""


class FileFactError(Exception):
    """A file cannot be understood; nothing is said of the table's layout then."""


class AskedStatistics(Protocol):
    """Statistics that nothing but the writer's own Spark can read."""

    @property
    def sql(self) -> str:
        """What the Spark of the last writer is asked; it is part of what a state is known by."""

    def there(self, folder: Path) -> bool:
        """Return whether the table in a folder has such statistics."""

    def told(
        self, rows: Sequence[Mapping[str, Value]], files: Sequence[FileFact]
    ) -> tuple[ColumnStatistics, ...]:
        """Return what the answered rows, by the names of their columns, say of a table's files.

        Raises:
            FileFactError: they cannot be understood.

        """


class Format(Protocol):
    """What a file in this folder gives."""

    NAME: str
    """As scenarios and profiles write it: `hudi-cow`."""
    reader_facts: FormatFacts
    """What its readers must know."""
    merge_on_read: bool
    views: tuple[str, ...]
    """The questions that can be asked of a table."""
    past_views: tuple[str, ...]
    """Those about its past that can be asked (see `harness.model.past_views`)."""
    settings: Mapping[str, tuple[str, ...]]
    """The settings a variant may name, each with its values; absent is the writer's default."""
    lacks: frozenset[str]
    """Types that its tables cannot have, without parameters."""
    partitions_last: bool
    """Whether partition columns stand behind all others in a table that SQL creates, wherever they
    were declared."""
    absolute_paths: bool
    """Whether a table's files name each other by absolute paths, so that no copy can be read."""

    def table_for(self, view: str) -> str:
        """Return the catalog entry that answers a view. Raises KeyError for no view of this."""

    def cannot(self, operation: Operation) -> str:
        """Return why an operation is impossible in this format; empty when it is not.

        What a writer refuses when it is told is an answer, and it is told.
        """

    def cannot_have(self, settings: VariantSettings, scenario: Scenario) -> str:
        """Return why a scenario's table cannot have settings that are among the format's.

        That is also where a setting changes nothing, so that its values would be one and the same.
        Empty when it can.
        """

    def habit(self, settings: VariantSettings) -> Habit:
        """Return how files are made with these settings."""

    def session(self, settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
        """Return what the writing Spark session is told before its first statement.

        `names`: what the writer's version calls things (`names` in its lock data).
        """

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        """Return the statements that make the table."""

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        """Return the statements of an operation; none where there is nothing to do."""

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        """Return the instants of all completed writes of the table in a folder, oldest first.

        `entries`: what the catalog has of it, which tells of transactional tables alone.
        """

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        """Return what was done to the table in a folder, and in the catalog, as far as both tell.

        Raises:
            FileFactError: they contradict each other, or cannot be understood.

        """

    def left_half(
        self, files: Sequence[FileFact], made: Collection[str], rows: Collection[str]
    ) -> str:
        """Return why a write that failed is there in part only; empty where its commit is whole.

        Args:
            files: those of the table after it.
            made: the instants that it made.
            rows: the keys of the rows that it writes, as text.

        """

    def before(self, folder: Path, instant: str) -> tuple[str, ...]:
        """Return the instants that were completed when another one of the table was requested."""

    def moment(self, folder: Path, instant: str) -> Moment:
        """Return a completed write of the table in a folder as engines are told of it.

        Raises:
            KeyError: there is none of that instant.

        """

    def table_version(self, folder: Path) -> str:
        """Return the version of a table, as the format counts; empty where it does not."""

    def timeline(self, folder: Path) -> tuple[str, ...]:
        """Return what a table's own timeline has, an action with its state in words each."""

    def schema_history(self, folder: Path) -> SchemaHistory | None:
        """Return the history of its schema that a table itself keeps; None where it keeps none."""

    def kept_metadata(self, folder: Path, instant: str) -> KeptMetadata | None:
        """Return what the record of a completed write has for its user; None where none can."""

    def left_undone(self, folder: Path, operation: Operation, before: Sequence[FileFact]) -> str:
        """Return what an operation that left no trace should have done; empty when nothing.

        Args:
            folder: the table's.
            operation: what was to be done.
            before: the file facts of the table before it.

        """

    def created_wrong(self, folder: Path, settings: VariantSettings) -> str:
        """Return how the new table is not what the settings ask for; empty when it is."""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        """Read the rows of a data file that a fact is about.

        Raises:
            FileFactError: they cannot be understood.

        """

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:
        """Read what is stored of the columns of some of a table's files, in them or beside them.

        Raises:
            FileFactError: it cannot be understood.

        """

    def asked_statistics(self, settings: VariantSettings) -> AskedStatistics | None:
        """Return what the writer's Spark has to be asked of statistics; None where nothing."""

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        """Read what the data files of a table say of themselves; `key` is the key column.

        `catalog`: of the table, for files that do not say all of it themselves.

        Raises:
            FileFactError: one cannot be understood.

        """

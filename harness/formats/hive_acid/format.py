"""Transactional tables of Hive ("full ACID"): each write has ORC files of its own.

Rows are deleted by files beside those that hold them, and the metastore knows which files count.
Its schema is the metastore's alone. HiveServer2 writes; what it refuses of a schema change is an
answer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.engines.format_facts import FormatFacts
from harness.formats.api import NO_CATALOG, Changes, Committed, FileRows, Habit, VariantSettings
from harness.formats.hive import hiveql
from harness.formats.hive.format import CASCADES, SCHEMA_CHANGES, follows_anyway
from harness.formats.hive.hiveql import NAME as TABLE_NAME
from harness.formats.hive_acid import files as hive_acid_files
from harness.formats.hive_acid import mutation as hive_mutation
from harness.model.column_statistics import ColumnStatistics
from harness.model.commit import Moment
from harness.model.file_facts import FileFact, FileKind
from harness.model.identifiers import TABLE
from harness.model.table import Table
from harness.model.truth import Truth
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory, WriteIds
from harness.scenario.definition import CASCADE, Scenario
from harness.scenario.operations import name_of
from harness.scenario.operations.abort_transactions import AbortTransactions
from harness.scenario.operations.api import Family, Operation, StepContext, TableKind
from harness.scenario.operations.compact import Compact
from harness.scenario.operations.failed_write import FailedWrite
from harness.scenario.operations.insert import Insert
from harness.scenario.operations.killed_write import KilledWrite
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.mutate import Mutate
from harness.scenario.operations.overwrite import Overwrite, OverwriteScope
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.operations.touch import Touch
from harness.scenario.operations.upsert import Upsert
from harness.scenario.statements import (
    LOCATION,
    Sql,
    Statement,
    TransactionSql,
    of_table,
)

SESSION: Final = {
    "hive.support.concurrency": "true",
    "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
    "hive.exec.dynamic.partition.mode": "nonstrict",
}
"""Hive documentation, "Hive Transactions", "Configuration"."""
BUCKETS: Final = "buckets"
COMPACTION: Final = "compaction"
LOCK_WAIT: Final = "lock_wait"
"""How often a session asks for a lock that another transaction has."""
SETTINGS: Final = {
    BUCKETS: ("none", "1", "2"),
    COMPACTION: ("major", "minor"),
    CASCADE: CASCADES,
    LOCK_WAIT: ("usual", "short"),
}
"""Absent is `none`, `major`, which makes one base file of all, `on`, and `usual`."""
RETRIES: Final = {"hive.lock.numretries": "3"}
"""What a session of `short` is told; by itself it asks 100 times, up to a minute apart."""


KIND: Final = TableKind(Family.HIVE_ACID)


@dataclass(frozen=True, slots=True)
class HiveAcid:
    """See `harness.formats.api.Format`."""

    NAME: str = "hive-acid"
    merge_on_read: bool = False
    views: tuple[str, ...] = ("snapshot",)
    past_views: tuple[str, ...] = ()
    lacks: frozenset[str] = frozenset()
    partitions_last: bool = True
    absolute_paths: bool = False

    @property
    def reader_facts(self) -> FormatFacts:
        """The metastore has the schema, and the transactions."""
        return FormatFacts(self.NAME, "hive", "orc", transactional=True, written_by=self.NAME)

    @property
    def settings(self) -> Mapping[str, tuple[str, ...]]:
        """The settings a variant may name."""
        return SETTINGS

    def table_for(self, view: str) -> str:
        """Return the one catalog entry."""
        return {"snapshot": TABLE}[view]

    def cannot(self, operation: Operation) -> str:
        """Return what has no meaning here; what Hive does not do it refuses itself."""
        why = operation.unsupported(KIND)
        return f"{self.NAME} {why}" if why else ""

    def habit(self, settings: VariantSettings) -> Habit:  # noqa: ARG002 - the same for all
        """Return that partition columns stand in the path alone, and where changes go."""
        return Habit(Changes.APART, partitions=False)

    def cannot_have(self, settings: VariantSettings, scenario: Scenario) -> str:
        """Return which setting says nothing of a scenario's table."""
        names = {name_of(step.operation) for step in scenario.steps}
        if settings.get(CASCADE) == "off" and (why := follows_anyway(scenario)):
            return why
        if settings.get(COMPACTION) == "minor" and "compact" not in names:
            return "compaction=minor: no step compacts"
        return ""

    def session(
        self,
        settings: VariantSettings,
        names: Mapping[str, str],  # noqa: ARG002 - nothing has two names
    ) -> Mapping[str, str]:
        """Return what a writing session of Hive is told."""
        return {**SESSION, **RETRIES} if settings.get(LOCK_WAIT) == "short" else SESSION

    def create(self, table: Table, settings: VariantSettings) -> tuple[Statement, ...]:
        """Return `create table`; partition columns stand apart and last, as Hive has them."""
        types = dict(table.columns)
        columns = [(n, t) for n, t in table.columns if n not in table.partition_by]
        parts = hiveql.definition([(name, types[name]) for name in table.partition_by])
        partitioned = f" partitioned by ({parts})" if parts else ""
        number = settings.get(BUCKETS, "none")
        clustered = f" clustered by ({quoted(table.key)}) into {number} buckets"
        return (
            Sql(
                f"create table {TABLE_NAME} ({hiveql.definition(columns)}){partitioned}"
                f"{'' if number == 'none' else clustered} stored as orc "
                f"location 'file:{LOCATION}' tblproperties ('transactional' = 'true')"
            ),
        )

    def wording(
        self, operation: Operation, before: Truth, after: Truth, settings: VariantSettings
    ) -> tuple[Statement, ...]:
        """Return the common SQL, but for whole rows, mutations, schema changes and compactions."""
        if name_of(operation) in SCHEMA_CHANGES:
            cascade = bool(after.table.partition_by) and settings.get(CASCADE) != "off"
            return (Sql(hiveql.changed_columns(before, after, cascade=cascade)),)
        context = StepContext(KIND, before, after, settings)
        if (statements := operation.statements(context)) is not None:
            return statements
        stay = _unchangeable(after.table, settings)
        match operation:
            case Insert() | Upsert() | Touch():
                return (Sql(hiveql.whole_rows(before, after, stay)),)
            case Merge():
                return of_table([operation.worded(before, after, stay, listed=False)])
            case Mutate():
                return (hive_mutation.committed(before, after),)
            case KilledWrite():
                return (TransactionSql(hiveql.failed_rows(before, after, stay)),)
            case FailedWrite():
                return (hive_mutation.aborted(before, after),)
            case Overwrite(of=OverwriteScope.TABLE):
                return (Sql(hiveql.overwritten(before, after)),)
        return of_table(operation.sql(before, after))

    def instants(self, folder: Path, entries: Sequence[CatalogEntry] = ()) -> tuple[str, ...]:
        """Return the numbers of the committed writes, and the folders that compactions made."""
        return hive_acid_files.instants(folder, _write_ids(entries))

    def committed(self, folder: Path, entries: Sequence[CatalogEntry]) -> Committed:
        """Return the writes, and what the catalog has of columns.

        A truncation has no number: it takes all folders away.
        """
        ids = _write_ids(entries)
        there = [each.path.name for each in hive_acid_files.live(folder, ids)]
        columns = [each.columns for each in entries if each.name == TABLE]
        begun = tuple(map(str, (*ids.aborted, *ids.open)))
        writes = hive_acid_files.instants(folder, ids)
        aborted = tuple(map(str, ids.aborted))
        return Committed(writes, json.dumps([columns, there]), undone=aborted, begun=begun)

    def left_half(
        self,
        files: Sequence[FileFact],  # noqa: ARG002
        made: Collection[str],  # noqa: ARG002
        rows: Collection[str],  # noqa: ARG002
    ) -> str:
        """Return nothing: a transaction has all of a write."""
        return ""

    def before(self, folder: Path, instant: str) -> tuple[str, ...]:
        """Return the writes that a compaction joined: a step has one of each partition."""
        return hive_acid_files.joined(folder, instant)

    def moment(self, folder: Path, instant: str) -> Moment:  # noqa: ARG002
        """Raise KeyError: no reader can ask for the past."""
        raise KeyError(instant)

    def table_version(self, folder: Path) -> str:  # noqa: ARG002
        """Return nothing: its tables have no versions that readers tell apart."""
        return ""

    def timeline(self, folder: Path) -> tuple[str, ...]:
        """Return the folders of its writes, committed or not: only the metastore knows."""
        return tuple(each.path.name for each in hive_acid_files.folders(folder))

    def schema_history(self, folder: Path) -> None:
        """Return nothing: columns have no ids."""

    def kept_metadata(self, folder: Path, instant: str) -> None:  # noqa: ARG002
        """Return nothing: no step writes any."""
        return

    def left_undone(
        self,
        folder: Path,  # noqa: ARG002
        operation: Operation,
        before: Sequence[FileFact],
    ) -> str:
        """Return that a compaction left the files although there was something to do."""
        kinds = {fact.kind for fact in before}
        if isinstance(operation, Compact) and (FileKind.LOG in kinds or len(before) > 1):
            return f"the table has {len(before)} files of rows and deletions, as before"
        if isinstance(operation, AbortTransactions):
            return "no transaction of the table was aborted"
        return ""

    def created_wrong(self, folder: Path, settings: VariantSettings) -> str:  # noqa: ARG002
        """Return nothing: the folder is empty."""
        return ""

    def file_rows(self, path: Path, fact: FileFact) -> FileRows:
        """Read the rows of a file, deleted ones too; what a compaction knew to be is left out."""
        return hive_acid_files.file_rows(path, fact)

    def statistics(self, folder: Path, files: Sequence[FileFact]) -> tuple[ColumnStatistics, ...]:  # noqa: ARG002
        """Return none: the columns of its files are those of writes, and not the table's."""
        return ()

    def asked_statistics(self, settings: VariantSettings) -> None:
        """Return nothing: there are none."""

    def facts(
        self, folder: Path, key: str, catalog: CatalogHistory = NO_CATALOG
    ) -> tuple[FileFact, ...]:
        """Read the live files of rows, and those of deletions."""
        return hive_acid_files.facts(folder, key, _write_ids(catalog.now))


def _write_ids(entries: Sequence[CatalogEntry]) -> WriteIds:
    """Return which writes count; none where there is no such table."""
    return next((each.write_ids for each in entries if each.write_ids), WriteIds())


def _unchangeable(table: Table, settings: VariantSettings) -> tuple[str, ...]:
    """Return the columns that Hive lets no update set: those of buckets and of partitions."""
    bucketed = settings.get(BUCKETS, "none") != "none"
    return (*((table.key,) if bucketed else ()), *table.partition_by)


FORMATS = (HiveAcid(),)

"""Table services: they write files or metadata anew, and the rows stay.

Sources: Hudi documentation, "SQL Procedures"; Iceberg documentation, "Spark Procedures".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Final

from pydantic import Strict

from harness.model.truth import Truth, compacted
from harness.scenario.operations.api import (
    WITH_DELETES,
    Example,
    Family,
    Operation,
    ServiceMode,
    Statements,
    StepContext,
    StepTrace,
    TableKind,
    example,
    name_in_files,
)
from harness.scenario.operations.spark_sql import partition_spec, quoted, text
from harness.scenario.statements import (
    ALTER_TABLE,
    TABLE_ARGUMENT,
    TABLE_NAME,
    DeltaCall,
    IcebergCall,
    Sql,
    Statement,
    call_hudi,
    call_iceberg,
    under,
)

_WITH_DELETES: Final = "map('delete-file-threshold', '1', 'min-file-size-bytes', '0')"
"""Only data files of which rows are deleted, however small they are."""


@dataclass(frozen=True, slots=True)
class Service(Operation):
    """A service without arguments."""

    SENDS: ClassVar[tuple[tuple[Family, Statement], ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.FAMILIES = frozenset(family for family, _ in cls.SENDS)

    def statements(self, context: StepContext) -> Statements:
        return (dict(self.SENDS)[context.kind.family],)


@dataclass(frozen=True, slots=True)
class TableService(Operation):
    """A service that may be only scheduled: then it waits, and its next step carries it out."""

    NOUN: ClassVar[str] = ""
    only: Annotated[ServiceMode | None, Strict(strict=False)] = None

    def text(self) -> str:
        return f"schedule a {self.NOUN}" if self.only else name_in_files(type(self))

    def evolve(self, before: Truth) -> Truth:
        """Let read-optimized readers see what snapshot readers see, once it is carried out."""
        if self.only:
            return Operation.evolve(self, before)
        return compacted(before, before.step + 1)

    def trace(self) -> StepTrace | None:
        return StepTrace.SCHEDULED if self.only else None


@dataclass(frozen=True, slots=True)
class Compact(TableService):
    EXAMPLES = (
        Example("compact", "merges log files into base files; does nothing on copy-on-write"),
        Example(
            "compact: {only: schedule}",
            "plans a compaction and leaves it, see [below](#what-waits)",
        ),
    )
    FAMILIES = WITH_DELETES
    NOUN = "compaction"

    def statements(self, context: StepContext) -> Statements:
        """Return the calls of the service; none where there are no log files to compact.

        In Hudi what waits is carried out first: `run` would not touch it.
        """
        match context.kind.family:
            case Family.HUDI if context.kind.merge_on_read:
                modes = (self.only.value,) if self.only else ("execute", "run")
                calls = (f"call run_compaction(op => '{mode}', {TABLE_ARGUMENT})" for mode in modes)
                return tuple(map(Sql, calls))
            case Family.ICEBERG:
                return (call_iceberg("rewrite_data_files", f"options => {_WITH_DELETES}"),)
            case Family.DELTA:
                # It rewrites the data files of which rows are deleted, and no others (Delta
                # documentation, "What are deletion vectors?").
                return (Sql(f"reorg table {TABLE_NAME} apply (purge)"),)
            case Family.HIVE_ACID:
                return _compactions(context.before, context.settings.get("compaction", "major"))
        return ()

    def unsupported(self, kind: TableKind) -> str:
        if self.only:
            match kind.family:
                case Family.HUDI if not kind.merge_on_read:
                    return "has no log files, so no compaction of them can be scheduled"
                case Family.ICEBERG | Family.DELTA:
                    return "rewrites files at once: nothing can be scheduled"
                case Family.HIVE_ACID:
                    return "does not settle what a compaction is of before it runs"
        return Operation.unsupported(self, kind)


def _compactions(before: Truth, extent: str) -> tuple[Statement, ...]:
    """Return a compaction of Hive, of a partitioned table one for each partition that has rows."""
    compact = f"compact '{extent}' and wait"
    if not before.table.partition_by:
        return (Sql(f"{ALTER_TABLE} {compact}"),)
    partitions = dict.fromkeys(row.group[1] for row in before.rows.values())
    specs = [partition_spec(before, values) for values in partitions]
    return tuple(Sql(f"{ALTER_TABLE} {spec} {compact}") for spec in specs)


@dataclass(frozen=True, slots=True)
class Cluster(TableService):
    """Write every file group of a partition into new ones, log files merged."""

    EXAMPLES = (
        Example(
            "cluster",
            "writes the file groups of each partition anew as others, log files "
            "merged, see [below](#services)",
        ),
        Example(
            "cluster: {only: schedule}", "plans a clustering, which the next `cluster` carries out"
        ),
    )
    FAMILIES = frozenset({Family.HUDI, Family.DELTA})
    NOUN = "clustering"

    def evolve(self, before: Truth) -> Truth:
        after = TableService.evolve(self, before)
        return after if self.only else replace(after, before_last=before)

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.DELTA:
            # Delta documentation, "Table utility commands", "Optimize a table".
            return (Sql(f"optimize {TABLE_NAME}"),)
        # First what waits is carried out: `scheduleAndExecute` would not touch it.
        modes = (self.only.value,) if self.only else ("execute", "scheduleAndExecute")
        return tuple(
            Sql(f"call run_clustering(op => '{mode}', {TABLE_ARGUMENT})") for mode in modes
        )

    def unsupported(self, kind: TableKind) -> str:
        if self.only and kind.family is Family.DELTA:
            return "rewrites files at once: nothing can be scheduled"
        return Operation.unsupported(self, kind)


_ONE_VERSION: Final = (
    "hoodie.cleaner.policy=KEEP_LATEST_FILE_VERSIONS,hoodie.cleaner.fileversions.retained=1"
)
_ALL_SNAPSHOTS: Final = "older_than => timestamp '2999-01-01 00:00:00', retain_last => 1"
_CHECK: Final = "spark.databricks.delta.retentionDurationCheck.enabled"
"""With `true`, its default, Delta removes no file that was part of the table in the last 7 days."""
_LISTERS: Final = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
_USUAL_LISTERS: Final = "10000"
"""So many tasks list the files of a vacuum (`DeltaFileOperations.recursiveListDirs` of Delta 3.3;
SQLConf of Spark 3.5.8, PARALLEL_PARTITION_DISCOVERY_PARALLELISM): minutes on a small machine."""


@dataclass(frozen=True, slots=True)
class Clean(Operation):
    """Keep the newest version of each file group alone: earlier tables cannot be gone back to."""

    EXAMPLES = example("clean", "removes all versions of files but the newest")
    TEXT = "clean old files away"
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG, Family.DELTA})
    TRACE = StepTrace.CLEANINGS

    def evolve(self, before: Truth) -> Truth:
        return replace(before, step=before.step + 1, oldest=before.step)

    def statements(self, context: StepContext) -> Statements:
        match context.kind.family:
            case Family.HUDI:
                return (call_hudi("run_clean", f"options => '{_ONE_VERSION}'"),)
            case Family.ICEBERG:
                return (call_iceberg("expire_snapshots", _ALL_SNAPSHOTS),)
        vacuum = Sql(f"vacuum {TABLE_NAME} retain 0 hours")
        by_one_task = under(_LISTERS, "1", _USUAL_LISTERS, (vacuum,))
        return under(_CHECK, "false", "true", by_one_task)


RETAINED: Final = 3
"""How many commits may be on the timeline; where there are more, one less stays."""


@dataclass(frozen=True, slots=True)
class Archive(Operation):
    """Move all but the newest commits to where no reader looks: files must be found without."""

    EXAMPLES = example("archive", "takes all commits but the newest two from the list of commits")
    TEXT = "archive old commits"
    FAMILIES = frozenset({Family.HUDI})

    def evolve(self, before: Truth) -> Truth:
        return replace(before, step=before.step + 1, oldest=before.step)

    def statements(self, context: StepContext) -> Statements:
        retained = f"min_commits => {RETAINED - 1}, max_commits => {RETAINED}, retain_commits => 1"
        # Where there is a metadata table, that says how far it may go (`TimelineArchiver`).
        metadata = str(context.settings.get("metadata_table", "off") != "off").lower()
        return (call_hudi("archive_commits", f"enable_metadata => {metadata}", retained),)


@dataclass(frozen=True, slots=True)
class Sync(Service):
    """Bring the metastore up to a table whose columns were changed without telling it."""

    EXAMPLES = example(
        "sync",
        "tells the metastore the columns that the table has, see "
        "[below](#what-the-metastore-is-told)",
    )
    TEXT = "sync the metastore"
    SENDS = ((Family.HUDI, call_hudi("hive_sync")),)
    WHY_NOT = "has its columns from no metastore, so there is none to sync"


_REWRITE_ALL: Final = "options => map('rewrite-all', 'true')"


@dataclass(frozen=True, slots=True)
class RewriteDataFiles(Service):
    """Write all live data files of a partition into one, by the newest schema and spec.

    `compact` does it only to files of which rows are deleted (Iceberg documentation, "Spark
    Procedures", `rewrite_data_files`, option `rewrite-all`).
    """

    EXAMPLES = example("rewrite_data_files", "writes every data file anew, with the columns of now")
    TEXT = "rewrite the data files"
    SENDS = ((Family.ICEBERG, call_iceberg("rewrite_data_files", _REWRITE_ALL)),)


@dataclass(frozen=True, slots=True)
class RewriteManifests(Service):
    EXAMPLES = example("rewrite_manifests", "writes the lists of files anew")
    TEXT = "rewrite the manifests"
    SENDS = ((Family.ICEBERG, call_iceberg("rewrite_manifests")),)


@dataclass(frozen=True, slots=True)
class RewritePositionDeletes(Service):
    """Write the positions of deleted rows into new files, without those that name no live file."""

    EXAMPLES = example("rewrite_position_deletes", "writes the position delete files anew")
    TEXT = "rewrite the position deletes"
    SENDS = ((Family.ICEBERG, call_iceberg("rewrite_position_delete_files", _REWRITE_ALL)),)


@dataclass(frozen=True, slots=True)
class RemoveOrphans(Service):
    """Remove the files that no snapshot has; the procedure spares those of the last day."""

    EXAMPLES = example("remove_orphans", "removes the files that no snapshot has, however new")
    TEXT = "remove orphan files"
    SENDS = ((Family.ICEBERG, IcebergCall("remove_orphans", {})),)


@dataclass(frozen=True, slots=True)
class Analyze(Service):
    """Work out statistics: Iceberg's of the table, Delta's of each file, which is added again."""

    EXAMPLES = example("analyze", "works out the statistics of the table, or of its files, anew")
    TEXT = "compute statistics"
    SENDS = (
        (Family.ICEBERG, call_iceberg("compute_table_stats")),
        (Family.DELTA, DeltaCall("analyze")),
    )


@dataclass(frozen=True, slots=True)
class Checkpoint(Service):
    EXAMPLES = example("checkpoint", "writes a checkpoint of the log, from which readers go on")
    TEXT = "write a checkpoint"
    SENDS = ((Family.DELTA, DeltaCall("checkpoint")),)
    TRACE = StepTrace.CHECKPOINTS


@dataclass(frozen=True, slots=True)
class CompactLog(Operation):
    """Write what all commits did into one more file; delta-rs has it, and Spark no words for it."""

    EXAMPLES = example(
        "compact_log",
        "writes the commits of the log together into one more file, from which readers may go on "
        "(by delta-rs alone: of a Spark nothing is asked)",
    )
    TEXT = "compact the log"
    FAMILIES = frozenset({Family.DELTA})

    def statements(self, context: StepContext) -> Statements:
        return ()


@dataclass(frozen=True, slots=True)
class ClusterBy(Operation):
    EXAMPLES = example(
        "cluster_by: [f1]",
        "lets `cluster` put rows with values of these columns that are near each other into the "
        "same files",
    )
    TEXT = "cluster by {0._names}"
    FAMILIES = frozenset({Family.DELTA})
    SHORT = "columns"
    columns: tuple[str, ...]

    @property
    def _names(self) -> str:
        return ", ".join(self.columns)

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (f"alter table {{table}} cluster by ({', '.join(map(quoted, self.columns))})",)


@dataclass(frozen=True, slots=True)
class SetProperty(Operation):
    EXAMPLES = example(
        'set_property: {name: delta.enableDeletionVectors, value: "false"}',
        "gives a property of the table another value, from which later writes go on",
    )
    TEXT = "set {0.name} to {0.value}"
    FAMILIES = frozenset({Family.DELTA, Family.ICEBERG})
    name: str
    value: str

    def sql(self, before: Truth, after: Truth) -> tuple[str, ...]:
        return (
            f"alter table {{table}} set tblproperties ({text(self.name)} = {text(self.value)})",
        )


_PROCEDURES: Final = {
    6: ("downgrade_table", "SIX"),
    8: ("upgrade_table", "EIGHT"),
    9: ("upgrade_table", "NINE"),
}
"""What brings a table of Hudi to a version, and what it calls the version. Both names are of one
procedure, which answers false where it fails, and raises nothing (`UpgradeOrDowngradeProcedure`).
"""
_NEWEST: Final = 3
"""Iceberg's newest format version."""


@dataclass(frozen=True, slots=True)
class SetTableVersion(Operation):
    EXAMPLES = (
        Example(
            "set_table_version: 6",
            "upgrades or downgrades a table of Hudi to version 6, 8 or 9, see "
            "[below](#table-versions)",
        ),
        Example("set_table_version: 3", "upgrades a table of Iceberg to format version 3"),
    )
    TEXT = "set the table version to {0.version}"
    FAMILIES = frozenset({Family.HUDI, Family.ICEBERG})
    TRACE = StepTrace.TABLE_VERSION
    SHORT = "version"
    version: int

    def statements(self, context: StepContext) -> Statements:
        if context.kind.family is Family.ICEBERG:
            properties = f"'format-version' = '{self.version}'"
            return (Sql(f"{ALTER_TABLE} set tblproperties ({properties})"),)
        procedure, version = _PROCEDURES[self.version]
        return (call_hudi(procedure, f"to_version => '{version}'"),)

    def unsupported(self, kind: TableKind) -> str:
        match kind.family:
            case Family.HUDI if self.version not in _PROCEDURES:
                allowed = ", ".join(map(str, _PROCEDURES))
                return f"has no table version {self.version}; allowed: {allowed}"
            case Family.ICEBERG if self.version != _NEWEST:
                return f"tables can be brought to version {_NEWEST}, and no other"
            case Family.DELTA:
                return "tables have versions of a protocol, which their features decide"
        return Operation.unsupported(self, kind)


_OF_FILES: Final = Compact, Cluster, Clean, Archive, RewriteDataFiles
_OF_METADATA: Final = RewriteManifests, RewritePositionDeletes, RemoveOrphans, Analyze, Checkpoint
MAINTENANCE_STEPS: Final[Mapping[str, type[Operation]]] = {
    name_in_files(kind): kind for kind in (*_OF_FILES, *_OF_METADATA)
}
"""What may never change an answer: after each of them rows and columns are those of before."""
MAINTENANCE: Final = "maintenance"


@dataclass(frozen=True, slots=True)
class Maintain(Operation):
    EXAMPLES = example("maintain", "does what the axis `maintenance` says, see [below](#services)")
    TEXT = "maintain the table"
    FAMILIES = WITH_DELETES

    def axis(self) -> str:
        return MAINTENANCE

    def following(self, value: str) -> Operation:
        return MAINTENANCE_STEPS[value]()

    def statements(self, context: StepContext) -> Statements:
        return ()  # in a variant it is another operation

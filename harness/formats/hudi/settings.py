"""The settings of Hudi tables: their values, what a writer is told of them, and which cannot be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.core.setting_values import HANDOVER_VERSION, SettingValues
from harness.formats import layout
from harness.formats.api import BY_FRAME, CREATED_BY, VariantSettings
from harness.model.schema import MergeMode, Table
from harness.scenario.definition import SCHEMA_CHANGES, WRITE_CLIENT, Scenario
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.unfinished_writes import BeginWrite
from harness.scenario.statements import Statement, under

METADATA_TABLE: Final = "metadata_table"
WITH_STATISTICS: Final = ("on", "column_statistics")
"""The values with which it may have statistics of columns."""
INDEX: Final = "index"
MERGER: Final = "record_merger"
INSERT_OPERATION: Final = "insert_operation"
COLUMN_DROPS: Final = "column_drops"
SCHEMA_ON_READ: Final = "schema_on_read"
ENCODED: Final = "encoded_partitions"
PARTITION_COLUMNS: Final = "partition_columns"
DROPPED: Final = "dropped"
ROW_GROUPS: Final = "row_groups"
CONCURRENCY: Final = "concurrency"
SMALL_FILES: Final = "small_files"
UPSERT: Final = "upsert"
CONSISTENT: Final = "consistent_bucket"

INDEX_TYPE: Final = "hoodie.index.type"
NON_BLOCKING: Final = "non_blocking"
_BUCKETS: Final = "hoodie.bucket.index.num.buckets"
_LOCK: Final = "hoodie.write.lock"
_MODE: Final = "hoodie.write.concurrency.mode"
_LOCKED: Final = {
    # What a writer left that is not completed may be another one's that still writes.
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    # Its locks are files: it needs no other service.
    f"{_LOCK}.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
}
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "optimistic": {_MODE: "optimistic_concurrency_control", **_LOCKED},
    NON_BLOCKING: {
        _MODE: "non_blocking_concurrency_control",
        **_LOCKED,
        # Both find the same file group for a key without asking each other.
        INDEX_TYPE: "BUCKET",
        _BUCKETS: "1",
    },
}
"""The settings of a session by mode (Hudi documentation, "Concurrency Control")."""

SETTINGS: Final = {
    "table_version": SettingValues(
        ("6", "8", "9"),
        "the version in which the table is created; if absent, the writer's own (0.15.0: 6, "
        "1.0.2: 8, 1.2.0: 9). A table created in another version is a refused step",
    ),
    COLUMN_DROPS: SettingValues(
        ("on", "off"),
        "whether columns can be dropped and renamed; if absent, on. Hudi's default is off: 1.2.0 "
        "then refuses both",
    ),
    SCHEMA_ON_READ: SettingValues(
        ("on", "off"),
        "whether a writer keeps a history of the schema; if absent, on. Hudi's default is off: "
        "columns can be added then, and nothing else",
    ),
    "auto_upgrade": SettingValues(
        ("on", "off"),
        "whether a newer writer upgrades an older table with its first write; if absent, on "
        "(Hudi's default)",
    ),
    HANDOVER_VERSION: SettingValues(
        ("6", "8"),
        "of two writers: the version to which the first one brings the table before the other goes "
        "on; if absent, it leaves the table as it is. Where it does not get there, the step of the "
        "handover is refused",
    ),
    # It takes two fifths of the time of a write.
    METADATA_TABLE: SettingValues(
        ("off", "on", "column_statistics", "bloom_filters"),
        "`on`: the table keeps a list of its files, and what else the writer's version puts there "
        "by itself (0.15.0: nothing, 1.0.2 and 1.2.0: statistics of columns); the others name what "
        "is beside the list; if absent, off",
    ),
    INDEX: SettingValues(
        (
            *("simple", "bloom", "global_simple", "global_bloom"),
            *("record_level", "bucket", CONSISTENT),
        ),
        "how a write finds the file of a key that is there: by reading the keys, by bloom filters "
        "and least and greatest keys, by either of all partitions, by the metadata table, or by "
        "the key's hash, with two files to a partition, or as many as there were clusterings "
        "(`consistent_bucket`, merge-on-read); if absent, simple",
    ),
    MERGER: SettingValues(
        ("avro", "spark"),
        "whether records are merged and written as Avro or as rows of Spark; the latter stand in "
        "log files as Parquet; if absent, avro",
    ),
    INSERT_OPERATION: SettingValues(
        (UPSERT, "insert", "bulk_insert"),
        "what the step `insert` does; `upsert` and `touch` always replace rows by their key; if "
        "absent, upsert",
    ),
    SMALL_FILES: SettingValues(
        ("left", "filled"),
        "whether new rows go into file groups that are there and small, as Hudi does by itself, or "
        "into ones of their own; if absent, left",
    ),
    CONCURRENCY: SettingValues(
        MODES,
        "how [two writers at once](#two-writers-at-once) are kept apart; if absent, there is one "
        "writer",
    ),
    PARTITION_COLUMNS: SettingValues(
        ("kept", DROPPED), "whether files have the partition columns too; if absent, kept"
    ),
    ENCODED: SettingValues(
        ("off", "on"), "whether `a=b` becomes the folder `p=a%3Db`; if absent, off"
    ),
    ROW_GROUPS: SettingValues(("usual", "small"), "`small`: a row group for every 100 rows"),
    SCHEMA_CHANGES: SettingValues(
        ("sql", WRITE_CLIENT),
        "whether `alter table` changes columns or [Hudi's write client]"
        "(#what-the-metastore-is-told), which tells the metastore nothing; if absent, sql",
    ),
    CREATED_BY: SettingValues(
        ("sql", BY_FRAME),
        "`frame`: a DataFrame without rows makes the table, and the sync its entry in the catalog. "
        "The files then have partition columns where the table declares them, so `partitioned` may "
        "be `middle` and `two`; SQL has them last. If absent, sql",
    ),
    "meta_fields": SettingValues(
        ("synced", "omitted", "none"),
        "`omitted`: the sync tells the catalog none of the `_hoodie_` columns (Spark's ALTER "
        "writes them back). `none`: the files have none either; Hudi itself then refuses updates "
        "after a schema change",
    ),
}

OPERATION: Final = "hoodie.spark.sql.insert.into.operation"
EVOLVES: Final = "hoodie.schema.on.read.enable"
"""Off by itself; schema changes beyond adding a column need it (Hudi documentation, "Schema
Evolution"), and with it Hudi 1.0 and later refuse partial updates of merge-on-read tables."""
ALLOW_DROPS: Final = "hoodie.datasource.write.schema.allow.auto.evolution.column.drop"
"""Off by itself; Hudi 1.2 refuses to drop or rename a column then (apache/hudi#19766)."""
URL_ENCODED: Final = "hoodie.datasource.write.partitionpath.urlencode"
SPARK_MERGER: Final = "spark_merger"
"""Of the names in lock data: the class that merges records as rows of Spark."""
ROWS_BEFORE_CHECK: Final = 100
"""Parquet's writer looks at the size of a row group after so many rows (`ParquetProperties`), and
Hudi's has no setting for it."""

MOVES: Final = "hoodie.simple.index.update.partition.path"
"""Else a row of another partition is updated there (Hudi documentation, "All Configurations")."""

_SWITCH: Final = {"on": "true", "off": "false"}
_SWITCHED: Final = {
    "auto_upgrade": "hoodie.write.auto.upgrade",
    COLUMN_DROPS: ALLOW_DROPS,
    SCHEMA_ON_READ: EVOLVES,
}
_WITHOUT_PARTITIONS: Final = "hoodie.datasource.write.drop.partition.columns"
_STATISTICS: Final = "hoodie.metadata.index.column.stats.enable"
_BLOOM: Final = "hoodie.metadata.index.bloom.filter.enable"
_CLUSTERING: Final = "org.apache.hudi.client.clustering"
_OPTIONS: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("meta_fields", "omitted"): {"hoodie.datasource.hive_sync.omit_metadata_fields": "true"},
    # With `on` alone, what else is in it is the writer's own choice.
    (METADATA_TABLE, "column_statistics"): {_STATISTICS: "true", _BLOOM: "false"},
    (METADATA_TABLE, "bloom_filters"): {
        _STATISTICS: "false",
        _BLOOM: "true",
        "hoodie.bloom.index.use.metadata": "true",
    },
    # Files are written without them; readers take their values from the names of folders.
    (PARTITION_COLUMNS, DROPPED): {_WITHOUT_PARTITIONS: "true"},
    # How a write finds the files of keys that are there; `simple` is Spark's default.
    (INDEX, "simple"): {INDEX_TYPE: "SIMPLE"},
    (INDEX, "bloom"): {INDEX_TYPE: "BLOOM"},
    (INDEX, "global_simple"): {INDEX_TYPE: "GLOBAL_SIMPLE"},
    (INDEX, "global_bloom"): {INDEX_TYPE: "GLOBAL_BLOOM"},
    (INDEX, "bucket"): {INDEX_TYPE: "BUCKET", _BUCKETS: "2"},
    (INDEX, CONSISTENT): {
        INDEX_TYPE: "BUCKET",
        _BUCKETS: "2",
        "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
        # A clustering splits buckets that are too large, and merges those that are too small.
        "hoodie.bucket.index.max.num.buckets": "8",
        "hoodie.bucket.index.min.num.buckets": "1",
        "hoodie.clustering.plan.strategy.class": (
            f"{_CLUSTERING}.plan.strategy.SparkConsistentBucketClusteringPlanStrategy"
        ),
        "hoodie.clustering.execution.strategy.class": (
            f"{_CLUSTERING}.run.strategy.SparkConsistentBucketClusteringExecutionStrategy"
        ),
        "hoodie.clustering.updates.strategy": (
            f"{_CLUSTERING}.update.strategy.SparkConsistentBucketDuplicateUpdateStrategy"
        ),
    },
    (INDEX, "record_level"): {
        INDEX_TYPE: "RECORD_INDEX",
        "hoodie.metadata.record.index.enable": "true",
    },
    **{(CONCURRENCY, mode): options for mode, options in MODES.items()},
    # Else such a record could not be written into a log file.
    (MERGER, "spark"): {"hoodie.logfile.data.block.format": "parquet"},
    # Hudi's own default; else each insert has file groups of its own (`hudi.SESSION`).
    (SMALL_FILES, "filled"): {"hoodie.parquet.small.file.limit": "104857600"},
    # Pages cannot be smaller than what Parquet sets aside for one.
    (ROW_GROUPS, "small"): {"hoodie.parquet.block.size": "1", "hoodie.parquet.page.size": "64"},
    # Else each task of an insert writes a file of its own.
    (INSERT_OPERATION, "bulk_insert"): {
        "hoodie.bulkinsert.sort.mode": "GLOBAL_SORT",
        "hoodie.bulkinsert.shuffle.parallelism": "1",
    },
}
_MERGERS: Final = "hoodie.datasource.write.record.merger.impls"

_MERGE_MODES: Final = {
    MergeMode.EVENT_TIME: ("EVENT_TIME_ORDERING", "DefaultHoodieRecordPayload"),
    MergeMode.COMMIT_TIME: ("COMMIT_TIME_ORDERING", "OverwriteWithLatestAvroPayload"),
    MergeMode.PARTIAL_UPDATE: ("", "PartialUpdateAvroPayload"),
}
"""What a merge mode is called, and the payload class that has it. Hudi 1.0 and later go by the
mode, and infer it from the class (`HoodieTableConfig.inferCorrectMergingBehavior`); 0.15.0 knows
the class alone (Hudi documentation 0.15.0, "Record Payload"). Partial updates have no mode of their
own, so the class alone declares them."""


def merge_properties(table: Table) -> Iterator[tuple[str, str]]:
    """Yield the properties by which a table declares its merge mode; none where it does not."""
    if table.merge_mode is not None:
        mode, payload = _MERGE_MODES[table.merge_mode]
        if mode:
            yield "hoodie.record.merge.mode", mode
        yield "hoodie.datasource.write.payload.class", f"org.apache.hudi.common.model.{payload}"


def session(settings: VariantSettings, names: Mapping[str, str]) -> Mapping[str, str]:
    metadata = settings.get(METADATA_TABLE, "off") != "off"
    options = {"hoodie.metadata.enable": str(metadata).lower()}
    for name, value in settings.items():
        if name in _SWITCHED:
            options[_SWITCHED[name]] = _SWITCH[value]
        options |= _OPTIONS.get((name, value), {})
    if settings.get(MERGER) == "spark":
        options[_MERGERS] = names[SPARK_MERGER]
    return options


def in_any_partition(
    statements: Sequence[Statement], settings: VariantSettings
) -> tuple[Statement, ...]:
    """Return statements under an index that finds keys in all partitions, and lets rows move."""
    usual = _OPTIONS[INDEX, settings.get(INDEX, "simple")][INDEX_TYPE]
    return under(INDEX_TYPE, "GLOBAL_SIMPLE", usual, under(MOVES, "true", "true", statements))


def properties(settings: VariantSettings) -> Iterator[tuple[str, str]]:
    """Yield the table's properties; of its version a session's setting is ignored."""
    if "table_version" in settings:
        yield "hoodie.write.table.version", settings["table_version"]
    if settings.get("meta_fields") == "none":
        yield "hoodie.populate.meta.fields", "false"
    if settings.get(PARTITION_COLUMNS) == DROPPED:
        yield _WITHOUT_PARTITIONS, "true"
    if ENCODED in settings:
        yield URL_ENCODED, _SWITCH[settings[ENCODED]]


def problems(settings: VariantSettings, scenario: Scenario) -> Iterator[str]:
    """Yield why a scenario's table cannot have the settings, or why one of them changes nothing."""
    by, operations = scenario.table.partition_by, [step.operation for step in scenario.steps]
    if settings.get(INDEX) == "record_level" and settings.get(METADATA_TABLE, "off") == "off":
        yield "index=record_level: it is in the metadata table, and metadata_table is off"
    index = settings.get(INDEX, "")
    if index.startswith("global_") and not by:
        same = index.removeprefix("global_")
        yield f"index={index}: the table has no partitions, so it would be index={same}"
    how = settings.get(INSERT_OPERATION, UPSERT)
    if how != UPSERT and not any(isinstance(operation, Insert) for operation in operations):
        yield f"insert_operation={how}: no step is an insert; the others replace rows by their key"
    yield from _partition_problems(settings, scenario)
    changes_schema = any(operation.CHANGES_SCHEMA for operation in operations)
    if settings.get(SCHEMA_CHANGES) == WRITE_CLIENT and not changes_schema:
        yield "schema_changes=write_client: no step changes the columns"
    if settings.get(ROW_GROUPS) == "small":
        most = layout.largest_file(scenario)
        if most <= ROWS_BEFORE_CHECK:
            yield (
                f"row_groups=small: Hudi's writer begins no second row group before "
                f"{ROWS_BEFORE_CHECK} rows of a file; the largest file of this table has {most}"
            )
    if settings.get(CONCURRENCY) == NON_BLOCKING and INDEX in settings:
        yield "concurrency=non_blocking: it needs an index by buckets, and index says another one"
    begins = any(isinstance(operation, BeginWrite) for operation in operations)
    if begins and CONCURRENCY not in settings:
        yield "a second writer waits for its lock, and without concurrency there is none"


def _partition_problems(settings: VariantSettings, scenario: Scenario) -> Iterator[str]:
    by = scenario.table.partition_by
    if settings.get(PARTITION_COLUMNS) == DROPPED and not by:
        yield "partition_columns=dropped: the table has no partitions"
    if settings.get(ENCODED) == "on" and not by:
        yield "encoded_partitions=on: the table has no partitions"
    elif settings.get(ENCODED) == "on" and not layout.has_escaped_values(scenario):
        yield "encoded_partitions=on: no value of a partition has a character that is encoded"

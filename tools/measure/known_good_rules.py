"""The kinds of refusals of readers that should be right: whose fault each is, and its source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tools.measure import known_good_refusals as evidence
from tools.measure.known_good_cell import KnownGoodCell

READER: Final = "reader"
SETTINGS: Final = "settings"
"""Nobody's: what was set for the reader cannot work with what was set for the table."""
DOUBTFUL: Final = "doubtful"


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """A kind of refusal; its evidence is looked up for each cell."""

    group: str
    whose: str
    judgement: str
    source: str
    error: str
    """A pattern of the error's text."""
    reader: str
    """A pattern that the reader's text begins with."""
    evidence: Callable[[KnownGoodCell], str | None]


OMITTED: Final = "hoodie.datasource.hive_sync.omit_metadata_fields (Hudi, Configurations)"
RULES: Final = (
    RefusalRule(
        "archived timeline",
        READER,
        "Trino 476 takes the empty folder of archived commits for one that is missing.",
        "trinodb/trino#26897, merged for a later version",
        "Could not load archived commit timeline.*listDirectEntries",
        "trino-476",
        evidence.archived,
    ),
    RefusalRule(
        "newer timeline layout",
        READER,
        "PrestoDB 0.283 has Hudi 0.12.1, which does not know this layout of the timeline.",
        "TimelineLayoutVersion; docs/locks.md, of Hudi 0.11.1, whose error is the same",
        r"ValidationUtils\.checkArgument",
        "prestodb",
        evidence.layout,
    ),
    RefusalRule(
        "Hudi's columns not in the catalog",
        READER,
        "Hive looks up Hudi's columns in the catalog's list, which was synced without them.",
        OMITTED,
        "Field: _hoodie_commit_time, does not have a defined type",
        "hive-3.1.3",
        evidence.bare,
    ),
    RefusalRule(
        "by position, Hudi's columns not in the catalog",
        SETTINGS,
        "Told to go by position, it meets one of Hudi's columns in the place of the table's.",
        OMITTED,
        "_hoodie_commit_seqno|spi.type.BigintType|GroupColumnIO|declares the column as type BINARY",
        "trino|presto",
        evidence.counted,
    ),
    RefusalRule(
        "delete files",
        READER,
        "Trino 368 knows no delete files of Iceberg and says so.",
        "trinodb/trino#7226",
        "Iceberg tables with delete files are not supported",
        "trino-368",
        evidence.deletes,
    ),
    RefusalRule(
        "struct changed, vectorised reader",
        READER,
        "Hudi refuses structs whose parts changed in Spark's vectorised reader, on purpose.",
        "apache/hudi#19165",
        "Nested types with type changes.*cannot be read in vectorized mode",
        "spark",
        evidence.changed,
    ),
    RefusalRule(
        "no part of a struct left",
        READER,
        "A log file has none of the struct's parts that are asked for; Hudi 1.0.2 indexes with -1.",
        "none known",
        "IndexOutOfBoundsException: Index -1 out of bounds for length 0",
        "spark-3.5.8-hudi-1.0.2",
        evidence.no_part_left,
    ),
    RefusalRule(
        "days of the Julian calendar",
        READER,
        "Spark asks which calendar old days are of, where a file does not say; it is documented.",
        "SPARK-31404; spark.sql.parquet.datetimeRebaseModeInRead",
        "READ_ANCIENT_DATETIME",
        "spark",
        evidence.ancient,
    ),
    RefusalRule(
        "bounds of a widened column",
        READER,
        "Trino 476 takes bounds that were written as int for long.",
        "trinodb/trino#29802",
        "Integer cannot be cast to class java.lang.Long.*convertIcebergValueToTrino",
        "trino-476",
        evidence.widened,
    ),
    RefusalRule(
        "part of a struct of the same name",
        READER,
        "PrestoDB finds parts of structs by name, and meets a dropped one of another type.",
        "prestodb/presto#28539, of a later version",
        r"com\.facebook\.presto\.common\.type\.VarcharType",
        "prestodb-0.283",
        evidence.same_name,
    ),
    RefusalRule(
        "names and positions",
        READER,
        "Hudi's reader for Hive asks for its own columns by names that the catalog has not.",
        "apache/hudi#14673, apache/hudi#19506",
        "Error ordering fields for storage read",
        "hive-3.1.3|prestodb",
        evidence.asked_for_more,
    ),
    RefusalRule(
        "operation of a newer Hudi",
        READER,
        "Hudi 0.12.1 does not know the name of the operation in a newer Hudi's commit.",
        "its enum WriteOperationType, as the error lists it",
        "Cannot deserialize value of type.*WriteOperationType",
        "prestodb",
        evidence.operation,
    ),
    RefusalRule(
        "timestamps, log files merged",
        READER,
        "Hudi's reader gives PrestoDB a timestamp as a whole number.",
        "apache/hudi#3391",
        "LongWritable cannot be cast to class org.apache.hadoop.hive.serde2.io.TimestampWritable ",
        "prestodb",
        evidence.realtime,
    ),
    RefusalRule(
        "timestamps of 64 bits",
        READER,
        "Hive 3.1.3 reads timestamps of Parquet's of 96 bits alone.",
        "HIVE-21215",
        "LongWritable cannot be cast to class .*TimestampWritableV2",
        "hive-3.1.3",
        evidence.int64,
    ),
    RefusalRule(
        "timestamps, Hudi's columns not in the catalog",
        DOUBTFUL,
        "Hive is wrong, for the files hold the values; how it comes to it the records do not tell.",
        "none known",
        "Text cannot be cast to class org.apache.hadoop.io.LongWritable",
        "hive-3.1.3.*schema-on-read=on",
        evidence.stamp_of_bare,
    ),
    RefusalRule(
        "stack overflow",
        READER,
        "PrestoDB takes splits from a queue by recursion; of the moment, asked once more today.",
        "AsyncQueue.borrowBatchAsync, as the error says",
        "java.lang.StackOverflowError",
        "prestodb-0.283.connector=hudi",
        evidence.chance,
    ),
    RefusalRule(
        "table without a file",
        READER,
        "Hive's MapReduce job fails on a table that has no file yet; its fetch task does not.",
        "none known",
        "Hoodie table not found in path file:/.hoodie|Cannot get parent path of a root path",
        "hive-3.1.3.path=mapreduce",
        evidence.nothing_written,
    ),
    RefusalRule(
        "after a refused write",
        DOUBTFUL,
        "PrestoDB 0.283 dies of a NullPointerException; of what the records do not tell.",
        "none known",
        r"NullPointerException: None at java.base/java.util.ArrayList",
        "prestodb-0.283.connector=hive",
        evidence.after_refused,
    ),
)
"""The kinds of refusals; a cell must be of exactly one."""

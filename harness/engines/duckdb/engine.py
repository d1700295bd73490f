"""DuckDB as a reader of Delta and Iceberg tables, by its extensions, and of plain Parquet files.

Delta's kernel in Rust tells which data files there are, what becomes of their columns, and which
rows are gone; DuckDB reads the files. delta-rs is built on the same kernel. The extension for
Iceberg is code of its own, in C++. Of a plain Hive table DuckDB is given the folder, and the types
of what the names of folders hold; it knows no metastore, and shows the columns that files have.
"""

from pathlib import Path
from typing import Final

from harness.core.setting_values import SettingValues
from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.duckdb import answers, rest_catalog
from harness.engines.duckdb.writes import WRITES, creation
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.python_library import POINTER, Description, Entry, PythonLibrary, source_of
from harness.engines.query_sql import ANSI, select
from harness.model.commit import AS_OF

UNION: Final = "union-by-name"
"""Setting of a reader: `read_parquet(…, union_by_name = …)`."""
BY_HAND: Final = {
    "delta": (
        "load delta;",
        "attach 'FOLDER' as \"DATABASE\" (type delta, internal_table_name 't');",
    ),
    "iceberg": (
        "load avro;",
        "load iceberg;",
        'create schema "DATABASE";',
        f"-- METADATA is the table's parameter {POINTER} in the metastore.",
        'create view "DATABASE"."t" as select * from iceberg_scan(\'METADATA\');',
    ),
}
TIME_TRAVEL: Final[TimeTravel] = {
    ("delta", AS_OF): TimeTravelWords("{table} at (version => {instant})"),
    ("iceberg", AS_OF): TimeTravelWords("{table}"),
}
"""DuckDB's manual, "Delta Extension"; an older snapshot is an argument of `iceberg_scan` ("Iceberg
Extension", snapshot_from_id)."""
FINGERPRINTS: Final = FingerprintWords(
    {
        "boolean": "cast({0} as varchar)",
        "integer": "cast({0} as varchar)",
        "float": "case when isnan({0}) then 'NaN' "
        "else cast(cast(cast(cast({0} as double) as bit) as bigint) as varchar) end",
        "decimal": "cast({0} as varchar)",
        "date": "cast({0} - date '1970-01-01' as varchar)",
        "timestamp": "cast(epoch_us({0}) as varchar)",
        "string": "{0}",
        "binary": "lower(hex({0}))",
        "array": "array_to_string(list_transform({0}, lambda {x}: {hash}), '')",
        "map": "array_to_string(list_sort(list_transform(map_entries({0}), lambda {x}: {hash})),"
        " '')",
    },
    sum="sum(cast(cast(translate(substr({0}, 1, 16), 'abcdef', '012345') as bigint)"
    " as decimal(38, 0)))",
)
"""DuckDB's manual, "Bitstring Type", "Timestamp Functions", "Lambda Functions", "Map Functions"."""


def statement(question: Question, settings: ReaderSettings) -> str:
    return select(question, ANSI, TIME_TRAVEL, words=FINGERPRINTS)


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    """Return what the worker is given of a table. Raises HarnessError: a type is none of ours."""
    table = {"database": database, "name": name}
    family, source = source_of(entry)
    described = {**table, "family": family, "source": source.removeprefix("file:")}
    if family == "iceberg":
        return {**described, "snapshot": past and past.instant}
    if family == "delta":
        return described
    return {**described, "keys": {key.name: key.type for key in entry.partitionKeys or ()}}


def by_hand(settings: ReaderSettings, format_: FormatFacts) -> tuple[str, ...]:
    if format_.family in BY_HAND:
        return BY_HAND[format_.family]
    options = "".join(f", union_by_name = {value}" for value in settings.values())
    files = f"read_parquet('FOLDER{answers.FILES}', hive_partitioning = …{options})"
    return (
        'create schema "DATABASE";',
        f'create view "DATABASE"."t" as select * from {files};',
        "-- hive_types has the types of the partition columns.",
    )


ENGINE: Final = PythonLibrary(
    "duckdb",
    Path(answers.__file__),
    ("delta", "iceberg", "hive"),
    statement,
    describe,
    by_hand,
    TIME_TRAVEL,
    settings={
        UNION: SettingValues(
            ("true", "false"), "columns of plain files are those of all files, not of the first one"
        )
    },
    setting_families={UNION: ("hive",)},
    conf=lambda settings: {name.replace("-", "_"): value for name, value in settings.items()},
    files=("parquet",),
    fingerprints=FINGERPRINTS,
    writes=WRITES,
    creates=creation,
    pointer=POINTER,
    beside=(Path(rest_catalog.__file__),),
)

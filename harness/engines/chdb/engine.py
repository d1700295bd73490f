"""chDB as a reader of Iceberg and Delta tables and of plain Parquet files, by ClickHouse's SQL.

It is given a table function: `icebergLocal` with the folder and the metadata file of a table,
`deltaLakeLocal`, which asks Delta's kernel in Rust, or `file` with the data files of a folder.
"""

import re
from pathlib import Path
from typing import Final

from harness.core.records import Refusal
from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.chdb import answers
from harness.engines.fingerprint_sql import FingerprintWords
from harness.engines.format_facts import FormatFacts
from harness.engines.library_writes import LibraryWrites, arrow_table
from harness.engines.python_library import POINTER, Description, Entry, PythonLibrary, source_of
from harness.engines.query_sql import ANSI, select
from harness.model.commit import AS_OF
from harness.model.identifiers import quoted

PARQUET: Final = ".parquet"
TIME_TRAVEL: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("{table}"),
    ("delta", AS_OF): TimeTravelWords("{table}"),
}
PAST: Final = {"iceberg": "iceberg_snapshot_id", "delta": "delta_lake_snapshot_version"}
"""The setting of a query that names a snapshot or a version (ClickHouse's manual, "icebergLocal",
"deltaLakeLocal")."""
_DAY: Final = re.compile(r"\bdate ('[^']+')")
_MOMENT: Final = re.compile(r"\btimestamp ('[^']+')")
_CODE: Final = re.compile(r"^Code: \d+\. DB::Exception: (.*?)(?: \((\w+)\))?\.?\s*$", re.DOTALL)


FINGERPRINTS: Final = FingerprintWords(
    {
        "boolean": "toString({0})",
        "integer": "toString({0})",
        "float": "if(isNaN({0}), 'NaN', toString(reinterpretAsInt64(toFloat64({0}))))",
        "decimal": "toDecimalString({0}, {scale})",
        "date": "toString(toInt32({0}))",
        "timestamp": "toString(toUnixTimestamp64Micro({0}))",
        "string": "{0}",
        "array": "arrayStringConcat(arrayMap({x} -> {hash}, {0}), '')",
        "map": "arrayStringConcat(arraySort(arrayMap({x} -> {hash}, "
        "arrayZip(mapKeys({0}), mapValues({0})))), '')",
    },
    hash="lower(hex(MD5({0})))",
    sum="sum(toDecimal128OrNull(translate(substr({0}, 1, 16), 'abcdef', '012345'), 0))",
    entry=("{x}.1", "{x}.2"),
)
"""ClickHouse's manual, "Hash Functions", "Type Conversion Functions", "Array Functions". Bytes are
of the type of texts, so that nothing tells which of both a column has."""


def statement(question: Question, settings: ReaderSettings) -> str:
    r"""Return the SQL of a question.

    A backslash escapes in names and texts (manual, "Syntax"). `date '1500-01-01'` would be of a
    type that begins in 1970, and `timestamp '…'` of one without fractions ("Date", "DateTime").
    """
    sql = select(question, ANSI, TIME_TRAVEL, nan="isNaN({column})", words=FINGERPRINTS)
    sql = sql.replace("\\", "\\\\")
    sql = _MOMENT.sub(r"toDateTime64(\1, 6, 'UTC')", _DAY.sub(r"toDate32(\1)", sql))
    if question.past is None:
        return sql
    return f"{sql} settings {PAST[question.format.family]} = {question.past.instant}"


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    family, source = source_of(entry)
    path = source.removeprefix("file:")
    match family:
        case "iceberg":
            metadata = Path("/" + path.lstrip("/"))
            file = text(f"{metadata.parent.name}/{metadata.name}")
            folder = text(str(metadata.parent.parent))
            function = f"icebergLocal({folder}, settings iceberg_metadata_file_path = {file})"
        case "delta":
            function = f"deltaLakeLocal({text(path)})"
        case _:
            function = f"file({text(path + files(Path(path)))}, 'Parquet')"
    called = quoted(f"{database}.{name}", ANSI).replace("\\", "\\\\")
    return {"name": called, "source": function, "metadata": entry.parameters.get(POINTER, "")}


def files(folder: Path) -> str:
    """Return the pattern for the data files of a folder: Hive names them without an ending."""
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    data = {name for name in names if not name.startswith((".", "_"))}
    return f"/**/*{PARQUET}" if all(name.endswith(PARQUET) for name in data) else "/**/*"


def text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def by_hand(settings: ReaderSettings, format_: FormatFacts) -> tuple[str, ...]:
    function = {"iceberg": "icebergLocal('FOLDER')", "delta": "deltaLakeLocal('FOLDER')"}.get(
        format_.family, "file('FOLDER/**/*', 'Parquet')"
    )
    return (
        '-- In Python: import chdb; chdb.query(""" … """, \'ArrowTable\')',
        f'-- "DATABASE"."t" is {function}',
    )


def refusal(class_: str, text: str) -> Refusal:
    """Return an error by the name that ClickHouse gives it.

    >>> seen = refusal("RuntimeError", "Code: 47. DB::Exception: Unknown `c`. (UNKNOWN_IDENTIFIER)")
    >>> seen.kind, seen.message
    ('UNKNOWN_IDENTIFIER', 'Unknown `c`.')
    """
    if match := _CODE.match(text):
        return Refusal(match[2] or class_, match[1])
    return Refusal(class_, text)


WRITES: Final[LibraryWrites] = {"insert": lambda write: f"table.insert({arrow_table(write)})"}
"""Rows of Iceberg tables (ClickHouse's manual, "icebergLocal", "Writes into Iceberg")."""


ENGINE: Final = PythonLibrary(
    "chdb",
    Path(answers.__file__),
    ("iceberg", "delta", "hive"),
    statement,
    describe,
    by_hand,
    TIME_TRAVEL,
    refusal=refusal,
    files=("parquet",),
    fingerprints=FINGERPRINTS,
    writes={"iceberg": WRITES},
    pointer=POINTER,
)

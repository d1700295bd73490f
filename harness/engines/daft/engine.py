"""Daft as a reader of Iceberg and Delta tables and of plain Parquet files, by its SQL.

PyIceberg and delta-rs tell it which files a table has; Daft maps columns and reads the files
itself, in Rust. Of a plain Hive table it is given the folder, and shows the columns of its files.
"""

import re
from pathlib import Path
from typing import Final

from harness.core.records import Refusal
from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.daft import answers
from harness.engines.format_facts import FormatFacts
from harness.engines.library_writes import frame_creation, frame_writes
from harness.engines.python_library import POINTER, Description, Entry, PythonLibrary, source_of
from harness.engines.query_sql import ANSI, NAN_FUNCTION, select
from harness.model.commit import AS_OF
from harness.model.identifiers import quoted

TIME_TRAVEL: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("{table}"),
    ("delta", AS_OF): TimeTravelWords("{table}"),
}
"""Arguments of `read_iceberg` (snapshot_id) and of `read_deltalake` (version)."""
_MOMENT: Final = re.compile(r"timestamp ('[^']+')")
BY_HAND: Final = {
    "iceberg": f"read_iceberg(StaticTable.from_metadata('METADATA'))  # parameter {POINTER}",
    "delta": "read_deltalake('FOLDER')",
    "hive": f"read_parquet('FOLDER{answers.FILES}', hive_partitioning=…)",
}


def statement(question: Question, settings: ReaderSettings) -> str:
    """Return the SQL of a question, which knows a table by one name.

    To Daft `timestamp '…'` is in UTC, as a timestamp of Delta's is; another one has no zone.
    """
    sql = select(question, ANSI, TIME_TRAVEL, nan=NAN_FUNCTION)
    if question.format.family != "delta":
        sql = _MOMENT.sub(r"cast(\1 as timestamp)", sql)
    path = f"{quoted(question.database, ANSI)}.{quoted(question.table, ANSI)}"
    name = f"{question.database}.{question.table}".replace('"', '""')
    return sql.replace(f" from {path}", f' from "{name}"', 1)


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    table = {"name": f"{database}.{name}", "past": past and past.instant}
    family, source = source_of(entry)
    described = {**table, "family": family, "source": source}
    if family == "iceberg":
        return described
    return {**described, "partitioned": bool(entry.partitionKeys)}


def by_hand(settings: ReaderSettings, format_: FormatFacts) -> tuple[str, ...]:
    return (
        "-- In Python:",
        "--   from pyiceberg.table import StaticTable",
        f"--   frame = daft.{BY_HAND[format_.family]}",
        '--   daft.sql(""" … """, **{\'DATABASE.t\': frame}).to_arrow()',
    )


def refusal(class_: str, text: str) -> Refusal:
    r"""Return an error by its last cause, of which those before it are the outlines.

    >>> refusal("DaftCoreException", "Daft error: DaftError::FieldNotFound Field b not found").kind
    'DaftCoreException'
    """
    return Refusal(class_, text.partition("\n")[0], cause=text.partition("\n")[2].strip())


ENGINE: Final = PythonLibrary(
    "daft",
    Path(answers.__file__),
    ("iceberg", "delta", "hive"),
    statement,
    describe,
    by_hand,
    TIME_TRAVEL,
    refusal=refusal,
    files=("parquet",),
    # Delta tables: Daft's manual, `DataFrame.write_deltalake`.
    writes={"delta": frame_writes("daft.from_arrow({rows}).write_deltalake(table, mode={mode!r})")},
    creates=frame_creation(
        "daft.from_arrow({rows}).write_deltalake(table, "
        "partition_cols={partition_by}, configuration={properties})"
    ),
)

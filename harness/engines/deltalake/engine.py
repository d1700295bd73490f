"""delta-rs as a reader of Delta tables: the protocol read by code of its own, in Rust.

DataFusion plans and answers the SQL (`QueryBuilder`). An older version is an argument of
`DeltaTable`; in the SQL it has a name of its own (delta-rs's manual, "Loading a Table").
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.deltalake import answers
from harness.engines.python_library import Description, Entry, PythonLibrary, folder_of
from harness.engines.query_sql import ANSI, select
from harness.model.commit import AS_OF

BY_HAND: Final = (
    "-- In Python, with from deltalake import DeltaTable, QueryBuilder:",
    '--   builder = QueryBuilder().register("t", DeltaTable("FOLDER"))',
    '--   builder.execute(""" … """).read_all()  # below, with "t" alone as the table',
    '--   "t@v3" is DeltaTable("FOLDER", version=3)',
)
TIME_TRAVEL: Final[TimeTravel] = {
    ("delta", AS_OF): TimeTravelWords("{table}", suffix="@v{instant}")
}


def statement(question: Question, settings: ReaderSettings) -> str:  # noqa: ARG001 - as all
    return select(question, ANSI, TIME_TRAVEL)


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    called = f"{name}@v{past.instant}" if past else name
    version = int(past.instant) if past else None
    return {
        "database": database, "name": called, "location": folder_of(entry), "version": version
    }  # fmt: skip


ENGINE: Final = PythonLibrary(
    "deltalake",
    Path(answers.__file__),
    ("delta",),
    statement,
    describe,
    lambda settings, format_: BY_HAND,  # noqa: ARG005 - the same for all
    TIME_TRAVEL,
)

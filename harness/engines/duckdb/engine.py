"""DuckDB as a reader of Delta tables, by its extension.

Delta's kernel in Rust tells which data files there are, what becomes of their columns, and which
rows are gone; DuckDB reads the files. delta-rs is built on the same kernel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.duckdb import answers
from harness.engines.python_library import Description, Entry, PythonLibrary, folder_of
from harness.engines.query_sql import ANSI, select
from harness.model.commit import AS_OF

BY_HAND: Final = (
    "load delta;",
    "attach 'FOLDER' as \"DATABASE\" (type delta, internal_table_name 't');",
)
TIME_TRAVEL: Final[TimeTravel] = {
    ("delta", AS_OF): TimeTravelWords("{table} at (version => {instant})")
}
"""DuckDB's manual, "Delta Extension"."""


def statement(question: Question, settings: ReaderSettings) -> str:  # noqa: ARG001 - as all
    return select(question, ANSI, TIME_TRAVEL)


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    del past
    return {"database": database, "name": name, "location": folder_of(entry)}


ENGINE: Final = PythonLibrary(
    "duckdb",
    Path(answers.__file__),
    ("delta",),
    statement,
    describe,
    lambda settings, format_: BY_HAND,  # noqa: ARG005 - the same for all
    TIME_TRAVEL,
)

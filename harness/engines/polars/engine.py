"""Polars as a reader of Iceberg and Delta tables, by its own reader of Parquet files.

PyIceberg and delta-rs tell it which files a table has, what becomes of their columns, and which
rows are gone. A question is an expression of Python: Polars has no SQL for it.
"""

from pathlib import Path
from typing import Final

from harness.core.records import Refusal
from harness.core.setting_values import SettingValues
from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.format_facts import FormatFacts
from harness.engines.library_writes import frame_creation, frame_writes
from harness.engines.polars import answers
from harness.engines.python_library import (
    POINTER,
    Description,
    Entry,
    PythonLibrary,
    folder_of,
    python_literal,
)
from harness.engines.query_sql import time_travel_words
from harness.model.commit import AS_OF, BRANCH, TAG
from harness.model.query import NULL_IN_LIST, Comparison, Condition, Query

READER: Final = "iceberg-reader"
"""Setting of a reader: `scan_iceberg(reader_override=…)`."""
NO_NAMES: Final = "scan_iceberg takes no name of a tag or a branch"
TIME_TRAVEL: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("snapshot_id={instant}"),
    ("iceberg", TAG): NO_NAMES,
    ("iceberg", BRANCH): NO_NAMES,
    ("delta", AS_OF): TimeTravelWords("version={instant}"),
}
"""Arguments of `scan_iceberg` and of `scan_delta`."""
_TESTS: Final = {
    Comparison.EQUAL: "{0} == {1}",
    Comparison.NOT_EQUAL: "{0} != {1}",
    Comparison.NOT: "~({0} == {1})",
    Comparison.LESS: "{0} < {1}",
    Comparison.AT_MOST: "{0} <= {1}",
    Comparison.GREATER: "{0} > {1}",
    Comparison.AT_LEAST: "{0} >= {1}",
    Comparison.BETWEEN: "{0}.is_between({1})",
    Comparison.IN: "{0}.is_in([{1}])",
    Comparison.NOT_IN: "~{0}.is_in([{1}])",
    Comparison.STARTS_WITH: "{0}.str.starts_with({1})",
    Comparison.NULL: "{0}.is_null()",
    Comparison.NOT_NULL: "{0}.is_not_null()",
    Comparison.NAN: "{0}.is_nan()",
    Comparison.NOT_NAN: "{0}.is_not_nan()",
}


def statement(question: Question, settings: ReaderSettings) -> str:
    query, family = question.query, question.format.family
    arguments = [f"table({question.database!r}, {question.table!r})"]
    if question.past is not None:
        words = time_travel_words(question, TIME_TRAVEL).source
        arguments.append(words.replace("{instant}", question.past.instant))
    if READER in settings:
        arguments.append(f"reader_override={settings[READER]!r}")
    filters = "".join(f".filter({_test(test, family)})" for test in query.conditions)
    limit = f".limit({query.limit})" if query.limit else ""
    return f"pl.scan_{family}({', '.join(arguments)}){filters}{_selected(query)}{limit}.collect()"


def _selected(query: Query) -> str:
    if query.count:
        return ".select(pl.len())"
    if query.extreme:
        return f".select({_column(query.columns[0])}.{query.extreme}())"
    if query.groups:
        path, rows = query.columns
        return f".group_by({_column(path)}.alias({path!r})).agg(pl.len().alias({rows!r}))"
    columns = ", ".join(
        f"{_column(path)}.alias({path!r})" if "." in path else _column(path)
        for path in query.columns
    )
    return f".select({columns})" if columns else ""


def _column(path: str) -> str:
    name, *parts = path.split(".")
    return f"pl.col({name!r})" + "".join(f".struct.field({part!r})" for part in parts)


def _test(condition: Condition, family: str) -> str:
    texts = condition.literals
    # A timestamp of Delta's is in UTC; one of Iceberg's has no zone, see `harness.formats.iceberg`.
    zone = "+00:00" if family == "delta" else ""
    values = (python_literal(t, condition.type, zone) for t in texts if t is not None)
    return _TESTS[condition.test].format(_column(condition.path), ", ".join(values))


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    source = entry.parameters.get(POINTER) or folder_of(entry)
    return {"database": database, "name": name, "source": source}


def by_hand(settings: ReaderSettings, format_: FormatFacts) -> tuple[str, ...]:
    iceberg = f"'METADATA'  # the table's parameter {POINTER} in the metastore"
    source = iceberg if format_.family == "iceberg" else "'FOLDER'"
    return (
        "-- In Python:",
        "--   import polars as pl",
        "--   from datetime import date, datetime",
        "--   from decimal import Decimal",
        f"--   source = {source}",
        "--   def table(database, name): return source",
    )


def refusal(class_: str, text: str) -> Refusal:
    r"""Return an error without the plan that Polars shows below it.

    >>> refusal("ColumnNotFoundError", "unable to find column\n\nResolved plan …").message
    'unable to find column'
    """
    return Refusal(class_, text.partition("\n\n")[0])


ENGINE: Final = PythonLibrary(
    "polars",
    Path(answers.__file__),
    ("iceberg", "delta"),
    statement,
    describe,
    by_hand,
    TIME_TRAVEL,
    settings={
        READER: SettingValues(("native", "pyiceberg"), "what reads the files of Iceberg's tables")
    },
    setting_families={READER: ("iceberg",)},
    refusal=refusal,
    expressions=lambda _: True,
    first="pl.DataFrame({'ready': [1]})",
    unasked={NULL_IN_LIST: "to Polars a list with NULL has that as one more value (is_in)"},
    # Delta tables: Polars's manual, `DataFrame.write_delta`.
    writes={"delta": frame_writes("pl.from_arrow({rows}).write_delta(table, mode={mode!r})")},
    creates=frame_creation(
        "pl.from_arrow({rows}).write_delta(table, "
        "delta_write_options={{'partition_by': {partition_by}, 'configuration': {properties}}})"
    ),
)

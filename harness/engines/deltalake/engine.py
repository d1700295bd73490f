"""delta-rs as a reader of Delta tables: the protocol read by code of its own, in Rust.

DataFusion plans and answers the SQL (`QueryBuilder`). By its other interface Arrow reads the files
(`DeltaTable.to_pyarrow_table`). An older version is an argument of `DeltaTable`; in the SQL it has
a name of its own (delta-rs's manual, "Loading a Table").
"""

from pathlib import Path
from typing import Final

from harness.core.setting_values import SettingValues
from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.datafusion.engine import FINGERPRINTS
from harness.engines.deltalake import answers
from harness.engines.deltalake.writes import WRITES, creation
from harness.engines.python_library import (
    Description,
    Entry,
    PythonLibrary,
    arrow_groups,
    folder_of,
    python_literal,
)
from harness.engines.query_sql import ANSI, select
from harness.model.commit import AS_OF
from harness.model.query import Comparison, Condition

INTERFACE: Final = "interface"
_FILTERS: Final = {
    Comparison.EQUAL: "{0} == {1}",
    Comparison.NOT_EQUAL: "{0} != {1}",
    Comparison.NOT: "~({0} == {1})",
    Comparison.LESS: "{0} < {1}",
    Comparison.AT_MOST: "{0} <= {1}",
    Comparison.GREATER: "{0} > {1}",
    Comparison.AT_LEAST: "{0} >= {1}",
    Comparison.BETWEEN: "({0} >= {1}) & ({0} <= {2})",
    Comparison.IN: "{0}.isin([{values}])",
    Comparison.NOT_IN: "{0}.is_valid() & ~{0}.isin([{values}])",
    Comparison.STARTS_WITH: "pc.starts_with({0}, {1})",
    Comparison.NULL: "{0}.is_null()",
    Comparison.NOT_NULL: "{0}.is_valid()",
    Comparison.NAN: "{0}.is_nan()",
    Comparison.NOT_NAN: "~{0}.is_nan()",
}
"""Expressions of Arrow's, which DeltaTable.to_pyarrow_table takes as filters."""
BY_ARROW: Final = (
    "-- In Python:",
    "--   import pyarrow.compute as pc",
    "--   from datetime import date, datetime",
    "--   from decimal import Decimal",
    "--   from deltalake import DeltaTable",
    "--   def table(database, name): return DeltaTable('FOLDER')  # version=3 for t@v3",
)
BY_HAND: Final = (
    "-- In Python, with from deltalake import DeltaTable, QueryBuilder:",
    '--   builder = QueryBuilder().register("t", DeltaTable("FOLDER"))',
    '--   builder.execute(""" … """).read_all()  # below, with "t" alone as the table',
    '--   "t@v3" is DeltaTable("FOLDER", version=3)',
)
TIME_TRAVEL: Final[TimeTravel] = {
    ("delta", AS_OF): TimeTravelWords("{table}", suffix="@v{instant}")
}


def statement(question: Question, settings: ReaderSettings) -> str:
    if not settings:
        return select(question, ANSI, TIME_TRAVEL, words=FINGERPRINTS)
    query, name = question.query, _called(question.table, question.past)
    filters = " & ".join(map(_filter, query.conditions))
    columns = query.columns[:1] if query.groups else query.columns
    nested = any("." in path for path in columns)
    arguments = [f"columns={[*columns]!r}"] if columns and not nested else []
    arguments += [f"filters={filters}"] if filters else []
    rows = f"table({question.database!r}, {name!r}).to_pyarrow_table({', '.join(arguments)})"
    if query.count:
        return f"{rows}.num_rows"
    if query.limit:
        rows = f"{rows}.slice(0, {query.limit})"
    if nested:
        flat = ".flatten()" * max(path.count(".") for path in columns)
        rows = f"{rows}{flat}.select({[*columns]!r})"
    if query.groups:
        return arrow_groups(rows, query.columns)
    return f"pc.{query.extreme}({rows}[{query.columns[0]!r}])" if query.extreme else rows


def _filter(condition: Condition) -> str:
    # A timestamp is in UTC (Delta's protocol, "Primitive Types").
    path = ", ".join(map(repr, condition.path.split(".")))
    texts = condition.literals
    if condition.test is Comparison.NOT_IN and None in texts:
        return "pc.scalar(False)"  # as in SQL, of which Arrow has no word
    values = [python_literal(text, condition.type) for text in texts if text is not None]
    words, column = _FILTERS[condition.test], f"pc.field({path})"
    return f"({words.format(column, *values, values=', '.join(values))})"


def _called(name: str, past: PointInTime | None) -> str:
    return f"{name}@v{past.instant}" if past else name


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    return {
        "database": database,
        "name": _called(name, past),
        "location": folder_of(entry),
        "version": int(past.instant) if past else None,
    }


ENGINE: Final = PythonLibrary(
    "deltalake",
    Path(answers.__file__),
    ("delta",),
    statement,
    describe,
    lambda settings, format_: BY_ARROW if settings else BY_HAND,  # noqa: ARG005 - of one family
    TIME_TRAVEL,
    settings={
        INTERFACE: SettingValues(
            ("arrow",), "DeltaTable.to_pyarrow_table reads the table, not the SQL of QueryBuilder"
        )
    },
    expressions=bool,
    fingerprints=FINGERPRINTS,
    writes={"delta": WRITES},
    creates=creation,
)

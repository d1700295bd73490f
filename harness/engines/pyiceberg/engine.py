"""PyIceberg as a reader of Iceberg tables, with hardly any code of Iceberg's library for Java.

A question is an expression of Python on a `StaticTable`. Conditions and columns are arguments of
`Table.scan`; what that has no word for is Arrow's, of the rows that it gave: a part of a struct as
a column of its own, the least and the greatest value, how many rows each value has.
"""

from pathlib import Path
from typing import Final

from harness.engines.api import PointInTime, Question, ReaderSettings, TimeTravel, TimeTravelWords
from harness.engines.pyiceberg import answers
from harness.engines.pyiceberg.words import WRITES, condition, creation
from harness.engines.python_library import (
    POINTER,
    Description,
    Entry,
    PythonLibrary,
    arrow_groups,
)
from harness.engines.query_sql import time_travel_words
from harness.model.commit import AS_OF, BRANCH, TAG
from harness.model.query import NULL_IN_LIST, Query

TIME_TRAVEL: Final[TimeTravel] = {
    ("iceberg", AS_OF): TimeTravelWords("snapshot_id={instant}"),
    ("iceberg", TAG): TimeTravelWords(".use_ref('{instant}')"),
    ("iceberg", BRANCH): TimeTravelWords(".use_ref('{instant}')"),
}
"""An argument of `Table.scan`, or a call of what that returns (`TableScan.use_ref`)."""


def statement(question: Question, settings: ReaderSettings) -> str:
    query = question.query
    arguments = [condition(query.conditions)] if query.conditions else []
    if columns := query.columns[:1] if query.groups else query.columns:
        arguments.append(f"selected_fields=({', '.join(map(repr, columns))},)")
    if query.limit:
        arguments.append(f"limit={query.limit}")
    call = ""
    if question.past is not None:
        source = time_travel_words(question, TIME_TRAVEL).source
        words = source.replace("{instant}", question.past.instant)
        if words.startswith("."):
            call = words
        else:
            arguments.append(words)
    table = f"table({question.database!r}, {question.table!r})"
    return _taken(query, f"{table}.scan({', '.join(arguments)}){call}")


def _taken(query: Query, scan: str) -> str:
    """Return what is done with a scan: its rows in the order of the columns, or one figure."""
    if query.count:
        return f"{scan}.count()"
    flat = ".flatten()" * max((path.count(".") for path in query.columns), default=0)
    rows = f"{scan}.to_arrow(){flat}"
    if query.groups:
        return arrow_groups(rows, query.columns)
    if query.extreme:
        return f"pc.{query.extreme}({rows}[{query.columns[0]!r}])"
    return f"{rows}.select({[*query.columns]!r})" if query.columns else rows


BY_HAND: Final = (
    "-- In Python:",
    "--   import pyarrow.compute as pc",
    "--   from decimal import Decimal",
    "--   from pyiceberg.expressions import *",
    "--   from pyiceberg.table import StaticTable",
    f"--   metadata = 'METADATA'  # the table's parameter {POINTER} in the metastore",
    "--   def table(database, name): return StaticTable.from_metadata(metadata)",
)


def describe(database: str, name: str, entry: Entry, past: PointInTime | None) -> Description:
    metadata = entry.parameters.get(POINTER, "")
    return {"database": database, "name": name, "metadata": metadata}


ENGINE: Final = PythonLibrary(
    "pyiceberg",
    Path(answers.__file__),
    ("iceberg",),
    statement,
    describe,
    lambda settings, format_: BY_HAND,  # noqa: ARG005 - the same for all
    TIME_TRAVEL,
    expressions=lambda _: True,
    first="1",
    unasked={NULL_IN_LIST: "PyIceberg's In and NotIn take no None"},
    writes={"iceberg": WRITES},
    creates=creation,
    pointer=POINTER,
)

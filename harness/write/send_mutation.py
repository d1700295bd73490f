"""Send a batch of mutations: its rows are looked up in the table first, as the API asks for.

A row is known by its `ROW__ID` alone, which only who read the table can tell (Hive documentation,
"HCatalog Streaming Mutation API", "Data Requirements").
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from harness.core.errors import HarnessError
from harness.engines.api import NoAnswerError, RefusedError
from harness.model.canonical import Value
from harness.model.identifiers import TABLE
from harness.runtime.process import ProcessProblem
from harness.scenario.operations.spark_sql import quoted
from harness.scenario.statements import Mutation
from harness.write.writer_pool import SqlSession

RowId = list[int]
"""Number of the write, bucket, number of the row."""


def send_batch(statement: Mutation, session: SqlSession, database: str, timeout_s: float) -> None:
    """Send a batch.

    Raises:
        RefusedError: the server or the library answered with an error.
        NoAnswerError: the server or the program did not answer in time, or died.

    """
    if session.mutations is None:
        raise HarnessError("this writer names no library of mutations")
    key = quoted(statement.key)
    # In order, since that takes a job: without one, Hive 3.1.3 shows NULL for 1 in 20 of them while
    # another session of the server fetches rows as well (`IOContextMap` is the whole process's).
    sql = f"select ROW__ID, {key} from {database}.{TABLE} order by {key}"
    rows = session.run(sql, timeout_s=timeout_s).rows
    if any(row_id_text is None for row_id_text, _ in rows):
        raise NoAnswerError("the server told no ROW__ID of some rows")
    details = request(statement, database, {of: row_id(row_id_text) for row_id_text, of in rows})
    try:
        refusal = session.mutations.run(details, timeout_s)
    except ProcessProblem as problem:
        raise NoAnswerError(str(problem)) from problem
    if refusal is not None:
        raise RefusedError(refusal, 0.0)


def request(statement: Mutation, database: str, ids: Mapping[Value, RowId]) -> dict[str, object]:
    """Return what the program is told; `ids`: those of the rows of the table, by their key."""
    names = [name for name, _ in statement.columns]
    rows = [
        {**row, "id": ids.get(row["row"][statement.key])}  # type: ignore[index]
        for row in statement.rows
    ]
    return {
        "database": database,
        "table": TABLE,
        "columns": names,
        "types": [kind for _, kind in statement.columns],
        "buckets_by": [names.index(statement.key)],
        "rows": rows,
        "ends": statement.ends,
    }


def row_id(text: str) -> RowId:
    """Return a `ROW__ID` as the program takes it.

    >>> row_id('{"writeid":2,"bucketid":536870912,"rowid":0}')
    [2, 536870912, 0]
    """
    row = json.loads(text)
    return [row["writeid"], row["bucketid"], row["rowid"]]

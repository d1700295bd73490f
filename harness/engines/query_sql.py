"""What several SQL engines share: quoting, the SQL of a question, and Hudi's own columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from harness.core.records import Column
from harness.engines.api import Question
from harness.model.canonical import OwnTexts, Value, text_of
from harness.model.identifiers import CHANGE_COLUMNS, free_name
from harness.model.query import Condition, Test
from harness.model.simulation.column_resolution import META

META_COLUMNS: Final = CHANGE_COLUMNS | frozenset(META)
"""Columns that Hudi adds to every table (HoodieRecord.HOODIE_META_COLUMNS), and those of changes.

They hold instants and file names, which differ from one writing to the next, and no truth knows
them: they are left out of replies, and counted as wrong where the table should not show them.
"""

AnswerRow = tuple[Value, ...]

ANSI: Final = '"'
"""What identifiers are quoted with in the SQL of Trino and its kin; Spark and Hive take "`"."""
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "'": "\\'", "$": "\\u0024", "\n": "\\n"})


def checked(value: Any, kind: Any) -> Any:  # noqa: ANN401 - a class or a union of them
    """Return a value that was sent; a boolean is no number, though Python says so.

    Raises:
        TypeError: it is not of the Python type that its type promises.

    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r} is not what its type promises")
    return value


def drop_meta(
    columns: tuple[Column, ...], rows: tuple[AnswerRow, ...]
) -> tuple[tuple[Column, ...], tuple[AnswerRow, ...]]:
    """Leave out the columns that Hudi adds, and their values."""
    kept = [at for at, column in enumerate(columns) if column.name not in META_COLUMNS]
    if len(kept) == len(columns):
        return columns, rows
    return tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows)


def left_out(
    columns: tuple[Column, ...], rows: tuple[AnswerRow, ...]
) -> tuple[tuple[Column, AnswerRow], ...]:
    """Return what `drop_meta` leaves out."""
    meta = [at for at, column in enumerate(columns) if column.name in META_COLUMNS]
    return tuple((columns[at], tuple(row[at] for row in rows)) for at in meta)


def own_texts(sent: Sequence[Sequence[object]], rows: Sequence[AnswerRow]) -> OwnTexts:
    """Return what a server sent of each cell, where that is written otherwise than its value.

    >>> own_texts([("1.50", '{"a":1}', 7)], [(1.5, {"a": 1}, 7)])
    ((0, 0, '1.50'), (0, 1, '{"a":1}'))
    """
    return tuple(
        (at, number, text)
        for at, row in enumerate(zip(sent, rows, strict=True))
        for number, (raw, value) in enumerate(zip(*row, strict=True))
        if (text := _written(raw)) != text_of(value)
    )


def _written(raw: object) -> str:
    """Return what was sent as a text; what came as a part of JSON, as JSON."""
    if isinstance(raw, list | dict):
        return json.dumps(raw, ensure_ascii=False)
    return raw if isinstance(raw, str) else text_of(raw)


def quoted(path: str, mark: str) -> str:
    """Quote a dotted path, each name for itself.

    >>> quoted("db.a", '"'), quoted("od`d", "`")
    ('"db"."a"', '`od``d`')
    """
    return ".".join(f"{mark}{name.replace(mark, mark * 2)}{mark}" for name in path.split("."))


def select(question: Question, mark: str) -> str:
    """Return the SQL of a question in the words that all engines share."""
    query = question.query
    columns = ", ".join(quoted(path, mark) for path in query.columns) or "*"
    what = "count(*)" if query.count else columns
    if query.extreme:
        what = f"{query.extreme}({columns})"
    table = f"{quoted(question.database, mark)}.{quoted(question.table, mark)}"
    conditions = " and ".join(predicate(each, mark) for each in query.conditions)
    where = f" where {conditions}" if conditions else ""
    return f"select {what} from {table}{_alias(question, mark)}{where}"


def _alias(question: Question, mark: str) -> str:
    """Return what hides the table's name where a path has it; see `harness.model.identifiers`."""
    paths = (*question.query.columns, *question.query.filters)
    own = (question.past.alias if question.past else "") or question.table
    alias = free_name(own, [name for path in paths for name in path.split(".")])
    return "" if alias == question.table else f" {quoted(alias, mark)}"


def predicate(condition: Condition, mark: str) -> str:
    """Return the SQL of a condition.

    >>> from harness.model.query import not_null
    >>> predicate(not_null("a.f1"), "`")
    '`a`.`f1` is not null'
    """
    column = quoted(condition.path, mark)
    comparison = {Test.EQUAL: "=", Test.AT_LEAST: ">="}.get(condition.test)
    if comparison:
        return f"{column} {comparison} {literal(condition.literal, condition.type, mark)}"
    return f"{column} is {'null' if condition.test is Test.NULL else 'not null'}"


def literal(text: str, type_: str, mark: str) -> str:
    """Return the literal of a value, in the SQL whose identifiers are quoted with `mark`.

    Numbers with a fraction are cast from their text: as bare literals they are decimals to one
    engine and doubles to the next.
    """
    match type_:
        case "boolean" | "tinyint" | "smallint" | "int" | "long":
            return text
        case "date":
            return f"date {string(text, mark)}"
        case "timestamp" | "timestamp_ntz":
            return f"timestamp {string(text, mark)}"
        case "string":
            return string(text, mark)
        case "float" if mark == ANSI:
            type_ = "real"
    return f"cast({string(text, mark)} as {type_})"


def string(text: str, mark: str) -> str:
    """Return a string literal.

    Spark and Hive read backslashes as escapes, and replace `${name}` before they parse anything
    (Spark: `spark.sql.variable.substitute`; Hive: "Using Variables"). The other SQL knows neither.
    """
    if mark == ANSI:
        return "'" + text.replace("'", "''") + "'"
    return "'" + text.translate(_ESCAPES) + "'"

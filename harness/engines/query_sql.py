"""What the SQL engines share: quoting, the SQL of a question, and Hudi's own columns."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.core.records import Column
from harness.core.tolerances import Normalised
from harness.engines import fingerprint_sql
from harness.engines.api import Question, Reply, TimeTravel, TimeTravelWords
from harness.engines.fingerprint_sql import FingerprintWords
from harness.model.canonical import OwnTexts, Value, text_of
from harness.model.identifiers import CHANGE_COLUMNS, SINCE, free_name, quoted
from harness.model.query import Comparison, Condition
from harness.model.simulation.column_resolution import META

META_COLUMNS: Final = CHANGE_COLUMNS | frozenset(META)
"""Columns that Hudi adds to every table (HoodieRecord.HOODIE_META_COLUMNS), and those of changes.

They hold instants and file names, which differ from one writing to the next, and no truth knows
them: they are left out of replies, and counted as wrong where the table should not show them.
"""

AnswerRow = tuple[Value, ...]

ANSI: Final = '"'
"""What identifiers are quoted with in the SQL of Trino and its kin; Spark and Hive take "`"."""
NAN_EQUALS: Final = "{column} = cast('NaN' as {type})"
"""Where NaN equals itself (Spark's manual, "NaN Semantics"; DuckDB's, "Numeric Types"; Arrow's
kernels, `cmp`)."""
NAN_FUNCTION: Final = "is_nan({column})"
"""Where it does not (Trino's and Presto's manuals, "Mathematical Functions")."""
_SIGNS: Final = {
    Comparison.EQUAL: "=",
    Comparison.NOT_EQUAL: "<>",
    Comparison.LESS: "<",
    Comparison.AT_MOST: "<=",
    Comparison.GREATER: ">",
    Comparison.AT_LEAST: ">=",
}
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "'": "\\'", "$": "\\u0024", "\n": "\\n"})


def checked(value: Any, kind: Any) -> Any:  # noqa: ANN401 - a class or a union of them
    """Return a value that was sent; a boolean is no number, though Python says so.

    Raises TypeError: it is not of the Python type that its type promises.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r} is not what its type promises")
    return value


def reply(
    columns: tuple[Column, ...],
    rows: tuple[AnswerRow, ...],
    seconds: float,
    sent: str,
    confirmed: str = "",
    normalised: tuple[Normalised, ...] = (),
    texts: Sequence[Sequence[object]] = (),
) -> Reply:
    """Return a reply in which the columns that Hudi adds stand for themselves.

    `texts`: what the server sent of each row, where that may be written otherwise than its values.
    """
    shown = [at for at, column in enumerate(columns) if column.name not in META_COLUMNS]
    meta = [at for at, column in enumerate(columns) if column.name in META_COLUMNS]
    own_rows = tuple(tuple(row[at] for at in shown) for row in rows)
    raw = raw_texts([[row[at] for at in shown] for row in texts], own_rows) if texts else ()
    left_out = tuple((columns[at], tuple(row[at] for row in rows)) for at in meta)
    kept_columns = tuple(columns[at] for at in shown)
    return Reply(kept_columns, own_rows, seconds, sent, confirmed, normalised, raw, left_out)


def raw_texts(sent: Sequence[Sequence[object]], rows: Sequence[AnswerRow]) -> OwnTexts:
    """Return what a server sent of each cell, where that is written otherwise than its value.

    >>> raw_texts([("1.50", '{"a":1}', 7)], [(1.5, {"a": 1}, 7)])
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


def select(
    question: Question,
    mark: str,
    time_travel: TimeTravel | None = None,
    catalog: str = "",
    nan: str = NAN_EQUALS,
    words: FingerprintWords | None = None,
) -> str:
    """Return the SQL of a question in the words that all engines share.

    Identifiers are quoted with `mark`; a catalog may stand before the database. `nan`: how the
    engine is asked for NaN, `words`: for fingerprints.

    Raises LookupError: it is about the past, or for a fingerprint, and the engine has no words.
    """
    query = question.query
    names = [quoted(path, mark) for path in query.columns]
    by = f" group by {names[0]}" if query.groups else ""
    if query.groups:
        names[1] = f"count(*) as {names[1]}"
    columns = ", ".join(names) or "*"
    result = "count(*)" if query.count else columns
    if query.extreme:
        result = f"{query.extreme}({columns})"
    source = _source(question, mark, time_travel or {}, catalog)
    conditions = [predicate(condition, mark, nan) for condition in query.conditions]
    if question.fingerprint is not None:
        if words is None:
            raise LookupError("there are no words for fingerprints")
        return fingerprint_sql.select(question.fingerprint, source, conditions, mark, words)
    where = f" where {' and '.join(conditions)}" if conditions else ""
    limit = f" limit {query.limit}" if query.limit else ""
    return f"select {result} from {source}{where}{by}{limit}"


def _source(question: Question, mark: str, time_travel: TimeTravel, catalog: str) -> str:
    """Return what stands after `from`; an alias hides the table's name where a path has that."""
    words = time_travel_words(question, time_travel)
    name = question.table + _filled(words.suffix, question)
    database = f"{catalog}.{question.database}" if catalog else question.database
    table = f"{quoted(database, mark)}.{quoted(name, mark)}"
    paths: list[Sequence[str]] = [
        path.split(".") for path in (*question.query.columns, *question.query.filters)
    ]
    paths += [part.shown for part in question.fingerprint.parts] if question.fingerprint else []
    alias = free_name(words.alias or name, [part for path in paths for part in path])
    source = _filled(words.source, question, table=table, key=quoted(question.key, mark))
    return source if alias == name else f"{source} {quoted(alias, mark)}"


def time_travel_words(question: Question, time_travel: TimeTravel) -> TimeTravelWords:
    """Return an engine's words for the table of a question, as it is or as it was.

    Raises LookupError: it has none.
    """
    if question.past is None:
        return TimeTravelWords("{table}")
    words = time_travel.get((question.format.family, question.past.view), "there are no words")
    if isinstance(words, str):
        raise LookupError(words)  # noqa: TRY004 - it is no wrong type
    return words


def _filled(text: str, question: Question, **more: str) -> str:
    marks: Mapping[str, str] = {"database": question.database, "name": question.table, **more}
    if question.past is not None:
        marks = {**marks, "instant": question.past.instant, "begin": question.past.begin}
    return re.sub(r"\{(\w+)\}", lambda mark: marks[mark[1]], text)


def newest_changes(feed: str) -> TimeTravelWords:
    """Return words for the newest change of each row in a feed of Delta's changes.

    The feed lists changes, the view rows (Delta documentation, "Use Delta Lake change data feed").
    Of the changes of one version that delete a row and write it, the one that writes counts.
    """
    newest = f"select {{key}}, max(_commit_version) from {feed} group by {{key}}"
    is_newest = f"({{key}}, _commit_version) in ({newest})"
    writes = "_change_type in ('insert', 'update_postimage')"
    return TimeTravelWords(f"(select * from {feed} where {writes} and {is_newest})", alias=SINCE)


def predicate(condition: Condition, mark: str, nan: str = NAN_EQUALS) -> str:
    column, test = quoted(condition.path, mark), condition.test
    values = (
        "null" if text is None else literal(text, condition.type, mark)
        for text in condition.literals
    )
    match test:
        case Comparison.NULL | Comparison.NOT_NULL:
            return f"{column} is {'null' if test is Comparison.NULL else 'not null'}"
        case Comparison.NAN | Comparison.NOT_NAN:
            called = nan.format(column=column, type="real" if mark == ANSI else "float")
            return called if test is Comparison.NAN else f"not ({called})"
        case Comparison.NOT:
            return f"not ({column} = {', '.join(values)})"
        case Comparison.BETWEEN:
            return f"{column} between {' and '.join(values)}"
        case Comparison.IN | Comparison.NOT_IN:
            return f"{column} {'in' if test is Comparison.IN else 'not in'} ({', '.join(values)})"
        case Comparison.STARTS_WITH:
            return f"{column} like {string(condition.literal + '%', mark)}"
    return f"{column} {_SIGNS[test]} {', '.join(values)}"


def literal(text: str, type_: str, mark: str) -> str:
    """Return the literal of a value; numbers with a fraction are cast from their text.

    As bare literals they are decimals to one engine and doubles to the next.
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
    (`spark.sql.variable.substitute`; Hive: "Using Variables").
    """
    if mark == ANSI:
        return "'" + text.replace("'", "''") + "'"
    return "'" + text.translate(_ESCAPES) + "'"

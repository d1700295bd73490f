"""How engines are asked for a table's past: which of them can be, and the words they take.

What stands here is data, by engine and format. The kinds of begin of an incremental question are
Hudi's own and follow from the library's version and the table's:

| library | table version | the begin is | source |
| --- | --- | --- | --- |
| any | up to 6 | the requested time of a write, exclusive | Hudi 0.15 documentation, `hoodie.datasource.read.begin.instanttime` |
| 1.0 | 8 | a time of completion, inclusive | the same of 1.0, "completion_time >= START_COMMIT"; apache/hudi#13982 |
| from 1.1 on | 8 and up | a time of completion, exclusive | apache/hudi#13982, #18954 |

For Hive's settings it is the requested time, exclusive: rows show that time in all versions.

"Since a step" always means the same rows, whatever kind the begin is of: an exclusive one is that
step's own, an inclusive one that of the write which follows, so that a bound that is off by one shows.

As of a step, some readers choose the files of then and show them under the columns of now, though
the formats promise those of then (see `harness.model.past_views`). They are judged by that promise all the same:
Trino before it was mended (trinodb/trino#12743, #12786; seen on 368).

Hive 3 is not asked for a table as it was. What the libraries have for it stands in no documentation:
Hudi's `hoodie.<table>.consume.commit` (apache/hudi#2809), of which its maintainers say that it is no
time travel (apache/hudi#6479), and Iceberg's `iceberg.mr.snapshot.id` (`IcebergInputFormat` of 1.4.3).
"""  # noqa: E501 - a table

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.engines.api import Connection, Engine, Question, Reply, Settings, Wording
from harness.model.commit import AS_OF, INCREMENTAL, Moment
from harness.model.query import ALL

PLACE: Final = "{table}"
_CONSUME: Final = "set hoodie.{entry}.consume"
_NAMED: Final = Wording(PLACE, suffix="@{instant}")
"""A snapshot's id in the table's name (`IcebergTableName` of Trino 368)."""
_WORDS: Final = {
    ("spark", "hudi", AS_OF): Wording("{table} timestamp as of '{instant}'"),
    ("spark", "hudi", INCREMENTAL): Wording(
        "hudi_table_changes('{database}.{name}', 'latest_state', '{begin}')"
    ),
    ("spark", "iceberg", AS_OF): Wording("{table} version as of {instant}"),
    ("trino", "iceberg", AS_OF): Wording("{table} for version as of {instant}"),
    # The settings choose files, in which there are older rows too; -1 is for all writes since.
    ("hive", "hudi", INCREMENTAL): Wording(
        "(select * from {table} where `_hoodie_commit_time` > '{instant}') `since`",
        (
            f"{_CONSUME}.mode=INCREMENTAL",
            f"{_CONSUME}.start.timestamp={{instant}}",
            f"{_CONSUME}.max.commits=-1",
        ),
        (f"{_CONSUME}.mode=SNAPSHOT",),
    ),
}
"""By engine, kind of format and view (Hudi documentation, "SQL Queries", and "Incremental query" of
Hive; Iceberg documentation, "Spark Queries"; Trino documentation, "Iceberg connector"). Settings of
Hive go by the name that the table itself knows, without database and ending (engines notes)."""
_TRINO: Final = 386
"""The first version whose Iceberg connector has words for it for certain (trinodb/trino#10258);
older ones take the snapshot in the table's name."""
_WHY: Final = {
    ("hive", "hudi", AS_OF): "Hive has no words for it before version 4",
    ("hive", "iceberg", AS_OF): "Hive has no words for it before version 4",
    ("presto", "hudi", AS_OF): "its connectors have no words for it",
    # NOT_FOUND, `t@<snapshot>` of `HiveTableOperations`: the name is asked of the metastore whole.
    ("presto", "iceberg", AS_OF): "it finds no table with a snapshot in its name (seen on 0.283)",
    ("trino", "hudi", AS_OF): "its connector has no words for it",
}
_NO_WORDS: Final = "there are no words for it"
_MOMENT: Final = re.compile(
    r"(timestamp as of '|version as of |'latest_state', '|_commit_time` > '|\.timestamp=)\d+"
    r'|(?<=@)\d+(?=")'
)
"""A moment after the words that name it in any of these."""
_SNAPSHOT: Final = "the id of the snapshot that step {step} made"
_REQUESTED: Final = "when the write of step {step} was requested"
_COMPLETED: Final = "when the write of step {step} was completed"
_NEXT_COMPLETED: Final = (
    "when the write after step {step} was completed; without one, 1 ms after that of {step}"
)
_MEANT: Final[Mapping[str, Callable[[Moment], str]]] = {
    _SNAPSHOT: lambda moment: moment.instant,
    _REQUESTED: lambda moment: moment.instant,
    _COMPLETED: lambda moment: moment.completed,
    _NEXT_COMPLETED: lambda moment: moment.following or _next(moment.completed),
}
"""What a question names of a write, in words for whoever has a table of their own."""
_FORMATS: Final = ("hudi", "iceberg")
_EXCLUSIVE_SINCE: Final = (1, 1)
_COMPLETION_SINCE: Final = 8
_DIGITS: Final = "%Y%m%d%H%M%S"


def cannot(distribution: Distribution, format_name: str, view: str) -> str:
    """Return why a reader cannot be asked for a view of the past; empty when it can."""
    if view not in {AS_OF, INCREMENTAL} or _words(distribution, format_name, view):
        return ""
    why = _WHY.get(_key(distribution.engine, format_name, view), _NO_WORDS)
    return f"{distribution.name}: {why}"


def _words(distribution: Distribution, format_name: str, view: str) -> Wording | None:
    """Return a reader's words with marks to be filled; None where it has none."""
    found = _WORDS.get(_key(distribution.engine, format_name, view))
    if found and distribution.engine == "trino" and int(distribution.version) < _TRINO:
        return _NAMED
    return found


def _key(engine: str, format_name: str, view: str) -> tuple[str, str, str]:
    kind = next((each for each in _FORMATS if format_name.startswith(each)), format_name)
    return engine, kind, view


def wording(
    distribution: Distribution, question: Question, view: str, moment: Moment, version: str
) -> Wording:
    """Return how a reader is asked for a view of the past; `version`: of the table.

    Raises:
        LookupError: it `cannot` be asked.

    """
    found = _words(distribution, question.format, view)
    if found is None:
        raise LookupError(cannot(distribution, question.format, view))
    told = {
        "instant": moment.instant,
        "database": question.database,
        "name": question.table,
        "entry": question.table.partition("_")[0],
    }
    if view == INCREMENTAL:
        told["begin"] = begin(distribution.text("hudi"), version, moment)
    return replace(
        found,
        source=_filled(found.source, told),
        before=tuple(_filled(each, told) for each in found.before),
        after=tuple(_filled(each, told) for each in found.after),
        suffix=_filled(found.suffix, told),
    )


def _filled(text: str, told: Mapping[str, str]) -> str:
    for mark, value in told.items():
        text = text.replace(f"{{{mark}}}", value)
    return text


def begin(library: str, table_version: str, moment: Moment) -> str:
    """Return the begin of an incremental question that means all writes after a moment.

    >>> begin("0.15.0", "6", Moment("20240101000000000", "20240101000000009"))
    '20240101000000000'
    >>> begin("1.2.0", "9", Moment("20240101000000000", "20240101000000009"))
    '20240101000000009'
    >>> begin("1.0.2", "8", Moment("20240101000000000", "20240101000000999"))
    '20240101000001000'
    """
    return _MEANT[_begin(library, table_version)](moment)


def _begin(library: str, table_version: str) -> str:
    if int(table_version) < _COMPLETION_SINCE:
        return _REQUESTED
    return _COMPLETED if _release(library) >= _EXCLUSIVE_SINCE else _NEXT_COMPLETED


def without_moment(text: str, mark: str) -> str:
    """Return what was sent with a mark for the moment: every table that is written has others.

    >>> without_moment("select * from t timestamp as of '20240101000000000'", "M")
    "select * from t timestamp as of 'M'"
    """
    return _MOMENT.sub(lambda found: f"{found[1] or ''}{mark}", text)


def in_words(
    distribution: Distribution, format_name: str, view: str, version: str, step: int
) -> str:
    """Return which moment a question about the past of a step names; `version`: of the table."""
    if format_name.startswith("iceberg"):
        return _SNAPSHOT.format(step=step)
    since = view == INCREMENTAL and distribution.engine != "hive"
    words = _begin(distribution.text("hudi"), version) if since else _REQUESTED
    return words.format(step=step)


def meant(words: str, moment: Moment) -> str:
    """Return what `in_words` say of a write, as a question takes it.

    Raises:
        LookupError: these are none of its words.

    >>> meant("when the write of step 2 was completed", Moment("20240101", "20240109"))
    '20240109'
    """
    said = re.sub(r"\b(step|that of) \d+", r"\1 {step}", words)
    if said not in _MEANT:
        raise LookupError(f"no words for a moment: {words}")
    return _MEANT[said](moment)


def _release(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def _next(instant: str) -> str:
    """Return the instant one millisecond later."""
    seconds, millis = instant[:14], instant[14:]
    then = datetime.datetime.strptime(seconds, _DIGITS)  # noqa: DTZ007 - of no zone, as it stands
    then += datetime.timedelta(milliseconds=int(millis or 0) + 1)
    return f"{then.strftime(_DIGITS)}{then.microsecond // 1000:03}"


def sql(engine: Engine, question: Question, settings: Settings) -> str:
    """Return a question in an engine's SQL, about the past where the question is."""
    past = question.past
    if past is None:
        return engine.sql(question, settings)
    named = replace(question, table=question.table + past.suffix)
    plain = engine.sql(named, settings)
    table = engine.sql(replace(named, query=ALL), settings).removeprefix("select * from ")
    return plain.replace(f" from {table}", f" from {past.source.replace(PLACE, table)}", 1)


def told(question: Question, query: str) -> str:
    """Return all that is sent for a question, in one line; `query`: its SQL."""
    before = question.past.before if question.past else ()
    return "; ".join((*before, query))


def ask(connection: Connection, question: Question, query: str, timeout_s: float) -> Reply:
    """Send a question's SQL, and around it what the session is told for it.

    Raises:
        RefusedError: the server answered with an error.
        NoAnswerError: it did not answer.

    """
    if question.past is None:
        return connection.ask(query, timeout_s=timeout_s)
    try:
        for each in question.past.before:
            connection.ask(each, timeout_s=timeout_s)
        return connection.ask(query, timeout_s=timeout_s)
    finally:
        for each in question.past.after:
            connection.ask(each, timeout_s=timeout_s)

"""A session of HiveServer2: asked in SQL, and what it answers made a reply.

What was written to a Hudi table since an instant is asked for by settings, which choose files.
There are older rows in these too, so a condition leaves those out. The settings go by the name that
the table itself knows, without database and ending (Hudi documentation, "Incremental query" of
Hive; notes of the engine).

Hive 3 is not asked for a table as it was. What the libraries have for it stands in no
documentation: Hudi's `hoodie.<table>.consume.commit` (apache/hudi#2809), of which its maintainers
say that it is no time travel (apache/hudi#6479), and Iceberg's `iceberg.mr.snapshot.id`
(`IcebergInputFormat` of 1.4.3).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from harness.core.records import Column
from harness.core.tolerances import Declared, Tally
from harness.engines.api import Question, RefusedError, Reply, TimeTravel, TimeTravelWords
from harness.engines.hive import values
from harness.engines.hive.errors import HiveError
from harness.engines.hive.values import HiveResult
from harness.engines.query_sql import quoted, reply, select
from harness.model.commit import AS_OF, BRANCH, INCREMENTAL, TAG
from harness.model.identifiers import SINCE

_NOT_YET: Final = "Hive has no words for it before version 4"
_NO_NAMES: Final = "it has no words for a tag or a branch"
TIME_TRAVEL: Final[TimeTravel] = {
    ("hudi", INCREMENTAL): TimeTravelWords(
        "(select * from {table} where `_hoodie_commit_time` > '{instant}')", alias=SINCE
    ),
    ("hudi", AS_OF): _NOT_YET,
    ("iceberg", AS_OF): _NOT_YET,
    ("iceberg", TAG): _NO_NAMES,
    ("iceberg", BRANCH): _NO_NAMES,
}


def _prefix(question: Question) -> str:
    return f"set hoodie.{question.table.partition('_')[0]}.consume"


if TYPE_CHECKING:
    from harness.engines.hive.client import HiveClient

MARK: Final = "`"
_NESTED: Final = ("array", "map", "struct", "uniontype")


@dataclass(frozen=True, slots=True)
class HiveConnection:
    """A session with the settings of one reader; see `api.Connection`."""

    client: HiveClient
    declared: Declared
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    """What is entered for each question, before its time begins."""

    def ask(self, question: Question, *, timeout_s: float) -> Reply:
        *before, query = statements(question)
        try:
            for statement in before:
                self.run(statement, timeout_s=timeout_s)
            answer = self._answer(query, timeout_s, question)
        finally:
            if question.past is not None:
                self.run(f"{_prefix(question)}.mode=SNAPSHOT", timeout_s=timeout_s)
        return replace(answer, sent="; ".join((*before, query)))

    def run(
        self, statement: str, *, timeout_s: float, tables: Sequence[tuple[str, str]] = ()
    ) -> Reply:
        del tables
        return self._answer(statement, timeout_s)

    def _answer(self, sql: str, timeout_s: float, question: Question | None = None) -> Reply:
        with self.turn():
            started = time.monotonic()
            try:
                result = self.client.run(sql, timeout_s)
                seconds = time.monotonic() - started
                left_s = max(timeout_s - seconds, 1.0)
                types = self._types(question, result, left_s)
            except HiveError as error:
                raise RefusedError(error.refusal, time.monotonic() - started) from error
            return reply_of(result, types, seconds, self.declared, sql)

    def close(self) -> None:
        self.client.close()

    def _types(
        self, question: Question | None, result: HiveResult, timeout_s: float
    ) -> tuple[str, ...]:
        """Return the types of the columns; of nested ones the server names only the outermost.

        Those of another statement than a question stay so, and their values stay text.
        """
        types = tuple(kind for _, kind in result.columns)
        if question is None or not any(kind in _NESTED for kind in types):
            return types
        table = quoted(f"{question.database}.{question.table}", MARK)
        described = self.client.run(f"describe {table}", timeout_s).rows
        columns = {row[0]: row[1] for row in described if row[1] and not row[0].startswith("#")}
        return nested_types(question.query.columns, result, columns)


def statements(question: Question) -> tuple[str, ...]:
    """Return what is sent for a question; settings of the reader are the session's."""
    query = select(question, MARK, TIME_TRAVEL)
    if question.past is None:
        return (query,)
    prefix, instant = _prefix(question), question.past.instant
    since = (f"{prefix}.mode=INCREMENTAL", f"{prefix}.start.timestamp={instant}")
    return (*since, f"{prefix}.max.commits=-1", query)  # all writes since


def nested_types(
    paths: Sequence[str], result: HiveResult, table: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the types of an answer's columns in full.

    `paths`: those that were asked for, empty for all. `table`: Hive's types of the table's columns.
    """
    paths = paths or [_bare(name) for name, _ in result.columns]
    return tuple(
        _type_at(table, path) or kind if kind in _NESTED else kind
        for path, (_, kind) in zip(paths, result.columns, strict=True)
    )


def _type_at(table: Mapping[str, str], path: str) -> str:
    """Return Hive's type of a dotted path, empty if the table has no such place."""
    name, *inner = path.lower().split(".")
    text = table.get(name, "")
    for child in inner:
        text = values.children(text).get(child, "")
    return text


def _bare(name: str) -> str:
    """Return a column's name without the table's, which Hive puts before it for `select *`."""
    return name.rpartition(".")[2]


def reply_of(
    result: HiveResult, types: tuple[str, ...], seconds: float, declared: Declared, sent: str = ""
) -> Reply:
    """Make a reply of raw rows, `types` being Hive's types of the columns in full."""
    tally = Tally(declared)
    kinds = [values.canonical_type(text) for text in types]
    columns = tuple(
        Column(_bare(name), text, str(kind) if kind else "")
        for (name, _), text, kind in zip(result.columns, types, kinds, strict=True)
    )
    rows = tuple(
        tuple(values.canonical(value, kind, tally) for value, kind in zip(row, kinds, strict=True))
        for row in result.rows
    )
    return reply(columns, rows, seconds, sent, result.path, tally.applied(), result.rows)

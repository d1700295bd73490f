"""A session of HiveServer2: asked in SQL, and what it answers made a reply."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from harness.core.records import Column
from harness.core.tolerances import Declared, Tally
from harness.engines import query_sql
from harness.engines.api import RefusedError, Reply
from harness.engines.hive import values
from harness.engines.hive.errors import HiveError
from harness.engines.hive.values import HiveResult

if TYPE_CHECKING:
    from harness.engines.hive.client import HiveClient

_OURS: Final = re.compile(
    r"select (?P<what>.+?) from (?:\(select \* from )?(?P<table>`[^`]+`\.`[^`]+`)"
    r"(?: `[^`]+`)?(?: where .*)?"
)
"""The SQL of `common.select`, also of rows written since (`past`); other SQL may be asked too, its
nested values stay text."""
_NESTED: Final = ("array", "map", "struct", "uniontype")


@dataclass(frozen=True, slots=True)
class HiveConnection:
    """A session with the settings of one reader; see `api.Connection`."""

    client: HiveClient
    declared: Declared
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    """What is entered for each question, before its time begins."""

    def ask(self, sql: str, *, timeout_s: float) -> Reply:
        """Send a query and fetch all rows.

        Raises:
            RefusedError: the server answered with an error.
            NoAnswerError: it did not answer within `timeout_s`, or the connection broke.

        """
        with self.turn():
            return self._asked(sql, timeout_s)

    def _asked(self, sql: str, timeout_s: float) -> Reply:
        started = time.monotonic()
        try:
            result = self.client.run(sql, timeout_s)
            seconds = time.monotonic() - started
            types = self._types(sql, result, max(timeout_s - seconds, 1.0))
        except HiveError as error:
            raise RefusedError(error.refusal, time.monotonic() - started) from error
        return reply(result, types, seconds, self.declared)

    def close(self) -> None:
        """End the session; never raises."""
        self.client.close()

    def _types(self, sql: str, result: HiveResult, timeout_s: float) -> tuple[str, ...]:
        """Return the types of the columns; of nested ones the server names only the outermost."""
        types = tuple(kind for _, kind in result.columns)
        ours = _OURS.fullmatch(sql)
        if ours is None or not any(kind in _NESTED for kind in types):
            return types
        described = self.client.run(f"describe {ours['table']}", timeout_s).rows
        table = {row[0]: row[1] for row in described if row[1] and not row[0].startswith("#")}
        return nested_types(ours["what"], result, table)


def nested_types(what: str, result: HiveResult, table: Mapping[str, str]) -> tuple[str, ...]:
    """Return the types of an answer's columns in full.

    `what`: the select list of our own SQL. `table`: Hive's types of the table's columns.
    """
    names = [_bare(name) for name, _ in result.columns]
    paths = names if what == "*" else [_unquoted(each) for each in what.split(", ")]
    return tuple(
        _type_at(table, path) or kind if kind in _NESTED else kind
        for path, (_, kind) in zip(paths, result.columns, strict=True)
    )


def _unquoted(path: str) -> str:
    """Return a dotted path whose names were quoted each for itself."""
    return ".".join(name[1:-1].replace("``", "`") for name in path.split("."))


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


def reply(result: HiveResult, types: tuple[str, ...], seconds: float, declared: Declared) -> Reply:
    """Make a reply of raw rows, `types` being Hive's types of the columns in full."""
    tally = Tally(declared)
    kinds = [values.canonical_type(text) for text in types]
    columns = tuple(
        Column(_bare(name), text, str(kind) if kind else "")
        for (name, _), text, kind in zip(result.columns, types, kinds, strict=True)
    )
    rows = tuple(
        tuple(values.canonical(*each, tally) for each in zip(row, kinds, strict=True))
        for row in result.rows
    )
    meta = query_sql.left_out(columns, rows)
    (_, sent), (columns, rows) = (
        query_sql.drop_meta(columns, each) for each in (result.rows, rows)
    )
    raw = query_sql.own_texts(sent, rows)
    return Reply(columns, rows, seconds, result.path, tally.told(), raw, meta)

"""What several SQL engines share: quoting, the SQL of a question, and Hudi's own columns."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from harness.engines.api import Question
from harness.model.canonical import Value
from harness.record import Column
from harness.runtimes import template
from harness.runtimes.distributions import digest_of

META_COLUMNS: Final = frozenset(
    {
        "_hoodie_commit_time",
        "_hoodie_commit_seqno",
        "_hoodie_record_key",
        "_hoodie_partition_path",
        "_hoodie_file_name",
    }
)
"""Columns that Hudi adds to every table (HoodieRecord.HOODIE_META_COLUMNS).

They hold instants and file names, which differ from one writing to the next, and no truth knows
them: they are left out of replies.
"""

Row = tuple[Value, ...]


def drop_meta(
    columns: tuple[Column, ...], rows: tuple[Row, ...]
) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """Leave out the columns that Hudi adds, and their values."""
    kept = [at for at, column in enumerate(columns) if column.name not in META_COLUMNS]
    if len(kept) == len(columns):
        return columns, rows
    return tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows)


def quoted(path: str, mark: str) -> str:
    """Quote a dotted path, each name for itself.

    >>> quoted("db.a", '"'), quoted("od`d", "`")
    ('"db"."a"', '`od``d`')
    """
    return ".".join(f"{mark}{name.replace(mark, mark * 2)}{mark}" for name in path.split("."))


def select(question: Question, mark: str) -> str:
    """Give the SQL of a question in the words that all engines share."""
    query = question.query
    columns = ", ".join(quoted(path, mark) for path in query.columns) or "*"
    what = "count(*)" if query.count else columns
    table = f"{quoted(question.database, mark)}.{quoted(question.table, mark)}"
    where = f" where {quoted(query.not_null, mark)} is not null" if query.not_null else ""
    return f"select {what} from {table}{where}"


def code_digest(engine: str, *modules: str) -> str:
    """Give a digest of an engine's configuration templates and the source of named modules."""
    sources = [[name, _source(name)] for name in modules]
    return digest_of([list(map(list, template.sources(engine))), sources])


def _source(module: str) -> str:
    """Give the text of a module without running it: its client library may be absent."""
    found = find_spec(module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(module)
    return Path(found.origin).read_text(encoding="utf-8")

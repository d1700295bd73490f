"""What an audit finds out, as it is kept in `audit.json`."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.audit.comparison import TableDifferenceKind
from harness.core.records import VerdictKind
from harness.model.condition_text import SIGN_OF
from harness.model.query import COUNT, Query


def query_text(query: Query) -> str:
    """Return a query in words.

    >>> from harness.model.query import Comparison, Condition
    >>> query_text(Query(where=Condition("n", Comparison.EQUAL, "7", "int")))
    'rows where n = 7'
    """
    if query.count:
        return COUNT
    conditions = (
        " ".join((c.path, SIGN_OF[c.test], *(text or "null" for text in c.literals)))
        for c in query.conditions
    )
    return f"rows where {' and '.join(conditions)}" if query.conditions else "all columns"


@dataclass(frozen=True, slots=True)
class ShownDifference:
    """One place where an answer is wrong, for people."""

    kind: TableDifferenceKind
    column: str
    row: str
    """The values of the row that is expected, or of the one that is too many."""
    expected: str
    actual: str
    file: str = ""
    """Where the row lies, as the table's records name the file."""
    position: int | None = None
    """Of the row in that file, from 0."""


@dataclass(frozen=True, slots=True)
class AuditedAnswer:
    reader: str
    query: Query
    sql: str
    verdict: VerdictKind
    because: str = ""
    """Why it is unknown, refused or unsupported."""
    differences: tuple[ShownDifference, ...] = ()
    """The first ones."""
    total: int = 0
    """The number of all."""
    places: tuple[tuple[TableDifferenceKind, str, int], ...] = ()
    """What all of them are: the kind, the column, and how many."""
    digest: str = ""
    """Of all of them: two answers that have one are wrong in the same way."""
    in_part: bool = False
    """Whether there are others, of which nothing is known but that they are there."""
    read_as: tuple[str, ...] = ()
    """The ways of reading the table that give this very answer; several claim nothing."""
    seconds: float = 0.0

    @property
    def question(self) -> str:
        return query_text(self.query)


@dataclass(frozen=True, slots=True)
class AuditedTable:
    name: str
    format: str
    location: str
    version: str = ""
    """The snapshot, version or instant that was looked at."""
    columns: tuple[tuple[str, str], ...] = ()
    rows: int = 0
    files: int = 0
    undecided: tuple[str, ...] = ()
    """What the format's rules leave open about it."""
    moved_from: tuple[str, ...] = ()
    """How its metadata name its folder, where it lies elsewhere: readers are given a copy of them
    with other paths."""
    notes: tuple[str, ...] = ()
    """What is broken in its metadata though it can be read, and which files Spark did not read."""
    problem: str = ""
    """Why nothing is known of it; empty where it was read."""
    questions: tuple[Query, ...] = ()
    """What every reader is asked that does not refuse the table."""
    identity: str = ""
    """Of what was looked at; another one after the table went on."""
    answers: tuple[AuditedAnswer, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.location


def unread(tables: Iterable[AuditedTable]) -> tuple[AuditedTable, ...]:
    """Return the tables of which nothing is known."""
    return tuple(table for table in tables if table.problem)


@dataclass(frozen=True, slots=True)
class Audit:
    address: str
    readers: tuple[str, ...]
    tables: tuple[AuditedTable, ...]

"""From cells to the questions that are sent: SQL, the table state, and where answers are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from harness.cells import Cell, Reader
from harness.engines.api import Engine, Query, Question
from harness.formats.api import Format
from harness.freeze import State
from harness.record import Answer

ALL = Query()


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a run."""

    cell: Cell
    reader: Reader
    state: State
    question: Question
    sql: str
    address: str
    """Where the answer is found again: digest of state, reader and SQL."""
    key: str
    """Name of the key column."""
    columns: tuple[str, ...]
    """The columns by the catalog entry, meta columns left out; asked alone after a refusal."""

    def alone(self, column: str) -> Question:
        """Give the question for one column with the key."""
        names = tuple(dict.fromkeys((self.key, column)))
        return replace(self.question, query=Query(columns=names))


def address_of(state: str, reader: str, sql: str) -> str:
    """Give the digest under which an answer is kept."""
    return hashlib.sha256(f"{state}\0{reader}\0{sql}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Asking:
    """What making questions needs to know of engines and formats."""

    readers: Mapping[str, Reader]
    engine_of: Callable[[str], Engine]
    digest_of: Callable[[Reader], str]
    format_of: Callable[[str], Format]

    def ask(self, cell: Cell, format_name: str, key: str, state: State) -> Asked | None:
        """Give the question of a cell; None when the state has no such catalog entry."""
        reader, shape = self.readers[cell.reader], self.format_of(format_name)
        table = shape.table_for(cell.view)
        columns = state.columns.get(table)
        if columns is None:
            return None
        question = Question(state.database, table, format_name, ALL)
        engine = self.engine_of(reader.distribution)
        sql = engine.sql(question, dict(reader.settings))
        address = address_of(state.digest, self.digest_of(reader), sql)
        return Asked(cell, reader, state, question, sql, address, key, columns)


def no_entry(cell: Cell) -> Answer:
    """Give the answer of a cell whose table the catalog does not have."""
    return Answer(cell.case, "", unknown=f"the catalog has no entry for the view {cell.view}")


def by_server(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    """Group questions by the distribution whose server answers them."""
    groups: dict[str, list[Asked]] = {}
    for each in asked:
        groups.setdefault(each.reader.distribution, []).append(each)
    return groups

"""Which rows a reader leaves out that trusts statistics as they are stored.

A file's own statistics are followed where nothing but deletes is merged into it, for other log
records may change what it holds; those of a folder are followed whatever is in its files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.model.column_statistics import ColumnStatistics
from harness.model.file_facts import FileFact
from harness.model.query import Condition
from harness.model.schema import Field
from harness.model.simulation.column_resolution import part_in
from harness.model.simulation.strategies import ColumnMapping

Sources = Sequence[tuple[Field, Field | None]]
"""The columns of a table, each with the one of a file that is taken for it."""
NamesOf = Callable[[Condition, FileFact], frozenset[str]]
"""Gives the names under which statistics of a file are looked up for a condition."""


class TrustedStatistics:
    """The statistics of a table state."""

    def __init__(self, told: Sequence[ColumnStatistics]) -> None:
        """`told`: all that may exclude a row which is there."""
        self._told = told
        self.sources = tuple(dict.fromkeys(str(statistics.source) for statistics in told))

    def keys(
        self, source: str, fact: FileFact, where: Sequence[Condition], names: NamesOf
    ) -> frozenset[str]:
        """Return the keys of the rows of a file that statistics of the file exclude."""
        excluding = self._excluding(source, fact.path, fact, where, names)
        return frozenset(
            fact.keys[row] for statistics in excluding for row in statistics.row_numbers()
        )

    def folder(
        self, source: str, fact: FileFact, where: Sequence[Condition], names: NamesOf
    ) -> bool:
        """Return whether the statistics of a file's folder exclude all that is in it."""
        return bool(self._excluding(source, fact.path.rpartition("/")[0], fact, where, names))

    def _excluding(
        self,
        source: str,
        path: str,
        fact: FileFact,
        where: Sequence[Condition],
        names: NamesOf,
    ) -> list[ColumnStatistics]:
        own = [
            statistics
            for statistics in self._told
            if statistics.source == source and statistics.path == path
        ]
        return [
            statistics
            for statistics in own
            if any(statistics.column in names(on, fact) and statistics.excludes(on) for on in where)
        ]


def names_of(path: str, found: Sources, fact: FileFact, by: ColumnMapping) -> frozenset[str]:
    """Return the names under which a column of a table has its statistics.

    That is the name of the file's column which is taken for it. Where the file has none of the
    table's name, it may be the table's as well: not all statistics are made with the file.
    """
    head, *rest = path.split(".")
    own = frozenset[str]() if head in dict(fact.columns) else frozenset({path})
    field, source = next((each for each in found if each[0].name == head), (None, None))
    names = []
    for part in ("", *rest):
        if part and field is not None and source is not None:
            inner = next((child for child in field.children if child.name == part), None)
            source = part_in(source, field, inner, by) if inner is not None else None
            field = inner
        if field is None or source is None:
            return own
        names.append(source.name)
    return own | {".".join(names)}

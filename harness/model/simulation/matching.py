"""Which read strategies give an answer: the smallest ones, and all of them where several do.

A whole answer counts: its columns and every row. The order of rows and columns does not, nor does
the type in which a value came. Where none fits, none of those tried does: at most `AT_ONCE` things
beyond how columns are found are combined, `CATALOGS` older schemas are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.model.canonical import Look, Unpredicted, Value, look_of
from harness.model.query import Query
from harness.model.simulation.hudi import has_timestamp
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy

TableLook = tuple[tuple[str, ...], frozenset[tuple[tuple[Look, ...], int]]]
"""The labels of an answer, sorted, and how its rows look in that order, each how often."""


def table_of(labels: Sequence[str], rows: Sequence[Sequence[Value]]) -> TableLook:
    order = sorted(range(len(labels)), key=lambda at: labels[at])
    looks = Counter(tuple([look_of(row[at]) for at in order]) for row in rows)
    return tuple(labels[at] for at in order), frozenset(looks.items())


@dataclass(frozen=True, slots=True)
class StrategyAnswer:
    labels: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]
    strategies: tuple[ReadStrategy, ...]


@dataclass(frozen=True, slots=True)
class Readings:
    """What readers of each strategy would answer about one table state."""

    reading: Simulation
    _tables: dict[tuple[ReadStrategy, Query], TableLook | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _fitting: dict[tuple[Query, TableLook], tuple[ReadStrategy, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _rows: dict[ReadStrategy, list[tuple[Value, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def strategies(self, query: Query) -> tuple[ReadStrategy, ...]:
        """Return the strategies that are tried for a question, the smallest first."""
        result = self.reading.strategies(query.conditions)
        if not self.reading.renumbered:
            return result
        # Ids are given anew only where a timestamp is asked for.
        fields = self.reading.schema(ReadStrategy(ColumnMapping.ID)).fields
        asked = {path.partition(".")[0] for path in (*query.columns, *query.filters)}
        whole = not (query.columns or query.label)
        if any(has_timestamp(column) for column in fields if whole or column.name in asked):
            return result
        return tuple(by for by in result if by.mapping is not ColumnMapping.RENUMBERED)

    def labels(self, strategy: ReadStrategy, query: Query) -> tuple[str, ...] | None:
        """Return what the answer's columns are called; None where the reader has no such column."""
        schema = self.reading.schema(strategy)
        if not all(schema.has(path) for path in (*query.columns, *query.filters)):
            return None
        return query.labels(schema.names)

    def answer(self, strategy: ReadStrategy, query: Query) -> list[tuple[Value, ...]]:
        """Return the rows that a reader of that strategy answers.

        A reader is taken to resolve every row, and then to see whether the predicate holds for it;
        one that leaves out files by statistics does so before.

        Raises ValueError: a value has no form in the type of an older catalog, or is not predicted.
        """
        asked, names = self.reading.asked(strategy, query), self.reading.schema(strategy).names
        rows = self._values(strategy, query) if asked else ()
        result = (asked or query).answer(names, rows)
        if any(isinstance(value, Unpredicted) for row in result for value in row):
            raise ValueError(f"a value is not predicted of a reader {strategy}")
        return result

    def _values(self, strategy: ReadStrategy, query: Query) -> list[tuple[Value, ...]]:
        if strategy.pruned is not None or strategy.trusted is not None:
            return [row.values for row in self.reading.rows(strategy, query.conditions)]
        if strategy not in self._rows:
            self._rows[strategy] = [row.values for row in self.reading.rows(strategy)]
        return self._rows[strategy]

    def fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[ReadStrategy, ...]:
        """Return the smallest strategies that reproduce a whole answer, labels included."""
        asked = query, table_of(labels, rows)
        if asked not in self._fitting:
            fits: list[ReadStrategy] = []
            for strategy in self.strategies(query):
                if not any(map(strategy.includes, fits)) and self._fits(strategy, *asked):
                    fits.append(strategy)
            self._fitting[asked] = tuple(fits)
        return self._fitting[asked]

    def all_fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[ReadStrategy, ...]:
        """Return every strategy that reproduces a whole answer, also those that do too much."""
        answer = table_of(labels, rows)
        return tuple(by for by in self.strategies(query) if self._fits(by, query, answer))

    def answers(self, query: Query) -> tuple[StrategyAnswer, ...]:
        """Return every table that a strategy shows, each once, with its smallest strategies."""
        result: dict[TableLook, StrategyAnswer] = {}
        for strategy in self.strategies(query):
            labels = self.labels(strategy, query)
            shown = self._shown(strategy, query) if labels else None
            if labels is None or shown is None:
                continue
            table = table_of(labels, shown)
            same = result.get(table, StrategyAnswer(labels, shown, ()))
            if not any(map(strategy.includes, same.strategies)):
                result[table] = replace(same, strategies=(*same.strategies, strategy))
        return tuple(result.values())

    def _shown(self, strategy: ReadStrategy, query: Query) -> list[tuple[Value, ...]] | None:
        try:
            return self.answer(strategy, query)
        except ValueError:
            return None

    def _fits(self, strategy: ReadStrategy, query: Query, answer: TableLook) -> bool:
        labels = self.labels(strategy, query)
        if labels is None or tuple(sorted(labels)) != answer[0]:
            return False
        asked = strategy, query
        if asked not in self._tables:
            rows = self._shown(strategy, query)
            self._tables[asked] = None if rows is None else table_of(labels, rows)
        table = self._tables[asked]
        if query.limit and table is not None:
            return _some_of(answer, table, query.limit)
        return table == answer


def _some_of(answer: TableLook, whole: TableLook, limit: int) -> bool:
    """Return whether an answer has so many rows of a table, whichever."""
    there, shown = Counter(dict(whole[1])), Counter(dict(answer[1]))
    right = shown.total() == min(limit, there.total())
    return answer[0] == whole[0] and right and shown <= there

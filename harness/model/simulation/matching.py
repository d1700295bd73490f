"""Which ways of reading give an answer: the smallest ones, and all of them where several do.

A whole answer counts: its columns and every row. The order of rows and columns does not, nor does
the type in which a value came. Of two ways of which one is a part of the other, the smaller one is
the explanation. Ways of which neither is a part of the other may both fit an answer: then all are
given. Which one is claimed is `Verdict.claimed`. Where none fits, none of those tried does: at most
`AT_ONCE` things beyond how columns are found are combined, `CATALOGS` older schemas are tried.
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
    """What readers of each way would answer about one table state."""

    reading: Simulation
    _tables: dict[Query, dict[ReadStrategy, TableLook | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _fitting: dict[tuple[Query, TableLook], tuple[ReadStrategy, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _rows: dict[ReadStrategy, list[tuple[Value, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def strategies(self, query: Query) -> tuple[ReadStrategy, ...]:
        """Return the ways that are tried for a question, the smallest first.

        Ids are given anew only where a timestamp is asked for.
        """
        result = self.reading.strategies(query.conditions)
        if not self.reading.renumbered or self._reads_timestamps(query):
            return result
        return tuple(way for way in result if way.mapping is not ColumnMapping.RENUMBERED)

    def _reads_timestamps(self, query: Query) -> bool:
        fields = self.reading.schema(ReadStrategy(ColumnMapping.ID)).fields
        asked = {path.partition(".")[0] for path in (*query.columns, *query.filters)}
        whole = not (query.columns or query.label)
        return any(has_timestamp(each) for each in fields if whole or each.name in asked)

    def labels(self, way: ReadStrategy, query: Query) -> tuple[str, ...] | None:
        """Return what the answer's columns are called; None where the reader has no such column."""
        schema = self.reading.schema(way)
        asked = (*query.columns, *query.filters)
        if not all(schema.has(path) for path in asked):
            return None
        return query.labels(schema.names)

    def answer(self, way: ReadStrategy, query: Query) -> list[tuple[Value, ...]]:
        """Return the rows that a reader of that way answers.

        A reader is taken to resolve every row, and then to see whether the predicate holds for it;
        one that leaves out files by statistics does so before.

        Raises:
            ValueError: a value has no form in the type of an older catalog, or is not predicted.

        """
        asked, names = self.reading.asked(way, query), self.reading.schema(way).names
        result = asked.answer(names, self._values(way, query)) if asked else query.answer(names, ())
        if any(isinstance(value, Unpredicted) for row in result for value in row):
            raise ValueError(f"a value is not predicted of a reader {way}")
        return result

    def _values(self, way: ReadStrategy, query: Query) -> list[tuple[Value, ...]]:
        if way.pruned is not None or way.trusted is not None:
            return [row.values for row in self.reading.rows(way, query.conditions)]
        if way not in self._rows:
            self._rows[way] = [row.values for row in self.reading.rows(way)]
        return self._rows[way]

    def fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[ReadStrategy, ...]:
        """Return the smallest ways that reproduce a whole answer, under the labels asked for."""
        asked = query, table_of(labels, rows)
        if asked not in self._fitting:
            fits: list[ReadStrategy] = []
            for way in self.strategies(query):
                if not any(map(way.includes, fits)) and self._fits(way, *asked):
                    fits.append(way)
            self._fitting[asked] = tuple(fits)
        return self._fitting[asked]

    def all_fitting(
        self, query: Query, labels: Sequence[str], rows: Sequence[Sequence[Value]]
    ) -> tuple[ReadStrategy, ...]:
        """Return every way that reproduces a whole answer, also those that do more than need be."""
        wanted = table_of(labels, rows)
        return tuple(way for way in self.strategies(query) if self._fits(way, query, wanted))

    def answers(self, query: Query) -> tuple[StrategyAnswer, ...]:
        """Return every table that one of the ways shows, each once, with its smallest ways."""
        result: dict[TableLook, StrategyAnswer] = {}
        for way in self.strategies(query):
            labels = self.labels(way, query)
            shown = self._shown(way, query) if labels else None
            if labels is None or shown is None:
                continue
            table = table_of(labels, shown)
            same = result.get(table, StrategyAnswer(labels, shown, ()))
            if not any(map(way.includes, same.strategies)):
                result[table] = replace(same, strategies=(*same.strategies, way))
        return tuple(result.values())

    def _shown(self, way: ReadStrategy, query: Query) -> list[tuple[Value, ...]] | None:
        try:
            return self.answer(way, query)
        except ValueError:
            return None

    def _fits(self, way: ReadStrategy, query: Query, wanted: TableLook) -> bool:
        labels = self.labels(way, query)
        if labels is None or tuple(sorted(labels)) != wanted[0]:
            return False
        tables = self._tables.setdefault(query, {})
        if way not in tables:
            tables[way] = self._table(way, query, labels)
        return tables[way] == wanted

    def _table(self, way: ReadStrategy, query: Query, labels: Sequence[str]) -> TableLook | None:
        rows = self._shown(way, query)
        return None if rows is None else table_of(labels, rows)

"""The tables of a case side by side: expected, found, and of each read strategy. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.cli.explain.recorded_cell import RecordedCell
from harness.core.grouping import grouped
from harness.core.records import Answer
from harness.judge import compare
from harness.judge.expectations import Expectations
from harness.judge.file_evidence import Layout
from harness.model.canonical import Value, same, text_of
from harness.model.query import Query
from harness.model.simulation.column_resolution import LayoutError, slices
from harness.model.simulation.reader import Readings, table_of
from harness.model.simulation.strategies import ReadStrategy

ValueRows = Sequence[Sequence[Value]]
ValueTable = tuple[tuple[str, ...], ValueRows]
"""The names of a table's columns, and its rows."""


@dataclass(frozen=True, slots=True)
class ComparedRow:
    key: str
    values: tuple[tuple[Value, bool], ...] | None
    """Each value, and whether it is the expected one; None where an expected row is missing."""
    expected: bool
    """Whether the expected table has this row."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    titles: tuple[str, ...]
    labels: tuple[str, ...]
    rows: tuple[ComparedRow, ...]
    same_as_expected: bool = False
    same_as_answer: bool = False


@dataclass(frozen=True, slots=True)
class CaseTables:
    """All that is shown of one case's tables."""

    expected: ComparedTable
    answer: ComparedTable | None
    """None where there was no answer."""
    strategies: tuple[ComparedTable, ...]
    """What read strategies show, each table with the names of all that show it."""
    fitting: tuple[str, ...]
    """The smallest strategies that reproduce the answer."""
    inconclusive: bool
    """Whether the answer is too small to claim one of them."""
    tried: int
    """The number of strategies, also of those that only combine others."""


def expectations_of(recorded: RecordedCell) -> Expectations | None:
    """Return what the cell's reader should answer; None when no state of its step is known."""
    if all(state.outcome.step != recorded.cell.step for state in recorded.case.states):
        return None
    return Expectations(recorded.case).for_reader(recorded.cell.reader, recorded.answer)


def tables_of(layout: Layout, answer: Answer) -> CaseTables:
    """Return the tables of a cell; `answer`: as the judge understands it (`understand_cell`)."""
    query, readings = answer.question, layout.readings()
    answered = (answer.labels, answer.rows) if answer.has_table else None
    # Of a product that cannot show all that was written, they may be of all of it.
    fitting_readings, fitting = layout.fitting(query, *answered) if answered else (readings, ())
    shown: dict[ReadStrategy, Readings] = {}
    if readings:
        tried = readings.strategies(query)
        shown = {strategy: readings for strategy in tried if len(strategy.deviations) <= 1}
    if fitting_readings is not None:
        shown |= dict.fromkeys(fitting, fitting_readings)
    compared = _Comparison(layout, query)
    return CaseTables(
        expected=compared.table(("expected",), *compared.expected),
        answer=compared.table(("found",), *answered) if answered else None,
        strategies=tuple(_tables_of_strategies(shown, compared, answered)),
        fitting=tuple(map(str, fitting)),
        inconclusive=answer.inconclusive,
        tried=layout.tried(query),
    )


def read_at_all(layout: Layout) -> frozenset[int]:
    """Return the ids of the facts of files that are part of the newest state."""
    try:
        newest = list(slices(layout.files, layout.steps))
    except LayoutError:
        return frozenset(map(id, layout.files))
    return frozenset(id(fact) for base, logs in newest for fact in (base, *logs) if fact)


def _tables_of_strategies(
    readings: Mapping[ReadStrategy, Readings], compared: _Comparison, answered: ValueTable | None
) -> Iterator[ComparedTable]:
    """Yield the table of each strategy; those that show the same are one."""
    shown = dict[ReadStrategy, ValueTable]()
    for strategy, of_files in readings.items():
        labels = of_files.labels(strategy, compared.query)
        with suppress(ValueError):  # a value has no form in the type of an older catalog
            if labels is not None:
                shown[strategy] = labels, of_files.answer(strategy, compared.query)
    groups = grouped((table_of(*table), strategy) for strategy, table in shown.items())
    expected, answer = table_of(*compared.expected), table_of(*answered) if answered else None
    for table, strategies in groups.items():
        yield replace(
            compared.table(tuple(map(str, strategies)), *shown[strategies[0]]),
            same_as_expected=table == expected,
            same_as_answer=table == answer,
        )


class _Comparison:
    """Puts tables beside the expected one of a query."""

    def __init__(self, layout: Layout, query: Query) -> None:
        self.query = query
        self._layout = layout
        self._state = layout.state.narrowed(query)
        expected = self._state.table(query)
        self.expected: ValueTable = tuple(name for name, _ in expected.columns), expected.rows

    def table(
        self, titles: tuple[str, ...], labels: Sequence[str], rows: ValueRows
    ) -> ComparedTable:
        if self.query.label:
            expected = compare.aggregate(self._state, self.query)
            values = [tuple((value, same(value, expected)) for value in row) for row in rows]
            compared = [ComparedRow("", row, expected=True) for row in values]
        else:
            compared = [*self._rows(labels, rows)]
        return ComparedTable(titles, tuple(labels), tuple(compared))

    def _rows(self, labels: Sequence[str], rows: ValueRows) -> Iterator[ComparedRow]:
        """Yield the rows in the order of the expected ones, those that are too many at the end."""
        state = replace(self._state, predicted=self._layout.predicted(self.query, labels, rows))
        matched = compare.match(state, labels, [tuple(row) for row in rows])
        by_key = {text_of(row.key): values for row, values in (*matched.pairs, *matched.empty)}
        names, expected_rows = self.expected
        for key, expected_row in zip(sorted(self._state.keys), expected_rows, strict=True):
            row, values = by_key.get(key), None
            if row is not None:
                expected = dict(zip(names, expected_row, strict=True))
                values = tuple(
                    (value, name in expected and same(value, expected[name]))
                    for name, value in zip(labels, row, strict=True)
                )
            yield ComparedRow(key, values, expected=True)
        for key, row in (*matched.second, *matched.extra):
            yield ComparedRow(key, tuple((value, False) for value in row), expected=False)

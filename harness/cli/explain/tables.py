"""The tables of a case side by side: expected, found, and what each way of reading shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.cli.explain.recorded_cell import RecordedCell
from harness.core.grouping import grouped
from harness.core.records import Answer
from harness.judge import match_rows
from harness.judge.expectations import Expectations, ExpectationsByEngine
from harness.judge.expected_state import ExpectedState
from harness.judge.file_evidence import Layout
from harness.judge.table_comparison import aggregate
from harness.model.canonical import Value, same, text_of
from harness.model.query import Query
from harness.model.simulation.column_resolution import LayoutError, slices
from harness.model.simulation.matching import Readings, table_of
from harness.model.simulation.strategies import ReadStrategy

ValueRows = Sequence[Sequence[Value]]
ValueTable = tuple[tuple[str, ...], ValueRows]
"""The names of a table's columns, and its rows."""


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of a table, and whether it is the expected one."""

    value: Value
    right: bool


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A row: `parts` are None where a row that is expected is not there."""

    key: str
    parts: tuple[ComparedValue, ...] | None
    expected: bool
    """Whether the expected table has this row."""


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table with what it is."""

    titles: tuple[str, ...]
    labels: tuple[str, ...]
    lines: tuple[ComparedRow, ...]
    same_as_expected: bool = False
    same_as_found: bool = False


@dataclass(frozen=True, slots=True)
class CaseTables:
    """All that is shown of one case's tables."""

    expected: ComparedTable
    found: ComparedTable | None
    """None where there was no answer."""
    ways: tuple[ComparedTable, ...]
    """Each with the names of the ways that show it; those alike are one."""
    fitting: tuple[str, ...]
    """The smallest ways that reproduce the answer."""
    scant: bool
    """Whether the answer tells too little to claim one of them."""
    tried: int
    """How many ways, also those that only combine others."""


def standard_of(found: RecordedCell) -> Expectations | None:
    """Return truth as the cell's reader can show it; None when no state of its step is known."""
    if all(state.outcome.step != found.cell.step for state in found.case.states):
        return None
    return ExpectationsByEngine(found.case).of(found.cell.reader, found.answer)


def tables_of(layout: Layout, answer: Answer) -> CaseTables:
    """Return the tables of a cell that was answered or refused.

    `answer`: as the judge understands it (`judge.understood`), declared differences evened out.
    """
    query, readings = answer.question, layout.readings()
    seen = (answer.labels, answer.rows) if answer.has_table else None
    beside = _Expectation(layout.state.narrowed(query), query, layout)
    # Of a product that cannot show all that was written, they may be of all of it.
    of, fitting = layout.fitting(query, *seen) if seen else (readings, ())
    own = readings.strategies(query) if readings else ()
    shown = {strategy: readings for strategy in own if readings and len(strategy.deviations) <= 1}
    shown |= {strategy: of for strategy in fitting if of is not None}
    return CaseTables(
        expected=beside.sheet(("expected",), *beside.table),
        found=beside.sheet(("found",), *seen) if seen else None,
        ways=tuple(_ways(shown, beside, seen)),
        fitting=tuple(map(str, fitting)),
        scant=answer.scant,
        tried=layout.tried(query),
    )


def _ways(
    readings: Mapping[ReadStrategy, Readings], beside: _Expectation, seen: ValueTable | None
) -> Iterator[ComparedTable]:
    """Yield a table for each way, by what it is worked out; those that show the same are one."""
    shown = {way: _shown(of, way, beside.query) for way, of in readings.items()}
    groups = grouped((table_of(*table), way) for way, table in shown.items() if table)
    wanted, found = table_of(*beside.table), table_of(*seen) if seen else None
    for table, ways in groups.items():
        if first := shown[ways[0]]:
            sheet = beside.sheet(tuple(map(str, ways)), *first)
            yield replace(sheet, same_as_expected=table == wanted, same_as_found=table == found)


def _shown(readings: Readings, way: ReadStrategy, query: Query) -> ValueTable | None:
    labels = readings.labels(way, query)
    try:
        return None if labels is None else (labels, readings.answer(way, query))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class _Expectation:
    """What every table is put beside: the rows that the question should be answered with."""

    state: ExpectedState
    query: Query
    layout: Layout

    @property
    def table(self) -> ValueTable:
        """The expected table."""
        expected = self.state.table(self.query)
        return tuple(name for name, _ in expected.columns), expected.rows

    def sheet(
        self, titles: tuple[str, ...], labels: Sequence[str], rows: ValueRows
    ) -> ComparedTable:
        lines = self._aggregated(rows) if self.query.label else self._lines(labels, rows)
        return ComparedTable(titles, tuple(labels), tuple(lines))

    def _aggregated(self, rows: ValueRows) -> Iterator[ComparedRow]:
        expected = aggregate(self.state, self.query)
        for row in rows:
            parts = tuple(ComparedValue(value, same(value, expected)) for value in row)
            yield ComparedRow("", parts, expected=True)

    def _lines(self, labels: Sequence[str], rows: ValueRows) -> Iterator[ComparedRow]:
        """Yield the rows in the order of the expected ones, those that are too many at the end."""
        state = replace(self.state, predicted=self.layout.predicted(self.query, labels, rows))
        found = match_rows.match(state, labels, [tuple(row) for row in rows])
        there = {text_of(row.key): values for row, values in (*found.pairs, *found.empty)}
        names, wanted = self.table
        keys = sorted(self.state.keys)
        for key, row in zip(keys, wanted, strict=True):
            values = there.get(key)
            whole = dict(zip(names, row, strict=True))
            parts = _parts(labels, values, whole) if values is not None else None
            yield ComparedRow(key, parts, expected=True)
        for key, values in (*found.second, *found.extra):
            yield ComparedRow(
                key, tuple(ComparedValue(value, right=False) for value in values), expected=False
            )


def _parts(
    labels: Sequence[str], row: Sequence[Value], wanted: dict[str, Value]
) -> tuple[ComparedValue, ...]:
    return tuple(
        ComparedValue(value, name in wanted and same(value, wanted[name]))
        for name, value in zip(labels, row, strict=True)
    )


def read_at_all(layout: Layout) -> frozenset[int]:
    """Return the ids of the facts of files that are part of the newest state."""
    try:
        newest = list(slices(layout.files, layout.steps))
    except LayoutError:
        return frozenset(map(id, layout.files))
    return frozenset(id(fact) for base, logs in newest for fact in (base, *logs) if fact)

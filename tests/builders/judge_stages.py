"""The stages of the judge for one table, without files: wrong places and their findings."""

from collections.abc import Sequence

from harness.core.records import Answer, Column, Finding
from harness.judge.attribute import attribute
from harness.judge.compare import AnswerComparison, compare, compare_rows, wrong_columns
from harness.judge.difference import Difference
from harness.judge.expected_state import ExpectedState
from harness.judge.file_evidence import Strategies
from harness.judge.hidden_from_readers import HiddenFromReaders
from harness.judge.name import name
from harness.judge.trace import trace_rows
from harness.model.canonical import Value
from harness.model.query import Query

Rows = Sequence[tuple[Value, ...]]


def wrong_rows(
    state: ExpectedState, columns: Sequence[Column], rows: Rows, asked: Sequence[str] | None = None
) -> tuple[Difference, ...]:
    return trace_rows(compare_rows(state, columns, rows, asked or state.schema.names))


def differences(
    state: ExpectedState, columns: Sequence[Column], rows: Rows, asked: Sequence[str]
) -> tuple[Difference, ...]:
    return (*wrong_rows(state, columns, rows, asked), *wrong_columns(state, columns, asked))


def wrong(
    state: ExpectedState, query: Query, columns: Sequence[Column], rows: Rows
) -> tuple[Difference, ...]:
    answer = Answer("case", "select", tuple(columns), tuple(rows), question=query)
    asked = state.narrowed(query)
    result = compare(answer, asked, Strategies((), None, (state.predicted,)), None, truncated=False)
    return (*(place for row in result.rows for place in trace_rows(row)), *result.heads)


def findings(places: Sequence[Difference], state: ExpectedState) -> tuple[Finding, ...]:
    return attribute(
        name(places, state), AnswerComparison((), ()), None, state, HiddenFromReaders()
    )

"""Stage 3: where an answer differs from what is expected, and from what the files hold."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace

from harness.core.records import Answer, Column, Part
from harness.judge.agreement import FileAgreement
from harness.judge.answer_tables import AnswerTable, answered, tables_of
from harness.judge.difference import Difference, Location
from harness.judge.expected_state import ExpectedState
from harness.judge.predicted_rows import PredictedRows
from harness.judge.strategies import Strategies
from harness.judge.table_comparison import (
    RowComparison,
    compare_rows,
    wrong_aggregate,
    wrong_columns,
)
from harness.judge.truncated_history import as_shown
from harness.model.truth import Rows


@dataclass(frozen=True, slots=True)
class AnswerComparison:
    """An answer beside what is expected."""

    rows: tuple[RowComparison, ...]
    """Of each of its tables; none of a count."""
    heads: tuple[Difference, ...]
    """What is wrong with its columns, and how they are declared, or with the number counted."""
    in_files: frozenset[Location] | None = None
    """Where it differs from what the files hold; None where that is not known, or nothing is
    wrong."""
    by_folder: frozenset[Location] | None = None
    """The same of what the files hold under the partition values that their folders' names give;
    None where these are the ones in the files, or there are none there."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All that is wrong, as often as tables show it."""
        return (*(difference for row in self.rows for difference in row.differences), *self.heads)


def compare(
    answer: Answer,
    state: ExpectedState,
    strategies: Strategies,
    agreement: FileAgreement | None,
    *,
    truncated: bool,
) -> AnswerComparison:
    """Return where an answer, or the columns asked alone, differs from what is expected.

    Args:
        answer: as the judge understands it.
        world: what the answer should show, as far as the product can.
        strategies: what its rows were read from, which tells whose row one is.
        agreement: what the files of the view hold; None where that is not known.
        truncated: whether the product cannot show all that was written, nor all that files hold.

    """
    result = _compared(answer, state, strategies.predicted)
    if agreement is None or not result.differences:
        return result
    try:
        wrong = frozenset(difference.location for difference in result.differences)
        if not agreement.equal:
            wrong = _wrong_in(
                answer,
                _state_in_files(agreement.content.rows, answer, state, truncated=truncated),
                strategies,
            )
        named = agreement.content.by_folder
        if named is None:
            return replace(result, in_files=wrong)
        by_folder = _wrong_in(
            answer, _state_in_files(named, answer, state, truncated=truncated), strategies
        )
        return replace(result, in_files=wrong, by_folder=by_folder)
    except ValueError:  # files hold a value that has no form in the type of today
        return result


def _state_in_files(
    rows: Rows, answer: Answer, state: ExpectedState, *, truncated: bool
) -> ExpectedState:
    """Return the world of rows that files hold, as far as a question asks for them."""
    shown = as_shown(rows, state.schema) if truncated else rows
    in_files = replace(state, rows=shown, left_out={}, newer=None)
    return in_files.narrowed(answer.question) if answer.refusal is None else in_files


def _wrong_in(
    answer: Answer, in_files: ExpectedState, strategies: Strategies
) -> frozenset[Location]:
    return frozenset(
        difference.location
        for difference in _compared(answer, in_files, strategies.predicted).differences
    )


def _compared(
    answer: Answer, state: ExpectedState, predicted: Sequence[PredictedRows | None]
) -> AnswerComparison:
    tables = tables_of(answer)
    if answer.refusal is None:
        return _of_whole(tables[0], state, predicted[0])
    pairs = zip(tables, predicted, strict=True)
    rows = tuple(_rows_of(each, state, None, of) for each, of in pairs)
    return AnswerComparison(
        rows, tuple(_heads_of_parts(answer.parts, state)) if answer.parts else ()
    )


def _of_whole(
    table: AnswerTable, state: ExpectedState, predicted: PredictedRows | None
) -> AnswerComparison:
    if table.query.label:
        wrong = wrong_aggregate(state, table.query, table.columns, table.rows)
        return AnswerComparison((), tuple(wrong))
    asked = table.query.labels(state.schema.names)
    heads = wrong_columns(state, table.columns, asked)
    # How a right answer was read does not matter, and most are right.
    read = predicted if heads else None
    return AnswerComparison((_rows_of(table, state, asked, predicted, read),), heads)


def _rows_of(
    table: AnswerTable,
    state: ExpectedState,
    asked: Sequence[str] | None,
    predicted: PredictedRows | None,
    read: PredictedRows | None = None,
) -> RowComparison:
    """Compare the rows of a table, in view of what they were read from where any is wrong."""
    result = compare_rows(replace(state, predicted=read), table.columns, table.rows, asked)
    if predicted is None or read is predicted or not result.differences:
        return result
    return compare_rows(replace(state, predicted=predicted), table.columns, table.rows, asked)


def _heads_of_parts(parts: Sequence[Part], state: ExpectedState) -> Collection[Difference]:
    """Return what is wrong with the columns that parts show, and how they are declared, each once.

    All of them together are what a whole answer would have shown, and are compared like one, which
    tells the step that they are of. Each part by itself has the key and the column asked for.
    """
    key = state.history[0].table.key
    wrong = list(wrong_columns(state, _together(parts, state), state.schema.names))
    for part in filter(answered, parts):
        asked = tuple(dict.fromkeys((key, part.column)))
        wrong += wrong_columns(state, part.columns, asked)
    once: dict[Hashable, Difference] = {}
    for difference in wrong:
        once.setdefault((difference.location, repr(difference.actual)), difference)
    return once.values()


def _together(parts: Sequence[Part], state: ExpectedState) -> tuple[Column, ...]:
    """Return the columns of all parts as those of one answer, in which the key stands once."""
    key = state.history[0].table.key
    keys: list[Column] = []
    others: list[Column] = []
    for part in parts:
        shown = _shown(part, state)
        names = [column.name for column in shown]
        at = names.index(key) if key in names else len(names)
        keys += shown[at : at + 1]
        others += (*shown[:at], *shown[at + 1 :])
    return (*keys[:1], *others)


def _shown(part: Part, state: ExpectedState) -> tuple[Column, ...]:
    """Return the columns that a part shows.

    One that was refused has the column it was asked for. Nor is it known how a part could show a
    column that only the reader's catalog has: that it was asked for is wrong already.
    """
    columns = part.columns if answered(part) else ()
    names = [column.name for column in columns]
    known = answered(part) and state.schema.has(part.column)
    return columns if known or part.column in names else (*columns, Column(part.column, ""))

"""Stage 4: whose value was found at each difference, and which file it was read from."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Answer, Origin
from harness.judge import origins
from harness.judge.altered_value import altered_value
from harness.judge.compare import AnswerComparison, RowComparison
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import looks_of
from harness.judge.file_evidence import Layout
from harness.model import partition_paths
from harness.model.canonical import text_of
from harness.model.file_facts import FileFact
from harness.model.truth import Row, Truth

_WHOLE_ROWS: Final = frozenset(
    {DifferenceKind.EXTRA_ROW, DifferenceKind.SECOND_ROW, DifferenceKind.ABSENT_ROW}
)


def trace(comparison: AnswerComparison, answer: Answer, layout: Layout) -> tuple[Difference, ...]:
    """Return the differences of an answer, each once, with origin and file where known."""
    tables = [trace_rows(table) for table in comparison.rows]
    rows = [row for table in tables for row in table] if answer.refusal is None else _once(tables)
    return _with_files((*rows, *comparison.heads), answer, layout)


def trace_rows(table: RowComparison) -> tuple[Difference, ...]:
    """Return the differences of the rows of one table, each with whose value was found there."""
    newer = _newer_origins(table)
    whole = (
        row if row.kind is DifferenceKind.SECOND_ROW else replace(row, origin=newer.get(row.key))
        for row in table.whole_rows
    )
    cells = origins.attribute(table.state, table.cells, table.seen)
    return (*cells, *table.lost, *whole)


def _newer_origins(table: RowComparison) -> dict[str, Origin]:
    """Return the origins of rows that are as a newer table has them, by the texts of their keys.

    A view may show an older table than the one of now: base files alone, or an earlier step. Then a
    row that only the newer one has is there, one that it lacks is not, or the predicate is held
    against the newer version of a row.
    """
    state = table.state
    if not state.newer:
        return {}
    truths = state.later or state.history[-1:]
    rows = ({text_of(row.key): row for row in rows.values()} for rows in state.newer)
    newer = list(zip(truths, rows, strict=True))
    name = state.history[0].table.key
    return {
        key: Origin(state.key_id, name, _newest_step(truth, key), key)
        for key, truth in (*_early(table, newer), *_gone(table, newer))
    }


def _early(
    table: RowComparison, newer: Sequence[tuple[Truth, Mapping[str, Row]]]
) -> Iterator[tuple[str, Truth]]:
    """Yield the rows that are there too early, each with the newest table that has it."""
    state, score = table.state, table.state.right_values
    then = state.history if state.later else ()
    # The older version is one that the predicate leaves out, or that was deleted then.
    tables = (state.left_out, *(truth.rows for truth in reversed(then)))
    for key, values in table.matching.extra:
        having = [(truth, rows[key]) for truth, rows in newer if key in rows]
        older = next((r for rows in tables for k, r in rows.items() if text_of(k) == key), None)
        if having and older is not None:
            newest = max(score(row, table.names, values) for _, row in having)
            having = having if newest > score(older, table.names, values) else []
        if having:
            yield key, having[-1][0]


def _gone(
    table: RowComparison, newer: Sequence[tuple[Truth, Mapping[str, Row]]]
) -> Iterator[tuple[str, Truth]]:
    """Yield absent rows that a newer table lacks, each with the first such table.

    But for those of a file group of which all is absent.
    """
    there, rows = table.matching.there, table.state.keys
    stay = [key for key in rows if all(key in newer_rows for _, newer_rows in newer)]
    for key, row in rows.items():
        lacking = [truth for truth, newer_rows in newer if key not in newer_rows]
        if key not in there and lacking:
            others = [other for other in stay if rows[other].group == row.group] or stay
            if not others or there.intersection(others):
                yield key, lacking[0]


def _newest_step(truth: Truth, key: str) -> int:
    """Return the step of a row's newest state in a table."""
    row = next((row for k, row in truth.rows.items() if text_of(k) == key), None)
    gone = next((step for k, step in truth.gone.items() if text_of(k) == key), truth.step)
    return gone if row is None else max(row.written.values(), default=gone)


def _once(tables: Sequence[Sequence[Difference]]) -> list[Difference]:
    """Return the differences of the columns asked alone, each once.

    Every part shows the key column and all rows again, so what is wrong with them is in several:
    a row has other values in each. Where parts show different things at one place, each stands.
    """

    def seen_at(difference: Difference) -> Hashable:
        whole = difference.kind in _WHOLE_ROWS
        return difference.location, "" if whole else repr(difference.actual)

    result: dict[Hashable, list[Difference]] = {}
    for table in tables:
        for at, differences in grouped([(seen_at(row), row) for row in table]).items():
            if len(differences) > len(result.get(at, ())):
                result[at] = differences
    return [difference for differences in result.values() for difference in differences]


def _with_files(
    differences: Sequence[Difference], answer: Answer, layout: Layout
) -> tuple[Difference, ...]:
    """Return the differences with the file that each found value was read from, where known."""
    files = layout.read_from(answer) if differences else {}
    second = any(difference.kind is DifferenceKind.SECOND_ROW for difference in differences)
    twice = layout.twice_from(answer) if second else {}

    def file_of(difference: Difference) -> FileFact | None:
        """Return the file of a row; that of one which is answered twice by its values."""
        values = difference.actual if difference.kind is DifferenceKind.SECOND_ROW else None
        if difference.key in files or not twice or not isinstance(values, tuple):
            return files.get(difference.key)
        return twice.get((difference.key, looks_of(answer.labels, values)))

    result = [_in_folder(_in_file(d, file_of(d)), layout) for d in differences]
    named = {d.key for d in result if d.folder and isinstance(d.actual, str)}
    return tuple(_null_as_true(d, layout) if d.key in named else d for d in result)


def _in_file(difference: Difference, fact: FileFact | None) -> Difference:
    # A value of another row came from wherever that one is.
    others = difference.origin is not None and difference.origin.key != difference.key
    if fact is None or difference.kind is DifferenceKind.ABSENT_ROW or others:
        return difference
    return replace(difference, file=fact.path)


def _in_folder(difference: Difference, layout: Layout) -> Difference:
    """Return a wrong partition value with the folder whose name gave it, where one did.

    That is so where the name says what is found; or nearly, where the files have no such column.
    A value of another field, or of another row, came from elsewhere.
    """
    by, field, origin = (
        layout.state.history[0].table.partition_by,
        difference.cell,
        difference.origin,
    )
    if field is None or field.name not in by:
        return difference
    folder, alone = layout.partition_folder(difference.key, field.name)
    others = origin is not None and (origin.field_id, origin.key) != (field.id, difference.key)
    if not folder or others:
        return difference
    says = partial(partition_paths.says, folder, by, field)
    nearly = alone and says(difference.expected) and altered_value(difference, layout.state)
    partitioned = says(difference.actual) or nearly
    return replace(
        difference,
        file="" if alone or partitioned else difference.file,
        folder=folder if partitioned else "",
    )


def _null_as_true(difference: Difference, layout: Layout) -> Difference:
    """Return a `true` for NULL with the folder, whose name as a boolean it is.

    Alone it may be any row's; here another column of the row shows the name itself.
    """
    by, field = layout.state.history[0].table.partition_by, difference.field
    if field is None or difference.actual is not True or str(field.type) != "boolean":
        return difference
    folder, _ = layout.partition_folder(difference.key, field.name)
    null = field.name in by and partition_paths.is_null(folder, by, field.name)
    return replace(difference, file="", folder=folder, origin=None) if null else difference

"""Stage 4: whose value was found at each wrong place, and which file it was read from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from harness.core.records import Answer
from harness.judge import newer_rows, origins
from harness.judge.checks import altered_value
from harness.judge.compare import AnswerComparison
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.file_evidence import Layout
from harness.judge.predicted_rows import Looks, looks_of
from harness.judge.table_comparison import RowComparison
from harness.model import partition_paths
from harness.model.file_facts import FileFact

_WHOLE_ROWS: Final = frozenset(
    {DifferenceKind.EXTRA_ROW, DifferenceKind.SECOND_ROW, DifferenceKind.ABSENT_ROW}
)


def trace(comparison: AnswerComparison, answer: Answer, layout: Layout) -> tuple[Difference, ...]:
    """Return the wrong places of an answer, each once, with origin and file where known."""
    tables = [trace_rows(row) for row in comparison.rows]
    rows = (
        _once(tables)
        if answer.refusal is not None
        else (difference for t in tables for difference in t)
    )
    return _filed((*rows, *comparison.heads), answer, layout)


def trace_rows(table: RowComparison) -> tuple[Difference, ...]:
    """Return the wrong places of the rows of one table, each with whose value was found there."""
    cells = origins.attribute(table.state, table.cells, table.seen)
    early = newer_rows.origins(table.state, table.names, table.matching)
    whole = (
        whole_row
        if whole_row.kind is DifferenceKind.SECOND_ROW
        else replace(whole_row, origin=early.get(whole_row.key))
        for whole_row in table.whole_rows
    )
    return (*cells, *table.lost, *whole)


def _once(tables: Sequence[Sequence[Difference]]) -> list[Difference]:
    """Return the wrong places of the columns asked alone, each once.

    Every part shows the key column and all rows again, so what is wrong with them is in several.
    """
    rows: dict[Hashable, list[Difference]] = {}
    for table in tables:
        again: dict[Hashable, list[Difference]] = {}
        for difference in table:
            again.setdefault(_seen_at(difference), []).append(difference)
        rows |= {
            at: differences
            for at, differences in again.items()
            if len(differences) > len(rows.get(at, ()))
        }
    return [difference for differences in rows.values() for difference in differences]


def _seen_at(difference: Difference) -> Hashable:
    """Return by what a place is the same in several parts: in another one its row has other values.

    Where parts show different things at one place, each of them stands.
    """
    result = "" if difference.kind in _WHOLE_ROWS else repr(difference.actual)
    return difference.location, result


def _filed(
    differences: Sequence[Difference], answer: Answer, layout: Layout
) -> tuple[Difference, ...]:
    """Return the places with the file that each found value was read from, where that is known."""
    files = layout.read_from(answer) if differences else {}
    again = any(difference.kind is DifferenceKind.SECOND_ROW for difference in differences)
    twice = layout.twice_from(answer) if again else {}
    labels = answer.labels
    filed = (
        _in_file(difference, files.get(difference.key) or _of_second(difference, labels, twice))
        for difference in differences
    )
    result = tuple(_in_folder(each, layout) for each in filed)
    named = {
        difference.key
        for difference in result
        if difference.folder and isinstance(difference.actual, str)
    }
    return tuple(_name_as_true(each, layout) if each.key in named else each for each in result)


def _of_second(
    difference: Difference, labels: Sequence[str], twice: Mapping[tuple[str, Looks], FileFact]
) -> FileFact | None:
    """Return the file of a row that is answered twice by its values: each may have its own."""
    if not (
        twice
        and difference.kind is DifferenceKind.SECOND_ROW
        and isinstance(difference.actual, tuple)
    ):
        return None
    return twice.get((difference.key, looks_of(labels, difference.actual)))


def _in_file(difference: Difference, fact: FileFact | None) -> Difference:
    # A value of another row came from wherever that one is.
    others = difference.origin is not None and difference.origin.key != difference.key
    if fact is None or difference.kind is DifferenceKind.ABSENT_ROW or others:
        return difference
    return replace(difference, file=fact.path)


def _in_folder(difference: Difference, layout: Layout) -> Difference:
    """Return the place of a partition value with the folder whose name gave it, where one did.

    That is so where the name says what is found; or nearly, where the files have no such column.
    A value of another field, or of another row, came from elsewhere.
    """
    table, field = layout.state.history[0].table, difference.field
    if (
        difference.kind is not DifferenceKind.CELL
        or field is None
        or field.name not in table.partition_by
    ):
        return difference
    others = difference.origin is not None and (
        difference.origin.field_id,
        difference.origin.key,
    ) != (
        field.id,
        difference.key,
    )
    folder, alone = layout.partition_folder(difference.key, field.name)
    if not folder or others:
        return difference
    says = partial(partition_paths.says, folder, table.partition_by, field)
    nearly = (
        alone and says(difference.expected) and altered_value.explains(difference, layout.state)
    )
    partitioned = says(difference.actual) or nearly
    return replace(
        difference,
        file="" if alone or partitioned else difference.file,
        folder=folder if partitioned else "",
    )


def _name_as_true(difference: Difference, layout: Layout) -> Difference:
    """Return the place of a `true` for NULL with the folder, whose name as a boolean it is.

    Alone it may be any row's; here another column of the row shows the name itself.
    """
    by, field = layout.state.history[0].table.partition_by, difference.field
    if field is None or difference.actual is not True or str(field.type) != "boolean":
        return difference
    folder, _ = layout.partition_folder(difference.key, field.name)
    null = field.name in by and partition_paths.is_null(folder, by, field.name)
    return replace(difference, file="", folder=folder, origin=None) if null else difference

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
from harness.judge.file_evidence import Layout
from harness.judge.place import Place, What
from harness.judge.predicted_rows import Looks, looks_of
from harness.judge.table_comparison import RowComparison
from harness.model import partition_paths
from harness.model.file_facts import FileFact

_WHOLE_ROWS: Final = frozenset({What.EXTRA_ROW, What.SECOND_ROW, What.ABSENT_ROW})


def trace(comparison: AnswerComparison, answer: Answer, layout: Layout) -> tuple[Place, ...]:
    """Return the wrong places of an answer, each once, with origin and file where known."""
    tables = [trace_rows(each) for each in comparison.rows]
    rows = _once(tables) if answer.refusal is not None else (place for t in tables for place in t)
    return _filed((*rows, *comparison.heads), answer, layout)


def trace_rows(table: RowComparison) -> tuple[Place, ...]:
    """Return the wrong places of the rows of one table, each with whose value was found there."""
    cells = origins.attribute(table.world, table.cells, table.seen)
    early = newer_rows.origins(table.world, table.names, table.matching)
    whole = (
        each if each.what is What.SECOND_ROW else replace(each, origin=early.get(each.key))
        for each in table.whole_rows
    )
    return (*cells, *table.lost, *whole)


def _once(tables: Sequence[Sequence[Place]]) -> list[Place]:
    """Return the wrong places of the columns asked alone, each once.

    Every part shows the key column and all rows again, so what is wrong with them is in several.
    """
    rows: dict[Hashable, list[Place]] = {}
    for table in tables:
        again: dict[Hashable, list[Place]] = {}
        for place in table:
            again.setdefault(_seen_at(place), []).append(place)
        rows |= {at: places for at, places in again.items() if len(places) > len(rows.get(at, ()))}
    return [place for places in rows.values() for place in places]


def _seen_at(place: Place) -> Hashable:
    """Return by what a place is the same in several parts: in another one its row has other values.

    Where parts show different things at one place, each of them stands.
    """
    found = "" if place.what in _WHOLE_ROWS else repr(place.found)
    return place.spot, found


def _filed(places: Sequence[Place], answer: Answer, layout: Layout) -> tuple[Place, ...]:
    """Return the places with the file that each found value was read from, where that is known."""
    files = layout.read_from(answer) if places else {}
    again = any(each.what is What.SECOND_ROW for each in places)
    twice = layout.twice_from(answer) if again else {}
    labels = answer.labels
    filed = (
        _in_file(each, files.get(each.key) or _of_second(each, labels, twice)) for each in places
    )
    found = tuple(_in_folder(each, layout) for each in filed)
    named = {each.key for each in found if each.folder and isinstance(each.found, str)}
    return tuple(_name_as_true(each, layout) if each.key in named else each for each in found)


def _of_second(
    place: Place, labels: Sequence[str], twice: Mapping[tuple[str, Looks], FileFact]
) -> FileFact | None:
    """Return the file of a row that is answered twice by its values: each may have its own."""
    if not (twice and place.what is What.SECOND_ROW and isinstance(place.found, tuple)):
        return None
    return twice.get((place.key, looks_of(labels, place.found)))


def _in_file(place: Place, fact: FileFact | None) -> Place:
    # A value of another row came from wherever that one is.
    others = place.origin is not None and place.origin.key != place.key
    if fact is None or place.what is What.ABSENT_ROW or others:
        return place
    return replace(place, file=fact.path)


def _in_folder(place: Place, layout: Layout) -> Place:
    """Return the place of a partition value with the folder whose name gave it, where one did.

    That is so where the name says what is found; or nearly, where the files have no such column.
    A value of another field, or of another row, came from elsewhere.
    """
    table, field = layout.world.history[0].table, place.field
    if place.what is not What.CELL or field is None or field.name not in table.partition_by:
        return place
    others = place.origin is not None and (place.origin.field_id, place.origin.key) != (
        field.id,
        place.key,
    )
    folder, alone = layout.partition_folder(place.key, field.name)
    if not folder or others:
        return place
    says = partial(partition_paths.says, folder, table.partition_by, field)
    nearly = alone and says(place.expected) and altered_value.explains(place, layout.world)
    told = says(place.found) or nearly
    return replace(place, file="" if alone or told else place.file, folder=folder if told else "")


def _name_as_true(place: Place, layout: Layout) -> Place:
    """Return the place of a `true` for NULL with the folder, whose name as a boolean it is.

    Alone it may be any row's; here another column of the row shows the name itself.
    """
    by, field = layout.world.history[0].table.partition_by, place.field
    if field is None or place.found is not True or str(field.type) != "boolean":
        return place
    folder, _ = layout.partition_folder(place.key, field.name)
    null = field.name in by and partition_paths.is_null(folder, by, field.name)
    return replace(place, file="", folder=folder, origin=None) if null else place

"""What a column tells: the pattern over rows that were written alike, and its other wrong cells."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from harness.judge.checks import altered_value
from harness.judge.difference import NULLS, Difference, DifferenceKind, ShownRows, leaves
from harness.judge.expected_state import ExpectedState
from harness.judge.origins.value_origins import (
    best,
    older_and_newer,
    origins_of,
    readings,
    tells_nothing,
)
from harness.model.canonical import Look, Value, look_of

Batch = tuple[object, int]
"""Rows that lie in the same file: a group's base file, or the log file that one step wrote. In a
table without file groups the files of one insert are alike, and their rows count as of one."""
BASE: Final = -1
GROUP: Final = -2
"""In a batch: all files of the group."""

PATTERN_ROWS: Final = 4
"""Fewer rows are no pattern: booleans agree by chance too easily."""
DAY: Final = datetime.timedelta(days=1)
"""A date moves by at most this when it is shown in another zone."""


def wrong_columns(differences: Sequence[Difference]) -> dict[int, list[int]]:
    """Return where the wrong cells of each field stand, those with a value."""
    result: dict[int, list[int]] = {}
    for at, difference in enumerate(differences):
        if (
            difference.kind is DifferenceKind.CELL
            and difference.field is not None
            and difference.actual is not None
        ):
            result.setdefault(difference.field.id, []).append(at)
    return result


def moved_dates(differences: list[Difference], at: Sequence[int]) -> None:
    """Clear the origin of dates that moved by a day: they are not other rows' dates.

    Neighbouring rows have neighbouring dates; but a moved column holds one that nobody wrote.
    """
    cells = [differences[index] for index in at]
    moves = {_move(difference) for difference in cells}
    nobodys = any(difference.origin is None and not difference.disputed for difference in cells)
    if len(moves) == 1 and None not in moves and nobodys:
        for index in at:
            differences[index] = replace(differences[index], origin=None, disputed=False)


def _move(difference: Difference) -> datetime.timedelta | None:
    expected, result = difference.expected, difference.actual
    if type(expected) is not datetime.date or type(result) is not datetime.date:
        return None
    return result - expected if abs(result - expected) <= DAY else None


@dataclass(frozen=True, slots=True)
class LeafLook:
    """How a plain value looks that was found."""

    key: str
    look: Look
    readings: frozenset[Look]
    """The same, and what the value is in other types."""
    since: int
    """The latest step of what the row shows that tells whose it is: its version is no older."""


def cells_of(state: ExpectedState, seen: ShownRows) -> dict[int, list[LeafLook]]:
    """Return every plain value that was found, right or wrong, by the field it should be of."""
    cells: dict[int, list[LeafLook]] = {}
    for key, columns in seen.items():
        row = [leaf for field, value in columns for leaf in leaves(value, field, field.name)]
        since = max((_step(state, key, result) for _, _, result in row), default=BASE)
        for _, leaf, result in row:
            looks = frozenset(readings(result))
            cells.setdefault(leaf.id, []).append(LeafLook(key, look_of(result), looks, since))
    return cells


def _step(state: ExpectedState, key: str, result: Value) -> int:
    """Return the step that wrote a value, if it can only be this row's; else one before all."""
    origins = state.index.looks.get(look_of(result), ())
    steps = len(origins) == 1 and origins[0].key == key and not tells_nothing(result)
    return origins[0].step if steps else BASE


def batch_of(state: ExpectedState, key: str) -> Batch:
    """Return the rows that a row lies in one file with, by its key's text."""
    row = state.keys[key]
    in_base = state.in_base_files.get(key) == row
    return row.group, BASE if in_base else max(row.written.values(), default=BASE)


def by_pattern(
    state: ExpectedState,
    differences: list[Difference],
    at: Sequence[int],
    cells: Sequence[LeafLook],
) -> None:
    """Let the pattern over the rows decide what single values do not."""
    if not any(differences[index].disputed for index in at):
        return
    own = next((field.id for index in at if (field := differences[index].field)), None)
    batches = {batch_of(state, differences[index].key) for index in at}
    for which in _together(batches):
        wrong = [index for index in at if batch_of(state, differences[index].key) in which]
        rows = [cell for cell in cells if batch_of(state, cell.key) in which]
        # A column that lost its fractions has a pattern as well, and it may be another's.
        # So has a boolean column that is shown as numbers.
        shortened = all(_may_be_same_value(differences[each]) for each in wrong)
        chosen = None if shortened else _only_fit(state, rows, own)
        for each in wrong if chosen is not None else ():
            differences[each] = _decided(state, differences[each], chosen)


def _together(batches: AbstractSet[Batch]) -> Iterator[AbstractSet[Batch]]:
    """Yield the batches whose rows may have been read alike: all, those of a group, and each.

    A reader that leaves out log files shows the base file for all rows of a group.
    """
    yield batches
    for group in {group for group, _ in batches}:
        yield {batch for batch in batches if batch[0] == group}
    yield from ({batch} for batch in batches)


def _may_be_same_value(difference: Difference) -> bool:
    flag = isinstance(difference.expected, bool) and isinstance(difference.actual, int)
    as_flag = flag and difference.actual == difference.expected
    return as_flag or altered_value.near(difference.expected, difference.actual)


def by_neighbours(
    state: ExpectedState, differences: list[Difference], at: Sequence[int], older: Mapping[str, int]
) -> None:
    """Let the other wrong rows of the same file decide: what one field shows there, it shows here.

    This holds for values that tell whose they are, not for booleans.
    """
    known = [differences[index] for index in at if not differences[index].disputed]
    shown = shown_fields(state, known, older)
    for index in at:
        difference = differences[index]
        whose = (
            shown.get((difference.field.id, lies(state, difference.key, older)), ())
            if difference.field
            else ()
        )
        if len(whose) == 1:
            differences[index] = _decided(state, difference, *whose)


def _only_fit(state: ExpectedState, rows: Sequence[LeafLook], same_field: int | None) -> int | None:
    """Return the one field whose values are those of all the rows; None for none or several.

    Another field's are of the version that the row shows; the column's `own` may be stale alone.
    """
    distinct = [cell for cell in rows if cell.look not in NULLS]
    if (
        len({cell.key for cell in distinct}) < PATTERN_ROWS
        or len({cell.look for cell in distinct}) == 1
    ):
        return None
    fields = {field_id for field_id, _ in state.index.cells}
    fits = [
        field
        for field in fields
        if all(
            _had(state, field, cell, BASE if field == same_field else cell.since) for cell in rows
        )
    ]
    return fits[0] if len(fits) == 1 else None


def _had(state: ExpectedState, field_id: int, cell: LeafLook, since: int) -> bool:
    """Return whether a field had a value in a row, in the version of a step or in a later one."""
    versions = state.index.cells.get((field_id, cell.key), {})
    first = max((step for step in versions if step <= since), default=BASE)
    return any(cell.readings & looks for step, looks in versions.items() if step >= first)


def _decided(state: ExpectedState, difference: Difference, field_id: int | None) -> Difference:
    origins = [
        origin
        for origin in origins_of(state, difference.actual)
        if origin.key == difference.key and origin.field_id == field_id
    ]
    if not difference.disputed or not origins or older_and_newer(state, difference, origins):
        return difference
    return replace(difference, origin=best(state, difference, origins), disputed=False)


def lies(state: ExpectedState, key: str, older: Mapping[str, int]) -> Batch:
    """Return the rows that a row counts as read with.

    One that shows an older version counts as one of the base file, as it is where a reader leaves
    out log files. A version that the base file does not have yet was read from its own log file,
    as it is where a reader shows an earlier step.
    """
    group, file = batch_of(state, key)
    if key not in older:
        return group, file
    holds = state.in_base_files.get(key)
    in_base = max(holds.written.values(), default=BASE) if holds else BASE
    return group, older[key] if older[key] > in_base else BASE


def shown_fields(
    state: ExpectedState, differences: Sequence[Difference], older: Mapping[str, int]
) -> dict[tuple[int, Batch], frozenset[int | None]]:
    """Return the fields that each column shows in each batch, where it is wrong and not NULL.

    Beside parts it is told of whole columns, and of whole file groups: a reader that leaves out
    log files shows its base file for all rows. `older`: the rows that show older versions.
    """
    shown: dict[tuple[int, Batch], frozenset[int | None]] = {}
    for difference in differences:
        if (
            difference.kind is DifferenceKind.CELL
            and difference.field is not None
            and difference.actual is not None
        ):
            origin, batch = difference.origin, lies(state, difference.key, older)
            whose = origin.field_id if origin and origin.key == difference.key else None
            root = whose if whose is None else state.root_of(whose)
            column = state.root_of(difference.field.id)
            known = {(difference.field.id, batch): whose, (column, (batch[0], GROUP)): root}
            for at, field_id in ({(column, batch): root} | known).items():
                shown[at] = shown.get(at, frozenset()) | {field_id}
    return shown

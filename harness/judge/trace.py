"""Stage 4: whose value was found at each difference, and which file it was read from.

Most values tell it themselves: only one field has ever had them. Others (booleans, small decimals,
explicit values) fit several; then the pattern over the rows that were written alike decides, or
what the rest of the row shows, or nothing does and the cell is disputed. A NULL tells nothing
itself: it is taken for the value of the field that the column shows in the other rows, or of the
version that the row shows in the other columns, where that value is NULL.
"""

import datetime
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from harness.core.grouping import grouped
from harness.core.records import Answer, Origin
from harness.judge.altered_value import altered_value, near
from harness.judge.compare import AnswerComparison, RowComparison
from harness.judge.difference import NULLS, Difference, DifferenceKind, ShownRows, is_empty, leaves
from harness.judge.expected_state import ExpectedState, PredictedRows, looks_of
from harness.judge.file_evidence import Layout
from harness.judge.name import premature, type_drift
from harness.model import partition_paths
from harness.model.canonical import Look, MapValue, Value, look_of, same, text_of
from harness.model.conversion import read_back
from harness.model.datatypes import Primitive
from harness.model.schema import Field
from harness.model.simulation import value_conversions
from harness.model.truth import Row, Truth, row_values

_EXTREMES: Final = (n for bits in (8, 16, 32, 64) for n in (-(1 << bits - 1), (1 << bits - 1) - 1))
FEW: Final = frozenset(
    {"0", "1", "-1", "", "NULL", "null", look_of(()), look_of((None,)), look_of(MapValue(()))}
    | {str(extreme) for extreme in _EXTREMES}
)
"""What any column may come to show: defaults, words for NULL, and what is left of a number that was
cut or clamped to fewer bits."""
LAST_DAY: Final = (datetime.date.max - value_conversions.EPOCH.date()).days

Batch = tuple[object, int]
"""Rows that lie in the same file: a group's base file, or the log file that one step wrote. In a
table without file groups the files of one insert are alike, and their rows count as of one."""
BASE: Final = -1
GROUP: Final = -2
"""In a batch: all files of the group."""
ShownFields = Mapping[tuple[int, Batch], frozenset[int | None]]
"""The fields that a column, or a part of one, shows in a batch."""

PATTERN_ROWS: Final = 4
"""Fewer rows are no pattern: booleans agree by chance too easily."""
DAY: Final = datetime.timedelta(days=1)
"""A date moves by at most this when it is shown in another zone."""


def trace(comparison: AnswerComparison, answer: Answer, layout: Layout) -> tuple[Difference, ...]:
    """Return the differences of an answer, each once, with origin and file where known."""
    tables = [_settled(trace_rows(table), table.state, answer, layout) for table in comparison.rows]
    rows = [row for table in tables for row in table] if answer.refusal is None else _once(tables)
    return _with_files((*rows, *comparison.heads), answer, layout)


def trace_rows(table: RowComparison) -> tuple[Difference, ...]:
    """Return the differences of the rows of one table, each with whose value was found there."""
    newer = _newer_origins(table)
    whole = (
        row if row.kind is DifferenceKind.SECOND_ROW else replace(row, origin=newer.get(row.key))
        for row in table.whole_rows
    )
    cells = _with_origins(table.state, table.cells, table.seen)
    return (*_emptied(table.state, cells, table.seen), *table.lost, *whole)


def _emptied(
    state: ExpectedState, cells: Sequence[Difference], seen: ShownRows
) -> Sequence[Difference]:
    """Return the cells, those marked whose column lost its NULLs, or all that it has."""
    if not any(is_empty(cell.actual, cell.field) for cell in cells):
        return cells
    columns = grouped([(state.root_of(cell.field.id), cell) for cell in cells if cell.field])
    emptied = [wrong for at, wrong in columns.items() if _only_emptied(state, at, wrong, seen)]
    marked = {id(cell) for wrong in emptied for cell in wrong if cell.actual is not None}
    nobodys = partial(replace, origin=None, disputed=False, emptied=True)
    return [nobodys(cell) if id(cell) in marked else cell for cell in cells]


def _only_emptied(
    state: ExpectedState, column: int, wrong: Sequence[Difference], seen: ShownRows
) -> bool:
    """Return whether every NULL of a column, or every list, is empty, and nothing else is wrong.

    No other column ever had such a type: it might be shown, and without its parts it is as empty.
    """
    empty = [cell for cell in wrong if cell.actual is not None]
    shown = [pair for row in seen.values() for pair in row if pair[0].id == column]
    types, truths = {type(field.type) for field, _ in shown}, (*state.history, *state.later)
    fields = (field for truth in truths for field in truth.schema.walk() if field.children)
    of_nulls = {cell.field.id for cell in empty if cell.expected is None and cell.field}
    there = (leaf for field, value in shown for leaf in leaves(value, field, ""))
    lists = [cell.expected for cell in empty if cell.expected is not None]
    return (
        all(is_empty(c.actual, c.field) and not _had_elsewhere(state, c) for c in empty)
        and {state.root_of(field.id) for field in fields if type(field.type) in types} == {column}
        and not any(value is None and field.id in of_nulls for _, field, value in there)
        and all(isinstance(value, tuple | MapValue) for value in lists)
        and (not lists or all(value is None or is_empty(value, field) for field, value in shown))
    )


def _had_elsewhere(state: ExpectedState, cell: Difference) -> bool:
    """Return whether a row has, or had, the value found anywhere but in the very version."""
    right = cell.field and (cell.field.id, state.expected_step(cell.field.id, cell.key))
    had = state.index.looks.get(look_of(cell.actual), ())
    return any(one.key == cell.key and (one.field_id, one.step) != right for one in had)


def _settled(
    differences: tuple[Difference, ...], state: ExpectedState, answer: Answer, layout: Layout
) -> tuple[Difference, ...]:
    """Return the differences, those of values of several fields by what reproduces the answer.

    Such a value is of the field from which every strategy reads it that gives the whole answer.
    """
    if answer.refusal is not None or not any(map(_undecided, differences)):
        return differences
    predicted = layout.reproduced(answer.question, answer.labels, answer.rows)
    if predicted is None:
        return differences
    read = [_as_predicted(state, d, predicted) if _undecided(d) else d for d in differences]
    return tuple(new if new.origin else d for d, new in zip(differences, read, strict=True))


def _undecided(difference: Difference) -> bool:
    return difference.disputed and difference.origin is None and difference.actual is not None


def _with_origins(
    state: ExpectedState, differences: Sequence[Difference], seen: ShownRows
) -> tuple[Difference, ...]:
    """Return the differences with the origin of each cell, in the same order."""
    if (predicted := state.predicted) is not None:
        return tuple(_as_predicted(state, difference, predicted) for difference in differences)
    cells = [_by_value(state, difference) for difference in differences]
    by_field = grouped(
        [
            (field.id, at)
            for at, cell in enumerate(cells)
            if (field := cell.cell) and cell.actual is not None
        ]
    )
    looks = _looks_of(state, seen) if any(cell.disputed for cell in cells) else {}
    older = _versions_shown(state, cells, lambda cell: _is_older(state, cell))
    for field_id, wrong in by_field.items():
        _clear_moved_dates(cells, wrong)
        _by_pattern(state, cells, wrong, looks.get(field_id, ()))
        _by_neighbours(state, cells, wrong, older)
    versions = _versions_shown(
        state,
        cells,
        lambda cell: cell.of_own_field and (_is_older(state, cell) or premature(cell, state)),
    )
    cells = _of_shown_version(state, cells, versions)
    older = _versions_shown(state, cells, lambda cell: _is_older(state, cell))
    shown = _shown_fields(state, cells, older)
    return tuple(
        cell
        if cell.cell is None or cell.actual is not None
        else _null_of_shown_field(state, cell, cell.cell, shown, older)
        or _of_version(state, cell, versions)
        for cell in _other_types_settled(state, cells)
    )


def _as_predicted(
    state: ExpectedState, difference: Difference, predicted: PredictedRows
) -> Difference:
    """Take the origin of what the cell was read from; nothing was read where there is none."""
    whole, field = difference.column.partition("[")[0], difference.field
    origin = predicted.origins.get((difference.key, whole))
    if origin and field and whole != difference.column:
        same_root = state.root_of(origin.field_id) == state.root_of(field.id)
        origin = replace(origin, field_id=field.id) if same_root else origin
    # The very value that should be there is changed, and so nobody's any more.
    if origin and field and (origin.field_id, origin.key) == (field.id, difference.key):
        same_step = origin.step == state.expected_step(origin.field_id, difference.key)
        origin = None if same_step else origin
    return replace(difference, origin=origin, disputed=False)


def _by_value(state: ExpectedState, difference: Difference) -> Difference:
    """Let the value speak for itself, where only one field has ever had it."""
    field, actual = difference.cell, difference.actual
    if field is None or actual is None:
        return difference
    origins = _origins_of(state, actual) or _without_fraction(state, difference)
    here = [origin for origin in origins if origin.key == difference.key]
    fields = {origin.field_id for origin in origins}
    # A small decimal without its fraction may be just the number that another field holds.
    altered = field.id not in fields and near(difference.expected, actual)
    unsure = len(fields) != 1 or _older_and_newer(state, difference, here)
    if unsure or altered or _tells_nothing(actual):
        return replace(difference, disputed=bool(origins))
    return replace(difference, origin=_best(state, difference, here or origins))


def _without_fraction(state: ExpectedState, difference: Difference) -> tuple[Origin, ...]:
    """Return the other fields whose number a whole one of the same row is without its fraction.

    Readers of ORC files by position cut it where the column has a whole type (seen on Hive 3.1.3).
    Made fractions are a half.
    """
    actual, field_id = difference.actual, difference.field.id if difference.field else None
    if not isinstance(actual, int) or isinstance(actual, bool):
        return ()
    had = state.index.looks.get(look_of(actual + 0.5), ())
    return tuple(o for o in had if o.key == difference.key and o.field_id != field_id)


def _tells_nothing(actual: Value) -> bool:
    # A default or a flag may be anything's, whoever alone happened to write one.
    # The first days and seconds of 1970 are such numbers in another type.
    return isinstance(actual, bool) or bool(FEW & set(_readings(actual)))


def _origins_of(state: ExpectedState, actual: Value) -> tuple[Origin, ...]:
    """Return all who have ever had a value, whatever type it came in."""
    looks = state.index.looks
    return next((looks[look] for look in _readings(actual) if look in looks), ())


def _readings(actual: Value) -> Iterator[Look]:
    """Yield how a value looks, then what the same stored bytes or number are in another type.

    A reader by position shows a whole number as the date of that day (seen on Trino 476 and
    PrestoSQL 350). A negative zero is 0 where numbers are whole.
    """
    yield look_of(actual)
    if isinstance(actual, bytes):
        yield actual.decode("utf-8", "replace")
    elif isinstance(actual, str):
        yield from map(look_of, read_back(actual))
        yield text_of(actual.encode("utf-8", "surrogatepass"))
    elif isinstance(actual, datetime.datetime):
        if actual.time() == datetime.time():
            yield text_of(actual.date())
        micros = value_conversions.stored_number(actual)
        yield from (str(micros), str(micros // 1000))
    elif isinstance(actual, datetime.date):
        yield str(value_conversions.stored_number(actual))
    elif isinstance(actual, int) and 0 <= actual <= LAST_DAY:
        if not actual:
            yield look_of(-0.0)
        yield text_of(value_conversions.stored_value(actual, Primitive("date")))


def _best(state: ExpectedState, difference: Difference, origins: Iterable[Origin]) -> Origin:
    """Choose among versions of one field: one before the expected, then one before now."""
    field = difference.field
    expected = state.expected_step(field.id, difference.key) if field else -1

    def rank(origin: Origin) -> tuple[bool, bool, int]:
        same_field = field is not None and origin.field_id == field.id
        return same_field and origin.step < expected, origin.step <= state.now.step, origin.step

    return max(origins, key=rank)


def _older_and_newer(
    state: ExpectedState, difference: Difference, origins: Iterable[Origin]
) -> bool:
    """Return whether the value is of versions of its row before and after the one to be shown."""
    if state.newer is None or difference.field is None:
        return False
    field_id, expected = (
        difference.field.id,
        state.expected_step(difference.field.id, difference.key),
    )
    now = state.now.step
    steps = {
        origin.step for origin in origins if origin.field_id == field_id and origin.step <= now
    }
    return bool(steps) and min(steps) < expected < max(steps)


def _clear_moved_dates(cells: list[Difference], at: Sequence[int]) -> None:
    """Clear the origin of dates that moved by a day: they are not other rows' dates.

    Neighbouring rows have neighbouring dates; but a moved column holds one that nobody wrote.
    """
    moves = set[datetime.timedelta | None]()
    for index in at:
        expected, actual = cells[index].expected, cells[index].actual
        dates = type(expected) is datetime.date and type(actual) is datetime.date
        moves.add(actual - expected if dates and abs(actual - expected) <= DAY else None)
    nobodys = any(cells[index].origin is None and not cells[index].disputed for index in at)
    if len(moves) == 1 and None not in moves and nobodys:
        for index in at:
            cells[index] = replace(cells[index], origin=None, disputed=False)


@dataclass(frozen=True, slots=True)
class _LeafLook:
    """How a plain value looks that was found."""

    key: str
    look: Look
    readings: frozenset[Look]
    """The same, and what the value is in other types."""
    since: int
    """The latest step of what the row shows that tells whose it is: its version is no older."""


def _looks_of(state: ExpectedState, seen: ShownRows) -> dict[int, list[_LeafLook]]:
    """Return every plain value that was found, right or wrong, by the field it should be of."""

    def step(key: str, actual: Value) -> int:
        # One before all, if the value can be another row's as well.
        origins = state.index.looks.get(look_of(actual), ())
        tells = len(origins) == 1 and origins[0].key == key and not _tells_nothing(actual)
        return origins[0].step if tells else BASE

    result: dict[int, list[_LeafLook]] = {}
    for key, columns in seen.items():
        row = [leaf for field, value in columns for leaf in leaves(value, field, field.name)]
        since = max((step(key, actual) for _, _, actual in row), default=BASE)
        for _, leaf, actual in row:
            look = _LeafLook(key, look_of(actual), frozenset(_readings(actual)), since)
            result.setdefault(leaf.id, []).append(look)
    return result


def _batch_of(state: ExpectedState, key: str) -> Batch:
    """Return the rows that a row lies in one file with, by its key's text."""
    row = state.keys[key]
    in_base = state.in_base_files.get(key) == row
    return row.group, BASE if in_base else max(row.written.values(), default=BASE)


def _by_pattern(
    state: ExpectedState, cells: list[Difference], at: Sequence[int], looks: Sequence[_LeafLook]
) -> None:
    """Let the pattern over the rows decide what single values do not."""
    if not any(cells[index].disputed for index in at):
        return
    field_id = next((field.id for index in at if (field := cells[index].field)), None)
    batches = {_batch_of(state, cells[index].key) for index in at}
    for which in _read_together(batches):
        wrong = [index for index in at if _batch_of(state, cells[index].key) in which]
        rows = [look for look in looks if _batch_of(state, look.key) in which]
        # A column that lost its fractions has a pattern as well, and it may be another's.
        # So has a boolean column that is shown as numbers.
        same_values = all(
            near(cell.expected, cell.actual)
            or (
                isinstance(cell.expected, bool)
                and isinstance(cell.actual, int)
                and cell.actual == cell.expected
            )
            for cell in map(cells.__getitem__, wrong)
        )
        if not same_values and (chosen := _only_fit(state, rows, field_id)) is not None:
            for index in wrong:
                cells[index] = _decided(state, cells[index], chosen)


def _read_together(batches: AbstractSet[Batch]) -> Iterator[AbstractSet[Batch]]:
    """Yield the batches whose rows may have been read alike: all, those of a group, and each."""
    yield batches
    for group in {group for group, _ in batches}:
        yield {batch for batch in batches if batch[0] == group}
    yield from ({batch} for batch in batches)


def _by_neighbours(
    state: ExpectedState, cells: list[Difference], at: Sequence[int], older: Mapping[str, int]
) -> None:
    """Let the other wrong rows of the same file decide: what one field shows there, it shows here.

    This holds for values that tell whose they are, not for booleans.
    """
    shown = _shown_fields(state, [cells[i] for i in at if not cells[i].disputed], older)
    for index in at:
        field, batch = cells[index].field, _lies(state, cells[index].key, older)
        fields = shown.get((field.id, batch), ()) if field else ()
        if len(fields) == 1:
            cells[index] = _decided(state, cells[index], *fields)


def _only_fit(
    state: ExpectedState, rows: Sequence[_LeafLook], expected_id: int | None
) -> int | None:
    """Return the one field whose values are those of all the rows; None for none or several.

    Another field's are of the version that the row shows; the column's own may be stale alone.
    """
    distinct = [row for row in rows if row.look not in NULLS]
    if len({row.key for row in distinct}) < PATTERN_ROWS or len({r.look for r in distinct}) == 1:
        return None

    def had(field_id: int, row: _LeafLook) -> bool:
        """Return whether a field had a value in a row, in the version shown or in a later one."""
        versions, since = (
            _versions(state, field_id, row.key),
            BASE if field_id == expected_id else row.since,
        )
        first = max((step for step in versions if step <= since), default=BASE)
        return any(row.readings & looks for step, looks in versions.items() if step >= first)

    fields = {field_id for field_id, _ in state.index.cells}
    fits = [field_id for field_id in fields if all(had(field_id, row) for row in rows)]
    return fits[0] if len(fits) == 1 else None


def _decided(state: ExpectedState, cell: Difference, field_id: int | None) -> Difference:
    every = _origins_of(state, cell.actual)
    origins = [o for o in every if o.key == cell.key and o.field_id == field_id]
    if not cell.disputed or not origins or _older_and_newer(state, cell, origins):
        return cell
    return replace(cell, origin=_best(state, cell, origins), disputed=False)


def _lies(state: ExpectedState, key: str, older: Mapping[str, int]) -> Batch:
    """Return the rows that a row counts as read with.

    One that shows an older version counts as one of the base file, as it is where a reader leaves
    out log files. A version that the base file does not have yet was read from its own log file,
    as it is where a reader shows an earlier step.
    """
    group, file = _batch_of(state, key)
    if key not in older:
        return group, file
    row = state.in_base_files.get(key)
    in_base = max(row.written.values(), default=BASE) if row else BASE
    return group, older[key] if older[key] > in_base else BASE


def _shown_fields(
    state: ExpectedState, cells: Sequence[Difference], older: Mapping[str, int]
) -> ShownFields:
    """Return the fields that each column shows in each batch, where it is wrong and not NULL.

    Beside parts it is told of whole columns, and of whole file groups: a reader that leaves out
    log files shows its base file for all rows. `older`: the rows that show older versions.
    """
    shown: dict[tuple[int, Batch], frozenset[int | None]] = {}
    for cell in cells:
        if (field := cell.cell) and cell.actual is not None:
            origin, batch = cell.origin, _lies(state, cell.key, older)
            whose = origin.field_id if origin and origin.key == cell.key else None
            root = whose if whose is None else state.root_of(whose)
            column = state.root_of(field.id)
            by_place = {(column, batch): root, (field.id, batch): whose}
            for at, field_id in (by_place | {(column, (batch[0], GROUP)): root}).items():
                shown[at] = shown.get(at, frozenset()) | {field_id}
    return shown


def _versions_shown(
    state: ExpectedState, cells: Sequence[Difference], tells: Callable[[Difference], bool]
) -> dict[str, int]:
    """Return the step up to which rows were read, by the cells that tell it."""
    rows = grouped([(c.key, (c.origin, c.actual)) for c in cells if c.origin and tells(c)])
    return {key: _version_of(state, shown) for key, shown in rows.items()}


def _version_of(state: ExpectedState, shown: Sequence[tuple[Origin, Value]]) -> int:
    """Return the step up to which a row was read, by whose values it shows.

    A boolean may be the same in several versions; the other values tell which it was. Where no
    version has them all, it is the latest origin.
    """

    def had(step: int, origin: Origin, value: Value) -> bool:
        versions = _versions(state, origin.field_id, origin.key)
        written = max((version for version in versions if version <= step), default=None)
        return written is not None and not versions[written].isdisjoint(_readings(value))

    steps = {
        step
        for origin, _ in shown
        for step in _versions(state, origin.field_id, origin.key)
        if step <= origin.step
    }
    whole = [step for step in steps if all(had(step, *value) for value in shown)]
    return max(whole or (origin.step for origin, _ in shown))


def _versions(state: ExpectedState, field_id: int, key: str) -> Mapping[int, frozenset[Look]]:
    return state.index.cells.get((field_id, key), {})


def _is_older(state: ExpectedState, cell: Difference) -> bool:
    """Return whether a value, of whatever field, is of an older version of its row."""
    origin = cell.origin
    own_row = origin is not None and cell.cell is not None and origin.key == cell.key
    return own_row and origin is not None and state.older(origin)


def _of_version(state: ExpectedState, cell: Difference, versions: Mapping[str, int]) -> Difference:
    """Take a value for that of the version which its row shows, where that holds the value."""
    field, step = cell.cell, versions.get(cell.key)
    if field is None or step is None:
        return cell
    had = _versions(state, field.id, cell.key)
    written = max((version for version in had if version <= step), default=None)
    if look_of(cell.actual) not in (NULLS if written is None else had[written]):
        return cell
    at = step if written is None else written
    name = state.at(at).schema.path_of(field.id) or cell.column
    return replace(cell, origin=Origin(field.id, name, at, cell.key), disputed=False)


def _of_shown_version(
    state: ExpectedState, cells: Sequence[Difference], versions: Mapping[str, int]
) -> list[Difference]:
    """Take disputed values for those of the version that a row shows, where the column allows it.

    A column that shows anything else in the same file group may be another's in these rows too.
    """

    def in_group(cell: Difference) -> tuple[int, object]:
        field = cell.cell
        return (state.root_of(field.id), _batch_of(state, cell.key)[0]) if field else (0, None)

    taken = [_of_version(state, cell, versions) if cell.disputed else cell for cell in cells]
    others = {
        in_group(cell)
        for cell in taken
        if cell.cell and cell.actual is not None and not cell.of_own_field
    }
    return [
        old if old.disputed and in_group(old) in others else new
        for old, new in zip(cells, taken, strict=True)
    ]


def _null_of_shown_field(
    state: ExpectedState,
    cell: Difference,
    field: Field,
    shown: ShownFields,
    older: Mapping[str, int],
) -> Difference | None:
    """Take a NULL for that of the field which the column shows beside it, where it can be."""
    batch, column = _lies(state, cell.key, older), state.root_of(field.id)
    where = [(field.id, batch), (column, batch)]
    if cell.key in older:
        where.append((column, (batch[0], GROUP)))
    whose = next((shown[at] for at in where if at in shown), frozenset())
    if len(whose) != 1:
        return None
    parts = {_counterpart(state, other, field) for other in whose} | whose
    origins = (_null_of(state, cell.key, part) for part in parts - {field.id, column, None})
    origin = next(filter(None, origins), None)
    return replace(cell, origin=origin) if origin else None


def _counterpart(state: ExpectedState, column: int | None, part: Field) -> int | None:
    """Return the part of another column that has the path which a part has in its own."""
    path = (state.schema.path_of(part.id) or "").partition(".")[2]
    other = state.schema.by_id(column) if path and column is not None else None
    if other is None:
        return None
    there = f"{state.schema.path_of(other.id)}.{path}"
    return next((f.id for f in other.walk() if state.schema.path_of(f.id) == there), None)


def _null_of(state: ExpectedState, key: str, field_id: int | None) -> Origin | None:
    """Return the latest version of another field that is NULL, as before the field was added."""
    if field_id is None:
        return None
    versions, now = _versions(state, field_id, key), state.now.step
    first = min(versions, default=now + 1)
    steps = [step for step, looks in versions.items() if looks & NULLS and step <= now]
    steps += [step for step in _versions(state, state.key_id, key) if step < first]
    if not steps:
        return None
    return Origin(field_id, state.at(max(steps)).schema.path_of(field_id) or "", max(steps), key)


def _other_types_settled(state: ExpectedState, cells: Sequence[Difference]) -> Sequence[Difference]:
    """Settle disputed values that are the right ones in another type: they are their column's.

    Unless they are another field's as well, just as they are: then nothing decides.
    """
    if not any(cell.disputed for cell in cells):
        return cells
    drifted = grouped(
        [
            (field.id, cell)
            for cell in cells
            if (field := cell.cell) and type_drift(replace(cell, disputed=False), state)
        ]
    )
    settled = {
        id(cell)
        for of_field in drifted.values()
        if any(cell.disputed for cell in of_field)
        and not frozenset.intersection(*(_other_fields(state, cell) for cell in of_field))
        for cell in of_field
    }
    return [replace(c, disputed=False) if id(c) in settled else c for c in cells]


def _other_fields(state: ExpectedState, cell: Difference) -> frozenset[int]:
    """Return the other fields of the row that ever had the very value, its type and all."""
    key, expected_id = state.keys[cell.key].key, cell.field.id if cell.field else None
    versions = ((truth.schema, truth.rows[key]) for truth in state.history if key in truth.rows)
    return frozenset(
        part.id
        for schema, row in versions
        for column, value in zip(schema.fields, row_values(row, schema), strict=True)
        for _, part, had in leaves(value, column, column.name)
        if part.id != expected_id and same(had, cell.actual)
    )


def _newer_origins(table: RowComparison) -> dict[str, Origin]:
    """Return the origins of rows that are as a newer table has them, by the texts of their keys.

    A view may show an older table than the one of now: base files alone, or an earlier step. Then a
    row that only the newer one has is there, one that it lacks is not, or the predicate is held
    against the newer version of a row.
    """
    state = table.state
    if not state.newer:
        return {}
    truths, name = state.later or state.history[-1:], state.history[0].table.key
    rows = ({text_of(row.key): row for row in rows.values()} for rows in state.newer)
    newer = list(zip(truths, rows, strict=True))
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
    """Yield absent rows that a newer table lacks, unless all of their file group is absent."""
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

    Every part shows the key column and all rows again, so what is wrong with them is in several.
    Where parts show different things at one place, each stands.
    """

    def seen_at(difference: Difference) -> Hashable:
        return difference.location, repr(difference.actual) if difference.column else ""

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

    def in_file(difference: Difference) -> Difference:
        values, fact = difference.actual, files.get(difference.key)
        # A row that is answered twice has the file of its values.
        if difference.kind is DifferenceKind.SECOND_ROW and twice and isinstance(values, tuple):
            fact = fact or twice.get((difference.key, looks_of(answer.labels, values)))
        # A value of another row came from wherever that one is.
        others = difference.origin is not None and difference.origin.key != difference.key
        if fact is None or difference.kind is DifferenceKind.ABSENT_ROW or others:
            return difference
        return replace(difference, file=fact.path)

    result = [_in_folder(in_file(difference), layout) for difference in differences]
    named = {d.key for d in result if d.folder and isinstance(d.actual, str)}
    return tuple(_null_as_true(d, layout) if d.key in named else d for d in result)


def _in_folder(difference: Difference, layout: Layout) -> Difference:
    """Return a wrong partition value with the folder whose name gave it, where one did.

    That is so where the name says what is found; or nearly, where the files have no such column.
    A value of another field, or of another row, came from elsewhere.
    """
    by = layout.state.history[0].table.partition_by
    field, origin = difference.cell, difference.origin
    if field is None or field.name not in by:
        return difference
    folder, alone = layout.partition_folder(difference.key, field.name)
    others = origin is not None and (origin.field_id, origin.key) != (field.id, difference.key)
    if not folder or others:
        return difference
    says = partial(partition_paths.says, folder, by, field)
    nearly = alone and says(difference.expected) and altered_value(difference, layout.state)
    if says(difference.actual) or nearly:
        return replace(difference, file="", folder=folder)
    return replace(difference, file="" if alone else difference.file)


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

"""Stage 5: the name of each difference: the first finding in `CHECKS` that fits."""

import base64
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from harness.core.records import FindingKind
from harness.judge import text_rows
from harness.judge.altered_value import altered_value
from harness.judge.difference import ROW_ID, UPDATED, VALUES, Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import Look, Value, look_of, same, text_of
from harness.model.conversion import cast_text, read_back

COLUMNS: Final = frozenset({DifferenceKind.EXTRA_COLUMN, DifferenceKind.ABSENT_COLUMN})
Check = Callable[[Difference, ExpectedState], bool]
NamedDifference = tuple[FindingKind, Difference]


def name(differences: Sequence[Difference], state: ExpectedState) -> tuple[NamedDifference, ...]:
    return tuple((name_of(difference, state), difference) for difference in differences)


def name_of(difference: Difference, state: ExpectedState) -> FindingKind:
    return next(kind for kind, check in CHECKS.items() if check(difference, state))


def type_drift(difference: Difference, _: ExpectedState) -> bool:
    """Return whether only the type of a value differs, or a column is declared with another one."""
    if difference.kind is DifferenceKind.COLUMN_TYPE:
        return True
    if difference.kind not in VALUES or difference.actual is None or difference.expected is None:
        return False
    if _is_only_part(difference.expected, difference.actual):
        return not difference.disputed
    if difference.of_other_field:
        return False  # the column shows another one, which happens to look alike in this row
    expected, actual = difference.expected, difference.actual
    return not difference.disputed and (
        _looks_equal(expected, actual) or _same_bytes(expected, actual)
    )


def _looks_equal(expected: Value, actual: Value) -> bool:
    """Return whether the values look alike, or one is a text that shows the other."""
    if _plain(actual) == _plain(expected):
        return True
    if not isinstance(expected, str):
        return isinstance(actual, str) and _plain(expected) in map(_plain, read_back(actual))
    try:
        return not isinstance(actual, str) and expected == cast_text(actual)
    except ValueError:
        return False


def _is_only_part(expected: Value, actual: Value) -> bool:
    """Return whether a struct's only part stands in its place.

    Who takes the repeated group of a list with two levels for none of its elements shows so a list
    of structs with one part (Apache Parquet format, "Lists", backward-compatibility rules).
    """
    alone = isinstance(expected, dict) and len(expected) == 1 and not isinstance(actual, dict)
    return alone and actual in expected.values()


def _same_bytes(expected: Value, actual: Value) -> bool:
    """Return whether bytes are shown as a text that loses none of them, or a text as its bytes."""
    if isinstance(expected, str) and isinstance(actual, bytes):
        return actual == expected.encode()
    if not (isinstance(expected, bytes) and isinstance(actual, str)):
        return False
    # Trino prints bytes in groups, parted by blanks.
    digits = "".join(actual.lower().removeprefix("0x").split())
    same = actual.encode("utf-8", "surrogatepass") == expected
    return same or digits == expected.hex() or actual == base64.b64encode(expected).decode()


def _plain(value: Value) -> Look:
    # A date that is shown as the timestamp of its midnight is the right value in another type.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return look_of(datetime.datetime.combine(value, datetime.time()))
    return look_of(value)


def resurrected(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value belongs to a dropped field that ever had this name.

    It may have been written under another one: a rewritten file has the names of then.
    """
    origin, field = difference.origin, difference.field
    if difference.kind not in VALUES or origin is None or field is None:
        return False
    gone = state.schema.by_id(origin.field_id) is None
    named = state.schema.path_of(field.id) in state.names_of(origin.field_id)
    return gone and named and difference.of_its_row


def misaligned(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value belongs to another field, as when files are read by position.

    What a file has in a column that its folder names belongs to none of the table's.
    """
    if text_rows.came_from_another(difference, state):
        return True
    if difference.field and difference.field.id in {ROW_ID, UPDATED}:
        return False  # numbers that stand for something else look alike by chance
    beside = state.history[-1].beside.get((difference.key, difference.column))
    if beside is not None and difference.kind in VALUES and same(beside, difference.actual):
        return True
    other = difference.kind in VALUES and difference.of_other_field and difference.of_its_row
    # A field that came only later is of no column that the view could show.
    return other and difference.origin is not None and not state.unborn(difference.origin.field_id)


def stale(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value is an older one, or one that a restore or a rollback took back.

    Of columns: whether all are those of an earlier step.
    """
    origin = difference.origin
    if difference.kind in COLUMNS:
        return origin is not None and origin.step <= state.step
    if difference.kind not in VALUES or origin is None or not difference.of_own_field:
        return False
    older = state.older(origin) or origin.step in state.history[-1].undone
    return older and difference.of_its_row


def premature(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the row is as a newer table has it, or gone as it is gone there.

    Of columns: whether they are those of a later step. The value of a field that came later is
    early under whatever name, and so is its NULL under the name that it has taken over.
    """
    origin, field = difference.origin, difference.field
    if state.newer is None:
        return False
    if difference.kind in COLUMNS:
        return origin is not None and origin.step > state.step
    if difference.kind in {DifferenceKind.EXTRA_ROW, DifferenceKind.ABSENT_ROW}:
        return origin is not None
    if difference.kind not in VALUES or field is None:
        return False
    if difference.actual is None and state.named_later(field):
        return True
    if origin is None or not difference.of_its_row:
        return False
    if difference.of_other_field:
        return state.unborn(origin.field_id)
    return state.expected_step(field.id, origin.key) < origin.step <= state.now.step


def missing_rename(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a value came as NULL that files may hold under a name that is not today's."""
    field = difference.field
    if difference.kind is not DifferenceKind.CELL or difference.actual is not None or not field:
        return False
    now = state.schema.path_of(field.id)
    return not difference.empty and bool(state.stored_names_of(field.id, difference.key) - {now})


def ghost_row(difference: Difference, state: ExpectedState) -> bool:
    """Return whether an earlier step deleted the row, or none was to make it, or none asks for it.

    An extreme may be the value of such a row, and a count too great.
    """
    if difference.is_count:
        return difference.counted and difference.actual > difference.expected
    if difference.kind is DifferenceKind.EXTREME and difference.origin is not None:
        return difference.origin.key not in state.keys
    now = state.history[-1]
    if text_rows.is_rest_of_a_row(difference, state):
        return True
    never = (key for sent in now.contested.values() for key in sent)
    gone = (*now.gone, *state.left_out, *never)
    return difference.kind is DifferenceKind.EXTRA_ROW and difference.key in map(text_of, gone)


def duplicate(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the key was answered before, or the column was."""
    if difference.kind is DifferenceKind.EXTRA_COLUMN:
        return difference.field is None and difference.column in state.schema.names
    return difference.kind is DifferenceKind.SECOND_ROW


def lost_row(difference: Difference, _: ExpectedState) -> bool:
    """Return whether a row is absent, or fewer rows are counted than there are."""
    if difference.is_count:
        return difference.counted and difference.actual < difference.expected
    return difference.kind is DifferenceKind.ABSENT_ROW


def lost_value(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a value is simply not there, and no former name of the field is the reason.

    The least or the greatest value of others is one too: NULLs do not count for it. So are those of
    a column that the answer lacks, and shows under no other name, and the elements of arrays or
    maps in a column that shows nothing but empty ones.
    """
    if difference.kind is DifferenceKind.ABSENT_COLUMN:
        return difference.no_other
    origin = difference.origin
    if difference.kind is DifferenceKind.EXTREME and origin is not None:
        right = origin.step == state.expected_step(origin.field_id, origin.key)
        return difference.of_own_field and right
    return difference.kind in VALUES and (difference.actual is None or difference.emptied)


CHECKS: Final[Mapping[FindingKind, Check]] = {
    FindingKind.TYPE_DRIFT: type_drift,
    FindingKind.RESURRECTED: resurrected,
    FindingKind.MISALIGNED: misaligned,
    FindingKind.STALE: stale,
    FindingKind.PREMATURE: premature,
    FindingKind.MISSING_RENAME: missing_rename,
    FindingKind.ALTERED_VALUE: altered_value,
    FindingKind.GHOST_ROW: ghost_row,
    FindingKind.DUPLICATE: duplicate,
    FindingKind.LOST_ROW: lost_row,
    FindingKind.LOST_VALUE: lost_value,
    FindingKind.UNEXPLAINED: lambda *_: True,
}

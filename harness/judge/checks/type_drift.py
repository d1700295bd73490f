"""Type drift: the right value in another type, or a column declared with another type."""

from __future__ import annotations

import base64
import datetime

from harness.judge.difference import VALUES, Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import Look, Value, look_of
from harness.model.conversion import cast_text, read_back


def explains(difference: Difference, state: ExpectedState) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Return whether only the type differs."""
    if difference.kind is DifferenceKind.COLUMN_TYPE:
        return True
    if difference.kind not in VALUES or difference.actual is None or difference.expected is None:
        return False
    if difference.origin and difference.field and difference.origin.field_id != difference.field.id:
        return False  # the column shows another one, which happens to look alike in this row
    return not difference.disputed and _same_look(difference.expected, difference.actual)


def _same_look(expected: Value, result: Value) -> bool:
    return _looks_equal(expected, result) or _as_text(expected, result)


def _looks_equal(expected: Value, result: Value) -> bool:
    """Return whether the values look alike, or one is a text that shows the other."""
    if _plain(result) == _plain(expected):
        return True
    if isinstance(expected, str):
        return not isinstance(result, str) and expected == _cast(result)
    return isinstance(result, str) and _plain(expected) in map(_plain, read_back(result))


def _cast(value: Value) -> str | None:
    try:
        return cast_text(value)
    except ValueError:
        return None


def _as_text(expected: Value, result: Value) -> bool:
    """Return whether bytes are shown as a text that loses none of them, or a text as its bytes."""
    if isinstance(expected, str) and isinstance(result, bytes):
        return result == expected.encode()
    if not (isinstance(expected, bytes) and isinstance(result, str)):
        return False
    # Trino prints bytes in groups, parted by blanks.
    digits = "".join(result.lower().removeprefix("0x").split())
    encoded = base64.b64encode(expected).decode()
    same = result.encode("utf-8", "surrogatepass") == expected
    return same or digits == expected.hex() or result == encoded


def _plain(value: Value) -> Look:
    # A date that is shown as the timestamp of its midnight is the right value in another type.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return look_of(datetime.datetime.combine(value, datetime.time()))
    return look_of(value)

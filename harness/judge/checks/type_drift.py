"""Type drift: the right value in another type, or a column declared with another type."""

from __future__ import annotations

import base64
import datetime

from harness.judge.place import VALUES, Place, What
from harness.judge.world import World
from harness.model.canonical import Look, Value, look_of
from harness.model.conversion import cast_text, read_back


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Return whether only the type differs."""
    if place.what is What.COLUMN_TYPE:
        return True
    if place.what not in VALUES or place.found is None or place.expected is None:
        return False
    if place.origin and place.field and place.origin.field_id != place.field.id:
        return False  # the column shows another one, which happens to look alike in this row
    return not place.disputed and _alike(place.expected, place.found)


def _alike(expected: Value, found: Value) -> bool:
    return _looks_alike(expected, found) or _as_text(expected, found)


def _looks_alike(expected: Value, found: Value) -> bool:
    """Return whether the values look alike, or one is a text that shows the other."""
    if _plain(found) == _plain(expected):
        return True
    if isinstance(expected, str):
        return not isinstance(found, str) and expected == _cast(found)
    return isinstance(found, str) and _plain(expected) in map(_plain, read_back(found))


def _cast(value: Value) -> str | None:
    try:
        return cast_text(value)
    except ValueError:
        return None


def _as_text(expected: Value, found: Value) -> bool:
    """Return whether bytes are shown as a text that loses none of them, or a text as its bytes."""
    if isinstance(expected, str) and isinstance(found, bytes):
        return found == expected.encode()
    if not (isinstance(expected, bytes) and isinstance(found, str)):
        return False
    # Trino prints bytes in groups, parted by blanks.
    digits = "".join(found.lower().removeprefix("0x").split())
    encoded = base64.b64encode(expected).decode()
    same = found.encode("utf-8", "surrogatepass") == expected
    return same or digits == expected.hex() or found == encoded


def _plain(value: Value) -> Look:
    # A date that is shown as the timestamp of its midnight is the right value in another type.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return look_of(datetime.datetime.combine(value, datetime.time()))
    return look_of(value)

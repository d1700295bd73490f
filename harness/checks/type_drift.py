"""Type drift: the right value in another type, or a column declared with another type."""

from __future__ import annotations

import base64
import datetime

from harness.checks.place import Place, What, World
from harness.model.canonical import Value, text_of


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Tell whether only the type differs."""
    if place.what is What.COLUMN_TYPE:
        return True
    if place.what is not What.CELL or place.found is None or place.expected is None:
        return False
    if place.origin and place.field and place.origin.field_id != place.field.id:
        return False  # the column shows another one, which happens to look alike in this row
    return _plain(place.found) == _plain(place.expected) or _as_text(place.expected, place.found)


def _as_text(expected: Value, found: Value) -> bool:
    """Tell whether bytes are shown as a text that loses none of them, or a text as its bytes."""
    if isinstance(expected, str) and isinstance(found, bytes):
        return found == expected.encode()
    if not (isinstance(expected, bytes) and isinstance(found, str)):
        return False
    # Trino prints bytes in groups, parted by blanks.
    digits = "".join(found.lower().removeprefix("0x").split())
    encoded = base64.b64encode(expected).decode()
    same = found.encode("utf-8", "surrogatepass") == expected
    return same or digits == expected.hex() or found == encoded


def _plain(value: Value) -> str:
    # A date that is shown as the timestamp of its midnight is the right value in another type.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return text_of(datetime.datetime.combine(value, datetime.time()))
    return text_of(value)

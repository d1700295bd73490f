"""Type drift: the right value in another type, or a column declared with another type."""

from __future__ import annotations

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
    return _plain(place.found) == _plain(place.expected)


def _plain(value: Value) -> str:
    # A date that is shown as the timestamp of its midnight is the right value in another type.
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return text_of(datetime.datetime.combine(value, datetime.time()))
    return text_of(value)

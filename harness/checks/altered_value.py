"""Altered value: the right value with its digits, zone or precision changed."""

from __future__ import annotations

import datetime
import decimal

from harness.checks.place import Place, What, World
from harness.model.canonical import Value

NEAR = decimal.Decimal("0.001")
"""Numbers closer than this part of the expected one count as the same one with digits changed."""
ZONES = datetime.timedelta(hours=15)
"""A time moved by at most this counts as the same one shown in another zone."""


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Tell whether the found value is a version of the expected one that lost or changed a bit."""
    if place.what is not What.CELL or place.found is None or place.expected is None:
        return False
    return _near(place.expected, place.found)


def _near(expected: Value, found: Value) -> bool:
    if isinstance(expected, datetime.date):
        return _near_in_time(expected, found)
    if isinstance(expected, str):
        return isinstance(found, str) and _near_text(expected, found)
    return _near_number(expected, found)


def _near_in_time(expected: datetime.date, found: Value) -> bool:
    if not isinstance(found, datetime.date):
        return False
    return abs(_moment(expected) - _moment(found)) <= ZONES


def _moment(value: datetime.date) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return datetime.datetime.combine(value, datetime.time())


def _near_text(expected: str, found: str) -> bool:
    shorter, longer = sorted((expected.strip().lower(), found.strip().lower()), key=len)
    return bool(shorter) and longer.startswith(shorter)


def _near_number(expected: Value, found: Value) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return False
    try:
        left, right = decimal.Decimal(str(expected)), decimal.Decimal(str(found))
    except decimal.InvalidOperation:
        return False
    return left.is_finite() and right.is_finite() and abs(left - right) <= abs(left) * NEAR

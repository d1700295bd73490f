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
DAY = datetime.timedelta(days=1)
"""A date moves by at most this for the same reason."""


def explains(place: Place, world: World) -> bool:  # noqa: ARG001 - all checks are asked alike
    """Tell whether the found value is the expected one that lost or changed a bit.

    A value that somebody else wrote is not, however near it is.
    """
    if place.what is not What.CELL or place.found is None or place.expected is None:
        return False
    if place.origin is not None or place.disputed:
        return False
    return near(place.expected, place.found)


def near(expected: Value, found: Value) -> bool:
    """Tell whether one value may be the other with its digits, zone or precision changed."""
    if isinstance(expected, datetime.date):
        return _near_in_time(expected, found)
    if isinstance(expected, str):
        return isinstance(found, str) and _near_text(expected, found)
    return _near_number(expected, found)


def _near_in_time(expected: datetime.date, found: Value) -> bool:
    if not isinstance(found, datetime.date):
        return False
    dates = not isinstance(expected, datetime.datetime)
    return abs(_moment(expected) - _moment(found)) <= (DAY if dates else ZONES)


def _moment(value: datetime.date) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return datetime.datetime.combine(value, datetime.time())


def _near_text(expected: str, found: str) -> bool:
    """Tell whether a text was cut off, padded, or changed in case."""
    rest = found.strip().lower()
    return bool(rest) and expected.strip().lower().startswith(rest)


def _near_number(expected: Value, found: Value) -> bool:
    try:
        left, right = decimal.Decimal(str(expected)), decimal.Decimal(str(found))
    except decimal.InvalidOperation:
        return False
    if not (left.is_finite() and right.is_finite()):
        return False
    return abs(left - right) <= abs(left) * NEAR or _shorter(left, right)


def _shorter(expected: decimal.Decimal, found: decimal.Decimal) -> bool:
    """Tell whether digits behind the point were cut off or rounded away."""
    exact, short = (min(0, int(n.normalize().as_tuple().exponent)) for n in (expected, found))
    last, off = decimal.Decimal(1).scaleb(short), abs(expected - found)
    cut_off = abs(found) < abs(expected) and off < last
    return exact < short and (cut_off or off * 2 <= last)

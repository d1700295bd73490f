"""How near is near."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from harness.checks.altered_value import near
from harness.model.canonical import Value

MOMENT = datetime.datetime(2001, 1, 9, 2, 43, 21, 250000)  # noqa: DTZ001 - canonical


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (503002.5, 503002),
        (0.1, 0.10000000149011612),
        (Decimal("7.25"), Decimal(7)),
        (Decimal("7.25"), Decimal("7.3")),
        (Decimal("-7.25"), Decimal(-7)),
        (1234567, 1234568),
        (MOMENT, MOMENT + datetime.timedelta(hours=14)),
        (MOMENT, MOMENT.replace(microsecond=0)),
        (MOMENT.date(), MOMENT.date() + datetime.timedelta(days=1)),
        ("f5s3r2", "f5s3"),
        ("f5s3r2", "F5S3R2"),
        ("f5s3r2", "f5s3r2   "),
    ],
)
def test_lost_digits_other_zones_and_cut_texts_are_near(expected: Value, found: Value) -> None:
    assert near(expected, found)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (7, 8),
        (7, 7.4),  # digits were added, none lost
        (Decimal("7.25"), Decimal(8)),
        (0, 1),
        (503002.5, float("nan")),
        (503002.5, float("inf")),
        (True, False),
        (1, True),
        (503002, "503003x"),
        (MOMENT, MOMENT + datetime.timedelta(hours=16)),
        (MOMENT.date(), MOMENT.date() + datetime.timedelta(days=2)),
        ("f5s3r2", ""),
        ("f5s3r2", "5s3r2"),
        ("f5s3r2", "f5s3r22"),
        ("f5s3r2", b"f5s3"),
        ((1, 2), (1,)),
    ],
)
def test_everything_else_is_not(expected: Value, found: Value) -> None:
    assert not near(expected, found)

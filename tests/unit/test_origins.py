"""Whose value was found: what single values tell."""

from __future__ import annotations

import datetime

from tests.quality.notation import history, places
from tests.simulated import Reply

TOLD = history("insert 1..3", "id long, n int, d date")


def reply_with(index: int, value: object) -> Reply:
    told = TOLD.read()
    first = list(told.rows[0])
    first[index] = value
    return Reply(told.columns, (tuple(first), *told.rows[1:]))


def test_a_whole_number_shown_as_the_date_of_that_day_is_still_that_number() -> None:
    number = TOLD.read().rows[0][1]
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=number)
    (place,) = places(TOLD, reply_with(2, day))
    assert place.origin is not None
    assert (place.origin.name, place.origin.key) == ("n", "1")


def test_a_date_shown_as_its_number_of_days_is_still_that_date() -> None:
    days = (TOLD.read().rows[0][2] - datetime.date(1970, 1, 1)).days
    (place,) = places(TOLD, reply_with(1, days))
    assert place.origin is not None
    assert (place.origin.name, place.origin.key) == ("d", "1")


def test_a_date_that_nobody_wrote_has_no_origin() -> None:
    (place,) = places(TOLD, reply_with(2, datetime.date(1971, 5, 5)))
    assert place.origin is None

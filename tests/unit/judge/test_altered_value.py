import datetime
from dataclasses import replace
from decimal import Decimal

import pytest

from harness.core.records import FindingKind, Responsible
from harness.judge.altered_value import near
from harness.model.canonical import MapValue, Value
from tests.builders.judged_story import blamed, case_of, judged
from tests.builders.table_story import history
from tests.builders.traced_answer import read

MOMENT = datetime.datetime(2001, 1, 9, 2, 43, 21, 250000)  # noqa: DTZ001 - canonical
LAST = datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
OLD = datetime.datetime(1582, 10, 4, 12)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (Decimal("12342.250000"), Decimal("1.234225")),
        (Decimal("-72.7500"), Decimal("-0.7275")),
        (503002.5, 503002),
        (0.1, 0.10000000149011612),
        (Decimal("7.25"), Decimal(7)),
        (Decimal("7.25"), Decimal("7.3")),
        (Decimal("-7.25"), Decimal(-7)),
        (1234567, 1234568),
        (3000000000, -1294967296),
        (MOMENT, MOMENT + datetime.timedelta(hours=14)),
        (MOMENT, MOMENT.replace(microsecond=0)),
        (MOMENT, "2001-01-09 02:43:21.250000001"),
        (MOMENT, "2001-01-09 02:43:21"),
        (MOMENT.date(), "2001-01-10"),
        (MOMENT.date(), MOMENT.date() + datetime.timedelta(days=1)),
        ("f5s3r2", "f5s3"),
        ("f5s3r2", "F5S3R2"),
        ("f5s3r2", "f5s3r2   "),
        ("ab  ", "ab"),
        ("    ", ""),
        (-0.0, 0.0),
        (1e308, float("inf")),  # beyond a float of 32 bits
        (-3.4028235677973366e38, float("-inf")),
        (datetime.date(1, 1, 2), datetime.date(1, 1, 4)),
        (datetime.date(1, 1, 4), datetime.date(1, 1, 2)),
        (datetime.date(1582, 10, 4), datetime.date(1582, 9, 24)),
        (datetime.date(1500, 2, 1), datetime.date(1500, 1, 23)),
        (OLD, OLD + datetime.timedelta(days=10)),
        (MOMENT, "+32993-07-14 10:34:10.000"),  # its microseconds as milliseconds
        (LAST, "+10000-01-01 00:00:00.000"),  # rounded to milliseconds
        (datetime.datetime(2020, 6, 1), "+50417789-08-17 00:00:00"),  # noqa: DTZ001 - in seconds
        (LAST, datetime.datetime(1816, 3, 30, 5, 56, 8, 66277)),  # noqa: DTZ001 - modulo 2 ** 64
        (LAST, "2262-04-11 23:47:16.854775807"),  # the last one of 64 bits of nanoseconds
        (datetime.datetime(1500, 1, 1), datetime.datetime(2084, 7, 20, 23, 34, 33, 709551)),  # noqa: DTZ001
        (datetime.datetime(1500, 1, 1), "2084-07-29 23:34:33.709551616"),  # noqa: DTZ001 - Julian
        (datetime.datetime(1500, 1, 1), "1677-09-21 00:12:43.145224192"),  # noqa: DTZ001
        (datetime.datetime(1500, 1, 1), "2262-04-11 23:47:16.854775807"),  # noqa: DTZ001
        (datetime.datetime(1500, 1, 1), "1677-09-21 00:12:43.145225"),  # noqa: DTZ001
        ("e\u0301", "\u00e9"),
        ("\ufb01n", "fin"),
        ("größe", "gr??e"),
        ("größe", "grÃ¶Ã\x9fe"),
        ("größe", "gr\ufffd\ufffd\ufffd\ufffde"),
        ("203001.250", "\x0c\x19\ufffd\ufffd"),  # its digits as bytes
        ("203001.250", "\x00\x00\x0c\x19\ufffd\ufffd"),
        (b"\x01\x02\x03", b"\x01\x02"),
        (b"\x01\x02", b"\x01\x02\x00\x00"),
        (b"a\xff", "a\ufffd"),
        (b"\x01\xff", b"\x01\xef\xbf\xbd"),  # made a text, and bytes again
        (16777002.0, 2.3509587138574385e-38),  # its bits as a whole number
        (-9.0, float("nan")),
        (4127005.0, 1249633396),
        (-9.0, -1055916032),
        (Decimal("-5.2500"), "\x14\ufffd" + "\0" * 13 + "\ufffd"),  # its digits as 16 bytes
    ],
)
def test_lost_digits_other_zones_and_cut_texts_are_near(expected: Value, actual: Value) -> None:
    assert near(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (Decimal("12342.250000"), Decimal("1.234226")),
        (Decimal("12342.250000"), Decimal("-1.234225")),
        (Decimal("12.500000"), Decimal("1.25")),  # so few digits are another's too
        (MOMENT, "+32993-07-16 10:34:10.000"),
        (LAST, "+10000-01-01 00:00:00.001"),
        (datetime.datetime(2020, 6, 1), "+50417789-08-27 00:00:00"),  # noqa: DTZ001
        (LAST, "+10000-01-01 00:00:01.000"),
        (LAST, datetime.datetime(1816, 3, 30, 5, 56, 8, 66279)),  # noqa: DTZ001
        (LAST, datetime.datetime(2262, 4, 11, 23, 47, 16, 854776)),  # noqa: DTZ001
        (LAST, datetime.datetime(1677, 9, 21, 0, 12, 43, 145224)),  # noqa: DTZ001 - the other end
        (MOMENT, datetime.datetime(2262, 4, 11, 23, 47, 16, 854775)),  # noqa: DTZ001
        (MOMENT, "+32993-13-14 20:54:10.000"),
        (MOMENT.date(), "+32993-07-14 10:34:10.000"),
        (7, 8),
        (7, 7.4),  # digits were added, none lost
        (Decimal("7.25"), Decimal(8)),
        (0, 1),
        (503002.5, float("nan")),
        (503002.5, float("inf")),
        (3.4028235677973362e38, float("inf")),  # it becomes the largest float
        (1e308, float("-inf")),
        (True, False),
        (1, True),
        (503002, "503003x"),
        (503002, "1e999999999"),
        (MOMENT, "2001-01-10 02:43:21.250000001"),
        (MOMENT, "2001"),
        (MOMENT, MOMENT + datetime.timedelta(hours=16)),
        (MOMENT.date(), MOMENT.date() + datetime.timedelta(days=2)),
        ("f5s3r2", ""),
        ("f5s3r2", "5s3r2"),
        ("f5s3r2", "f5s3r22"),
        ("f5s3r2", b"f5s3"),
        ((1, 2), (1,)),
        (datetime.date(1, 1, 2), datetime.date(1, 1, 5)),
        (datetime.date(1582, 10, 15), datetime.date(1582, 10, 25)),
        (OLD, OLD + datetime.timedelta(days=9)),
        ("größe", "groesse"),
        (b"\x01\x02", b"\x02"),
        (b"\x01\x02", b""),
        (b"\x01\x02", b"\x00"),
        (b"a", 97),
        (3000000000, 1294967296),
        (3000000000.0, -1294967296),
        (9.0, float("nan")),  # its bits as a whole number are no NaN
        (-9.5, float("nan")),
        (5000000000.0, 7.006492321624085e-45),
        (4127005.0, 1249633397),
        (1e300, 1249633396),
        (Decimal("5.2500"), "\x14\ufffd" + "\0" * 13 + "\ufffd"),  # the sign is another
    ],
)
def test_everything_else_is_not(expected: Value, actual: Value) -> None:
    assert not near(expected, actual)


@pytest.mark.parametrize(
    ("kind", "nothing"), [("array<string>", ()), ("map<string, int>", MapValue(()))]
)
def test_null_that_is_shown_as_what_holds_nothing_is_altered(kind: str, nothing: Value) -> None:
    story = history(f"insert 1; add l {kind}")
    reply = read(story).reply
    at = reply.names.index("l")
    rows = tuple((*row[:at], nothing, *row[at + 1 :]) for row in reply.rows)
    (verdict,) = judged(case_of(story), [replace(reply, rows=rows)])
    assert blamed(verdict) == {(FindingKind.ALTERED_VALUE, Responsible.READER)}

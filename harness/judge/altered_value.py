"""Altered value: the right value with digits, zone, calendar, precision or encoding changed."""

import datetime
import decimal
import re
import struct
import unicodedata

from harness.judge.difference import ROW_ID, UPDATED, VALUES, Difference, is_empty
from harness.judge.expected_state import ExpectedState
from harness.judge.text_rows import comes_apart
from harness.model import partition_paths
from harness.model.canonical import Value, same
from harness.model.datatypes import Primitive
from harness.model.schema import Field
from harness.model.simulation import value_conversions

NEAR = decimal.Decimal("0.001")
"""Numbers closer than this part of the expected one count as the same one with digits changed."""
BEYOND = decimal.Decimal("3.4028235677973366E+38")
"""The least double that has no form as a float of 32 bits, it becomes infinite (IEEE 754): in the
digits by which Python tells it, 2**128 - 2**103."""
ZONES = datetime.timedelta(hours=15)
"""A time moved by at most this counts as the same one shown in another zone."""
DAY = datetime.timedelta(days=1)
"""A date moves by at most this for the same reason."""
TELLING = 4
"""Fewer digits of a number may be another one's too."""
DECIMAL_BYTES = 16
"""A decimal of 38 digits takes so many."""
_FAR_TIME = re.compile(r"\+?(\d{5,})-(\d\d-\d\d[ T]\d\d:\d\d:\d\d)(\.\d+)?")
_DAYS_OF_CYCLE = 146_097
_UNITS = 1000
_MICROSECOND = datetime.timedelta(microseconds=1)
_HALF = 2**63
_DECIMAL = re.compile(r"-?[0-9]{1,38}(\.[0-9]{1,38})?")
GREGORIAN = datetime.date(1582, 10, 15)
"""The first day of the Gregorian calendar. Before it Spark 3 counts by it as well, older Spark and
Hive by the Julian one (Spark SQL migration guide, "Upgrading from Spark SQL 2.4 to 3.0")."""


def altered_value(difference: Difference, state: ExpectedState) -> bool:
    """Return whether the value is the expected one, changed a bit, and nobody else's."""
    if difference.kind not in VALUES or difference.actual is None:
        return False
    if difference.field and difference.field.id in {ROW_ID, UPDATED}:  # a number that stands for it
        return True
    of_defaults = difference.expected is None and _of_defaults(difference.actual, difference.field)
    if of_defaults or comes_apart(difference, state):  # that another row has it too is chance
        return True
    origin = difference.origin
    # Whose value it is does not matter where it is of the very version that should be there.
    if origin is not None and not (
        difference.of_own_field
        and origin.key == difference.key
        and origin.step == state.expected_step(origin.field_id, difference.key)
    ):
        return False
    expected, actual = difference.expected, difference.actual
    if shows_folder(difference, state):
        return True
    if expected is None:  # what is shown as a struct of NULLs may be another one without its parts
        field = difference.field
        alone = not isinstance(actual, dict) or (field and state.structs == {field.id})
        nobodys = origin is None and not difference.disputed and alone
        return difference.emptied or bool(nobodys and is_empty(actual, field))
    if difference.disputed:
        # Where a zero has another sign, zeros elsewhere are no other explanation.
        return isinstance(expected, float) and isinstance(actual, float) and expected == actual == 0
    return near(expected, actual)


def _of_defaults(value: Value, field: Field | None) -> bool:
    """Return whether a struct is one of which a file says nothing: parts have their defaults."""
    if field is None or not isinstance(value, dict):
        return False
    parts = [(value.get(part.name), part.default) for part in field.children]
    parts_given = [part for part, _ in parts if part is not None]
    return bool(parts_given) and all(part is None or same(part, default) for part, default in parts)


def shows_folder(difference: Difference, state: ExpectedState) -> bool:
    """Return whether a text is a partition's value in the form that its folder's name has.

    NULL's, `__HIVE_DEFAULT_PARTITION__`, is true as a boolean (Hive 3.1.3).
    """
    if not (difference.folder and difference.field):
        return False
    at = difference.folder, state.history[0].table.partition_by, difference.field.name
    if isinstance(difference.actual, str):
        return difference.actual in partition_paths.forms(*at)
    return difference.actual is True and partition_paths.is_null(*at)


def near(expected: Value, result: Value) -> bool:
    """Return whether one value may be the other with its digits, zone or precision changed."""
    if isinstance(expected, datetime.date):
        return (
            _near_in_time(expected, result)
            or _of_far_years(expected, result)
            or _beyond_nanoseconds(expected, result)
            or _beyond_nanoseconds(expected + _between_calendars(expected), result)
        )
    if isinstance(expected, bytes):
        return _near_bytes(expected, result)
    if isinstance(expected, str):
        return isinstance(result, str) and _near_text(expected, result)
    if isinstance(expected, decimal.Decimal) and isinstance(result, str):
        return result == _raw_decimal(expected) or _near_number(expected, result)
    changes = _near_number, _bits_of, _last_bits, _rescaled
    return any(change(expected, result) for change in changes)


def _near_in_time(expected: datetime.date, result: Value) -> bool:
    try:
        # Of nanoseconds it takes microseconds.
        shown = datetime.datetime.fromisoformat(result) if isinstance(result, str) else result
    except ValueError:
        return False
    if not isinstance(shown, datetime.date):
        return False
    dates = not isinstance(expected, datetime.datetime)
    moved = abs(_moment(expected) - _moment(shown))
    if moved <= (DAY if dates else ZONES):
        return True
    return abs(moved - _between_calendars(expected)) <= (datetime.timedelta() if dates else ZONES)


def _of_far_years(expected: datetime.date, result: Value) -> bool:
    """Return whether a time, of a year that Python does not have, is of the number it should be.

    In units of 1000 of them: so PrestoDB 0.283 shows the microseconds by which Iceberg partitions.
    In seconds for microseconds: so Hive 4.0.1 shows a moment that an ORC file has as a number. Or
    rounded to milliseconds, half of one up: so PrestoSQL 350 shows the last microsecond of 9999
    as the year 10000.
    """
    match = _FAR_TIME.match(result) if isinstance(result, str) else None
    if match is None or not isinstance(expected, datetime.datetime):
        return False
    cycles, year = divmod(int(match[1]) - 2000, 400)  # the calendar repeats after 400 years
    try:
        shown = datetime.datetime.fromisoformat(f"{2000 + year}-{match[2]}")
    except ValueError:
        return False
    days = cycles * _DAYS_OF_CYCLE + (shown - value_conversions.EPOCH) / DAY
    written = _moment(expected) - value_conversions.EPOCH
    if any(abs(days - written / DAY * units) <= ZONES / DAY for units in (_UNITS, _UNITS**2)):
        return True
    if abs(days) >= datetime.timedelta.max.days:
        return False
    rounded = (written // _MICROSECOND + _UNITS // 2) // _UNITS * _UNITS
    whole = cycles * _DAYS_OF_CYCLE * DAY + (shown - value_conversions.EPOCH)
    return not (match[3] or "").strip(".0") and whole // _MICROSECOND == rounded


def _beyond_nanoseconds(expected: datetime.date, result: Value) -> bool:
    """Return whether a moment came through 64 bits of nanoseconds, which do not hold it.

    Its microseconds times 1000 modulo 2 to the 64th, or the end that is nearer. Parquet's INT96,
    which Spark writes, holds days of any year and their nanoseconds; seen of the last microsecond
    of 9999 on DataFusion 54.1.0 and delta-rs 1.6.6 (the former) and on Polars 2.1.0, which shows
    the later end for the year 1500 too.
    """
    try:
        shown = datetime.datetime.fromisoformat(result) if isinstance(result, str) else result
    except ValueError:
        return False
    if not (isinstance(expected, datetime.datetime) and isinstance(shown, datetime.datetime)):
        return False
    exact, number = (
        (_moment(time) - value_conversions.EPOCH) // _MICROSECOND * 1000
        for time in (expected, shown)
    )
    wrapped = (exact + _HALF) % (2 * _HALF) - _HALF
    end = min(max(exact, -_HALF), _HALF - 1)
    # What is less than a microsecond is cut off towards the past or towards 1970.
    return wrapped != exact and number in {
        cut
        for stored in (wrapped, end, _HALF - 1)
        for cut in (stored // 1000 * 1000, -(-stored // 1000) * 1000)
        if (cut <= stored or stored < 0)
    }


def _between_calendars(day: datetime.date) -> datetime.timedelta:
    """Return how far apart the two calendars count a day before the Gregorian one was made."""
    if _moment(day).date() >= GREGORIAN:
        return datetime.timedelta()
    year = day.year - (day.month < 3)  # noqa: PLR2004 - a leap day comes at the end of February
    return abs(datetime.timedelta(days=year // 100 - year // 400 - 2))


def _moment(value: datetime.date) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return datetime.datetime.combine(value, datetime.time())


def _near_text(expected: str, result: str) -> bool:
    """Return whether a text was cut off, padded, or changed in case, form or encoding."""
    rest, whole = result.strip().lower(), expected.strip().lower()
    if (rest and whole.startswith(rest)) or rest == whole == "":
        return True
    forms = [unicodedata.normalize("NFKC", text) for text in (expected, result)]
    return forms[0] == forms[1] or result in _misread(expected) or result in _raw_number(expected)


def _raw_number(text: str) -> set[str]:
    """Return what the bytes of a stored decimal are as a text, whose own text is expected.

    They are a whole number in two's complement, the highest byte first (Apache Parquet format,
    "DECIMAL"); seen on Spark with vectorised reading off, after a decimal became a text.
    """
    if not _DECIMAL.fullmatch(text):
        return set()
    number = int(text.replace(".", ""))
    least = number.bit_length() // 8 + 1
    stored = (number.to_bytes(size, signed=True) for size in range(least, DECIMAL_BYTES + 1))
    return {data.decode(errors="replace") for data in stored}


def _misread(text: str) -> set[str]:
    """Return what becomes of letters beyond ASCII where UTF-8 is not written or not understood."""
    encoded = text.encode()
    lossy = {text.encode("ascii", "replace").decode(), encoded.decode("ascii", "replace")}
    return lossy | {encoded.decode("latin-1"), encoded.decode("cp1252", "replace")}


def _near_bytes(expected: bytes, result: Value) -> bool:
    """Whether bytes were cut off or padded with zeros, or some of them were lost in a text.

    Delta 3.3.2 and 4.4.0 make a text of the bytes by which they partition, and bytes of it again.
    """
    texts = {expected.decode(literal, "replace") for literal in ("utf-8", "ascii")}
    if isinstance(result, str):
        return result in texts
    if not isinstance(result, bytes):
        return False
    if result in {text.encode() for text in texts}:
        return True
    rest = result.rstrip(b"\0")
    return bool(rest) and expected.startswith(rest)


def _near_number(expected: Value, result: Value) -> bool:
    try:
        left, right = decimal.Decimal(str(expected)), decimal.Decimal(str(result))
        if left.is_finite() and right.is_infinite():
            return abs(left) >= BEYOND and (left > 0) == (right > 0)
        both = left.is_finite() and right.is_finite()
        return both and (abs(left - right) <= abs(left) * NEAR or _shorter(left, right))
    except ArithmeticError:  # a text that is no number, or one beyond all that we have
        return False


def _bits_of(expected: Value, result: Value) -> bool:
    """Return whether a number is the bits of the one that it should be, a float or a whole one.

    Trino 476, PrestoSQL 350 and PrestoDB 0.283 show so what files hold of an int or long column
    that became a float, and the last two floats where the catalog still says int.
    """
    if not isinstance(expected, float):
        return False
    try:
        if isinstance(result, float) and expected.is_integer():
            bits = value_conversions.stored_value(int(expected), Primitive("float"))
            return same(bits, result)
        return type(result) is int and value_conversions.stored_number(expected) == result
    except (ValueError, ArithmeticError, struct.error):  # beyond 32 bits
        return False


def _last_bits(expected: Value, result: Value) -> bool:
    """Return whether a whole number is the last 32 bits of one that takes more.

    chDB 4.4.0 shows so what files of a folder hold whose first one has an int.
    """
    whole = type(expected) is int and type(result) is int and expected != result
    return whole and (expected + 2**31) % 2**32 - 2**31 == result


def _rescaled(expected: Value, result: Value) -> bool:
    """Return whether a decimal has the digits of the one that it should be, and another point.

    So PrestoDB 0.283 (Parquet) and Trino 476 (Avro) show files of a column that got more places.
    """
    if not isinstance(expected, decimal.Decimal) or not isinstance(result, decimal.Decimal):
        return False
    digits, shown = (decimal.normalize().as_tuple() for decimal in (expected, result))
    enough = len(digits.digits) >= TELLING
    return enough and (digits.sign, digits.digits) == (shown.sign, shown.digits)


def _raw_decimal(expected: decimal.Decimal) -> str:
    """Return the bytes of a decimal as a text: 16, the lowest first, the last bit its sign.

    PrestoDB 0.283 shows so a decimal that was a text, which the catalog still says.
    """
    digits = int("".join(map(str, expected.as_tuple().digits)))
    sign = 1 << DECIMAL_BYTES * 8 - 1 if expected < 0 else 0
    return (digits | sign).to_bytes(DECIMAL_BYTES, "little").decode("utf-8", "replace")


def _shorter(expected: decimal.Decimal, result: decimal.Decimal) -> bool:
    """Return whether digits behind the point were cut off or rounded away."""
    exact, short = (min(0, int(n.normalize().as_tuple().exponent)) for n in (expected, result))
    last, off = decimal.Decimal(1).scaleb(short), abs(expected - result)
    shortened = abs(result) < abs(expected) and off < last
    return exact < short and (shortened or off * 2 <= last)

"""What a single value tells: who has had it, and whether that is one field alone."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from harness.core.records import Origin
from harness.judge.checks import altered_value
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.model.canonical import Look, MapValue, Value, look_of, text_of
from harness.model.conversion import read_back
from harness.model.datatypes import Primitive
from harness.model.simulation import value_conversions
from harness.model.simulation.value_conversions import EPOCH

_EXTREMES: Final = (n for bits in (8, 16, 32, 64) for n in (-(1 << bits - 1), (1 << bits - 1) - 1))
FEW: Final = frozenset(
    {"0", "1", "-1", "", "NULL", "null", look_of(()), look_of((None,)), look_of(MapValue(()))}
    | {str(extreme) for extreme in _EXTREMES}
)
"""What any column may come to show: defaults, words for NULL, and what is left of a number that was
cut or clamped to fewer bits."""
LAST_DAY: Final = (datetime.date.max - EPOCH.date()).days


def origin_by_value(state: ExpectedState, difference: Difference) -> Difference:
    """Let the value speak for itself, where only one field has ever had it."""
    if difference.kind is not DifferenceKind.CELL or difference.actual is None:
        return difference
    origins = origins_of(state, difference.actual) or _cut(state, difference)
    here = [origin for origin in origins if origin.key == difference.key]
    fields = {origin.field_id for origin in origins}
    witnesses = len(fields) == 1 and not older_and_newer(state, difference, here)
    if not witnesses or tells_nothing(difference.actual) or _may_be_altered(difference, fields):
        return replace(difference, disputed=bool(origins))
    return replace(difference, origin=best(state, difference, here or origins))


def _cut(state: ExpectedState, difference: Difference) -> tuple[Origin, ...]:
    """Return the other fields whose number a whole one of the same row is without its fraction.

    Readers of ORC files by position cut it where the column has a whole type (seen on Hive 3.1.3).
    Made fractions are a half.
    """
    if not isinstance(difference.actual, int) or isinstance(difference.actual, bool):
        return ()
    had = state.index.looks.get(look_of(difference.actual + 0.5), ())
    own = difference.field.id if difference.field is not None else None
    return tuple(
        origin for origin in had if origin.key == difference.key and origin.field_id != own
    )


def tells_nothing(result: Value) -> bool:
    """Return whether a value does not tell whose it is, though only one may have written it."""
    # A default or a flag may be anything's, whoever alone happened to write one.
    # The first days and seconds of 1970 are such numbers in another type.
    return isinstance(result, bool) or bool(FEW & set(readings(result)))


def origins_of(state: ExpectedState, result: Value) -> tuple[Origin, ...]:
    """Return all who have ever had a value, whatever type it came in."""
    looks = state.index.looks
    had = (looks[look] for look in readings(result) if look in looks)
    return next(had, ())


def readings(result: Value) -> Iterator[Look]:
    """Yield how a value looks, then what the same stored number is in another type.

    Parquet stores texts and bytes alike, a date as days and a timestamp as milli- or microseconds
    since 1970: a reader by position shows a whole number as the date of that day (seen on Trino 476
    and PrestoSQL 350). A negative zero is 0 where numbers are whole.
    """
    yield look_of(result)
    if isinstance(result, bytes):
        yield result.decode("utf-8", "replace")
    elif isinstance(result, str):
        yield from map(look_of, read_back(result))
        yield text_of(result.encode("utf-8", "surrogatepass"))
    elif isinstance(result, datetime.datetime):
        if result.time() == datetime.time():
            yield text_of(result.date())
        micros = value_conversions.stored_number(result)
        yield from (str(micros), str(micros // 1000))
    elif isinstance(result, datetime.date):
        yield str(value_conversions.stored_number(result))
    elif isinstance(result, int) and 0 <= result <= LAST_DAY:
        if not result:
            yield look_of(-0.0)
        yield text_of(value_conversions.stored_value(result, Primitive("date")))


def _may_be_altered(difference: Difference, fields: set[int]) -> bool:
    # A small decimal without its fraction may be just the number that another field holds.
    origins = difference.field is not None and difference.field.id in fields
    return not origins and altered_value.near(difference.expected, difference.actual)


def best(state: ExpectedState, difference: Difference, origins: Iterable[Origin]) -> Origin:
    """Choose among versions of one field: one before the expected, then one before now."""
    expected = state.expected_step(difference.field.id, difference.key) if difference.field else -1

    def rank(origin: Origin) -> tuple[bool, bool, int]:
        same_row = difference.field is not None and origin.field_id == difference.field.id
        return same_row and origin.step < expected, origin.step <= state.now.step, origin.step

    return max(origins, key=rank)


def older_and_newer(
    state: ExpectedState, difference: Difference, origins: Iterable[Origin]
) -> bool:
    """Return whether the value is of versions of its row before and after the one to be shown."""
    if state.newer is None or difference.field is None:
        return False
    expected, versions = (
        state.expected_step(difference.field.id, difference.key),
        difference.field.id,
    )
    steps = {
        origin.step
        for origin in origins
        if origin.field_id == versions and origin.step <= state.now.step
    }
    return bool(steps) and min(steps) < expected < max(steps)

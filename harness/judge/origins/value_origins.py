"""What a single value tells: who has had it, and whether that is one field alone."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from harness.core.records import Origin
from harness.judge.checks import altered_value
from harness.judge.place import Place, What
from harness.judge.world import World
from harness.model.canonical import Look, MapValue, Value, look_of, text_of
from harness.model.conversion import read_back
from harness.model.datatypes import Primitive
from harness.model.simulation import physical_values
from harness.model.simulation.physical_values import EPOCH

_EXTREMES: Final = (n for bits in (8, 16, 32, 64) for n in (-(1 << bits - 1), (1 << bits - 1) - 1))
FEW: Final = frozenset(
    {"0", "1", "-1", "", "NULL", "null", look_of(()), look_of((None,)), look_of(MapValue(()))}
    | {str(each) for each in _EXTREMES}
)
"""What any column may come to show: defaults, words for NULL, and what is left of a number that was
cut or clamped to fewer bits."""
LAST_DAY: Final = (datetime.date.max - EPOCH.date()).days


def own_witness(world: World, place: Place) -> Place:
    """Let the value speak for itself, where only one field has ever had it."""
    if place.what is not What.CELL or place.found is None:
        return place
    origins = origins_of(world, place.found) or _cut(world, place)
    here = [origin for origin in origins if origin.key == place.key]
    fields = {origin.field_id for origin in origins}
    told = len(fields) == 1 and not older_and_newer(world, place, here)
    if not told or tells_nothing(place.found) or _may_be_altered(place, fields):
        return replace(place, disputed=bool(origins))
    return replace(place, origin=best(world, place, here or origins))


def _cut(world: World, place: Place) -> tuple[Origin, ...]:
    """Return the other fields whose number a whole one of the same row is without its fraction.

    Readers of ORC files by position cut it where the column has a whole type (seen on Hive 3.1.3).
    Made fractions are a half.
    """
    if not isinstance(place.found, int) or isinstance(place.found, bool):
        return ()
    had = world.index.looks.get(look_of(place.found + 0.5), ())
    own = place.field.id if place.field is not None else None
    return tuple(each for each in had if each.key == place.key and each.field_id != own)


def tells_nothing(found: Value) -> bool:
    """Return whether a value does not tell whose it is, though only one may have written it."""
    # A default or a flag may be anything's, whoever alone happened to write one.
    # The first days and seconds of 1970 are such numbers in another type.
    return isinstance(found, bool) or bool(FEW & set(readings(found)))


def origins_of(world: World, found: Value) -> tuple[Origin, ...]:
    """Return all who have ever had a value, whatever type it came in."""
    looks = world.index.looks
    had = (looks[look] for look in readings(found) if look in looks)
    return next(had, ())


def readings(found: Value) -> Iterator[Look]:
    """Yield how a value looks, then what the same stored number is in another type.

    Parquet stores texts and bytes alike, a date as days and a timestamp as milli- or microseconds
    since 1970: a reader by position shows a whole number as the date of that day (seen on Trino 476
    and PrestoSQL 350). A negative zero is 0 where numbers are whole.
    """
    yield look_of(found)
    if isinstance(found, bytes):
        yield found.decode("utf-8", "replace")
    elif isinstance(found, str):
        yield from map(look_of, read_back(found))
        yield text_of(found.encode("utf-8", "surrogatepass"))
    elif isinstance(found, datetime.datetime):
        if found.time() == datetime.time():
            yield text_of(found.date())
        micros = physical_values.number(found)
        yield from (str(micros), str(micros // 1000))
    elif isinstance(found, datetime.date):
        yield str(physical_values.number(found))
    elif isinstance(found, int) and 0 <= found <= LAST_DAY:
        if not found:
            yield look_of(-0.0)
        yield text_of(physical_values.taken(found, Primitive("date")))


def _may_be_altered(place: Place, fields: set[int]) -> bool:
    # A small decimal without its fraction may be just the number that another field holds.
    own = place.field is not None and place.field.id in fields
    return not own and altered_value.near(place.expected, place.found)


def best(world: World, place: Place, origins: Iterable[Origin]) -> Origin:
    """Choose among versions of one field: one before the expected, then one before now."""
    expected = world.expected_step(place.field.id, place.key) if place.field else -1

    def rank(origin: Origin) -> tuple[bool, bool, int]:
        own = place.field is not None and origin.field_id == place.field.id
        return own and origin.step < expected, origin.step <= world.now.step, origin.step

    return max(origins, key=rank)


def older_and_newer(world: World, place: Place, origins: Iterable[Origin]) -> bool:
    """Return whether the value is of versions of its row before and after the one to be shown."""
    if world.newer is None or place.field is None:
        return False
    expected, own = world.expected_step(place.field.id, place.key), place.field.id
    steps = {each.step for each in origins if each.field_id == own and each.step <= world.now.step}
    return bool(steps) and min(steps) < expected < max(steps)

"""Whose value was found in a wrong cell.

Most values tell it themselves: only one field has ever had them. Others (booleans, small decimals,
explicit values) fit several; then the pattern over the rows that were written alike decides, or
what the rest of the row shows, or nothing does and the cell is disputed. A NULL tells nothing
itself: it is taken for the value of the field that the column shows in the other rows, or of the
version that the row shows in the other columns, where that value is NULL.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from harness.checks import altered_value, premature
from harness.checks.place import NULLS, Place, What, World, leaves
from harness.model.canonical import Value, text_of
from harness.model.schema import Field
from harness.record import Origin

Seen = Mapping[str, Sequence[tuple[Field, Value]]]
"""What was found in each row, by the text of its key: the columns with their values."""
Batch = tuple[object, int]
"""Rows that lie in the same file: a group's base file, or the log file that one step wrote."""
BASE: Final = -1
GROUP: Final = -2
"""In a batch: all files of the group."""

PATTERN_ROWS: Final = 4
"""Fewer rows are no pattern: booleans agree by chance too easily."""
EPOCH: Final = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - canonical timestamps have no zone
LAST_DAY: Final = (datetime.date.max - EPOCH.date()).days
DAY: Final = datetime.timedelta(days=1)
"""A date moves by at most this when it is shown in another zone."""


def attribute(world: World, places: Sequence[Place], seen: Seen) -> tuple[Place, ...]:
    """Give the places with the origin of each cell, in the same order."""
    own = [_own_witness(world, place) for place in places]
    columns = _columns(own)
    cells = _cells(seen)
    for field_id, wrong in columns.items():
        _moved_dates(own, wrong)
        _by_pattern(world, own, wrong, cells.get(field_id, ()))
        _by_neighbours(world, own, wrong)
    versions = _other_versions(world, own)
    own = _of_shown_version(world, own, versions)
    shown = _shown_fields(world, own)
    older = frozenset(place.key for place in own if _is_older(world, place))
    return tuple(
        _of_another_field(world, place, shown, older) or _as_of(world, place, versions)
        for place in own
    )


def _of_shown_version(
    world: World, places: Sequence[Place], versions: Mapping[str, int]
) -> list[Place]:
    """Take disputed values for those of the version that a row shows, where the column allows it.

    A column that shows anything else in the same file group may be another's in these rows too.
    """
    taken = [
        _of_version(world, place, versions[place.key])
        if place.disputed and place.key in versions
        else place
        for place in places
    ]
    others = {_in_group(world, each) for each in taken if _of_another(each)}
    pairs = zip(places, taken, strict=True)
    return [old if old.disputed and _in_group(world, old) in others else new for old, new in pairs]


def _of_another(place: Place) -> bool:
    cell = place.what is What.CELL and place.field is not None and place.found is not None
    own = place.origin and place.field and place.origin.field_id == place.field.id
    return cell and not own


def _in_group(world: World, place: Place) -> tuple[int, object]:
    if place.what is not What.CELL or place.field is None:
        return 0, None
    return world.root_of(place.field.id), _batch(world, place.key)[0]


def _columns(places: Sequence[Place]) -> dict[int, list[int]]:
    """Give where the wrong cells of each field stand, those with a value."""
    found: dict[int, list[int]] = {}
    for at, place in enumerate(places):
        if place.what is What.CELL and place.field is not None and place.found is not None:
            found.setdefault(place.field.id, []).append(at)
    return found


def _own_witness(world: World, place: Place) -> Place:
    """Let the value speak for itself, where only one field has ever had it."""
    if place.what is not What.CELL or place.found is None:
        return place
    origins = _origins(world, place.found)
    here = [origin for origin in origins if origin.key == place.key]
    fields = {origin.field_id for origin in origins}
    told = len(fields) == 1 and not _older_and_newer(world, place, here)
    if not told or _tells_nothing(place.found) or _may_be_altered(place, fields):
        return replace(place, disputed=bool(origins))
    return replace(place, origin=_best(world, place, here or origins))


def _tells_nothing(found: Value) -> bool:
    # A default or a flag may be anything's, whoever alone happened to write one.
    return isinstance(found, bool) or text_of(found) in {"0", "1", "", "[]", "{}"}


def _origins(world: World, found: Value) -> tuple[Origin, ...]:
    texts = world.index.texts
    readings = (texts[text] for text in _readings(found) if text in texts)
    return next(readings, ())


def _readings(found: Value) -> Iterator[str]:
    """Give the text of a value, then of what the same stored number is in another type.

    Parquet stores texts and bytes alike, a date as days and a timestamp as milli- or microseconds
    since 1970: a reader by position shows a whole number as the date of that day (seen on Trino 476
    and PrestoSQL 350).
    """
    yield text_of(found)
    if isinstance(found, bytes):
        yield found.decode("utf-8", "replace")
    elif isinstance(found, str):
        yield from _read_back(found)
        yield text_of(found.encode("utf-8", "surrogatepass"))
    elif isinstance(found, datetime.datetime):
        if found.time() == datetime.time():
            yield text_of(found.date())
        micros = (found - EPOCH) // datetime.timedelta(microseconds=1)
        yield from (str(micros), str(micros // 1000))
    elif isinstance(found, datetime.date):
        yield str((found - EPOCH.date()).days)
    elif isinstance(found, int) and 0 <= found <= LAST_DAY:
        yield text_of(EPOCH.date() + datetime.timedelta(days=found))


def _read_back(found: str) -> Iterator[str]:
    """Give the text of the number or time that a cast to a string wrote: `7.0`, `12:00:00.25`."""
    for read in (decimal.Decimal, datetime.datetime.fromisoformat):
        try:
            yield text_of(read(found))
        except (ValueError, decimal.InvalidOperation):
            continue


def _may_be_altered(place: Place, fields: set[int]) -> bool:
    # A small decimal without its fraction may be just the number that another field holds.
    own = place.field is not None and place.field.id in fields
    return not own and altered_value.near(place.expected, place.found)


def _best(world: World, place: Place, origins: Iterable[Origin]) -> Origin:
    """Choose among versions of one field: one before the expected, then one before now."""
    expected = world.expected_step(place.field.id, place.key) if place.field else -1

    def rank(origin: Origin) -> tuple[bool, bool, int]:
        own = place.field is not None and origin.field_id == place.field.id
        return own and origin.step < expected, origin.step <= world.step, origin.step

    return max(origins, key=rank)


def _older_and_newer(world: World, place: Place, origins: Iterable[Origin]) -> bool:
    """Tell whether the value is of versions of its row before and after the one to be shown."""
    if world.newer is None or place.field is None:
        return False
    expected, own = world.expected_step(place.field.id, place.key), place.field.id
    steps = {each.step for each in origins if each.field_id == own and each.step <= world.step}
    return bool(steps) and min(steps) < expected < max(steps)


def _moved_dates(places: list[Place], at: Sequence[int]) -> None:
    """Tell a column of dates that moved by a day from one that shows other rows' dates.

    Neighbouring rows have neighbouring dates; but a moved column holds one that nobody wrote.
    """
    cells = [places[each] for each in at]
    moves = {_move(place) for place in cells}
    nobodys = any(place.origin is None and not place.disputed for place in cells)
    if len(moves) == 1 and None not in moves and nobodys:
        for each in at:
            places[each] = replace(places[each], origin=None, disputed=False)


def _move(place: Place) -> datetime.timedelta | None:
    expected, found = place.expected, place.found
    if type(expected) is not datetime.date or type(found) is not datetime.date:
        return None
    return found - expected if abs(found - expected) <= DAY else None


@dataclass(frozen=True, slots=True)
class _Cell:
    key: str
    found: str


def _cells(seen: Seen) -> dict[int, list[_Cell]]:
    """Give every plain value that was found, right or wrong, by the field it should be of."""
    cells: dict[int, list[_Cell]] = {}
    for key, columns in seen.items():
        for field, value in columns:
            for _, leaf, found in leaves(value, field, field.name):
                cells.setdefault(leaf.id, []).append(_Cell(key, text_of(found)))
    return cells


def _batch(world: World, key: str) -> Batch:
    row = world.keys[key]
    in_base = world.held.get(key) is row
    return row.group, BASE if in_base else max(row.written.values(), default=BASE)


def _by_pattern(
    world: World, places: list[Place], at: Sequence[int], cells: Sequence[_Cell]
) -> None:
    """Let the pattern over the rows decide what single values do not."""
    if not any(places[each].disputed for each in at):
        return
    batches = {_batch(world, places[each].key) for each in at}
    for which in (batches, *({batch} for batch in batches)):
        wrong = [each for each in at if _batch(world, places[each].key) in which]
        rows = [cell for cell in cells if _batch(world, cell.key) in which]
        # A column that lost its fractions has a pattern as well, and it may be another's.
        # So has a boolean column that is shown as numbers.
        cut = all(_may_be_its_own(places[each]) for each in wrong)
        chosen = None if cut else _only_fit(world, rows)
        for each in wrong if chosen is not None else ():
            places[each] = _decided(world, places[each], chosen)


def _may_be_its_own(place: Place) -> bool:
    flag = isinstance(place.expected, bool) and isinstance(place.found, int)
    as_flag = flag and place.found == place.expected
    return as_flag or altered_value.near(place.expected, place.found)


def _by_neighbours(world: World, places: list[Place], at: Sequence[int]) -> None:
    """Let the other wrong rows of the same file decide: what one field shows there, it shows here.

    This holds for values that tell whose they are, not for booleans.
    """
    shown = _shown_fields(world, [places[each] for each in at if not places[each].disputed])
    for each in at:
        place = places[each]
        whose = shown.get((place.field.id, _batch(world, place.key)), ()) if place.field else ()
        if len(whose) == 1:
            places[each] = _decided(world, place, *whose)


def _only_fit(world: World, rows: Sequence[_Cell]) -> int | None:
    """Give the one field whose values are those of all the rows; None for none or several."""
    told = [cell for cell in rows if cell.found not in NULLS]
    if len({cell.key for cell in told}) < PATTERN_ROWS or len({cell.found for cell in told}) == 1:
        return None
    fields = {field_id for field_id, _ in world.index.cells}
    fits = [each for each in fields if all(_had(world, each, cell) for cell in rows)]
    return fits[0] if len(fits) == 1 else None


def _had(world: World, field_id: int, cell: _Cell) -> bool:
    versions = world.index.cells.get((field_id, cell.key), {})
    return any(cell.found in texts for texts in versions.values())


def _decided(world: World, place: Place, field_id: int | None) -> Place:
    origins = [
        origin
        for origin in _origins(world, place.found)
        if origin.key == place.key and origin.field_id == field_id
    ]
    if not place.disputed or not origins or _older_and_newer(world, place, origins):
        return place
    return replace(place, origin=_best(world, place, origins), disputed=False)


def _other_versions(world: World, places: Sequence[Place]) -> dict[str, int]:
    """Give the step up to which a row was read, where some of its values are of another version."""
    versions: dict[str, int] = {}
    for place in places:
        origin, field = place.origin, place.field
        own = origin and field and origin.field_id == field.id
        if origin and own and (_is_older(world, place) or premature.explains(place, world)):
            versions[place.key] = max(origin.step, versions.get(place.key, 0))
    return versions


def _is_older(world: World, place: Place) -> bool:
    """Tell whether a value, of whatever field, is of an older version of its row."""
    origin = place.origin
    if origin is None or place.what is not What.CELL or origin.key != place.key:
        return False
    return origin.step < world.expected_step(origin.field_id, place.key)


def _of_version(world: World, place: Place, step: int) -> Place:
    """Take the place as of an older version of its row, where that holds the found value."""
    if place.what is not What.CELL or place.field is None:
        return place
    field_id = place.field.id
    versions = world.index.cells.get((field_id, place.key), {})
    written = max((each for each in versions if each <= step), default=None)
    texts = NULLS if written is None else versions[written]
    if text_of(place.found) not in texts:
        return place
    at = step if written is None else written
    name = world.history[at].schema.path_of(field_id) or place.column
    return replace(place, origin=Origin(field_id, name, at, place.key), disputed=False)


def _shown_fields(
    world: World, places: Sequence[Place]
) -> dict[tuple[int, Batch], frozenset[int | None]]:
    """Give the fields that each column shows in each batch, where it is wrong and not NULL.

    Beside parts it is told of whole columns, and of whole file groups: a reader that leaves out
    log files shows its base file for all rows.
    """
    shown: dict[tuple[int, Batch], frozenset[int | None]] = {}
    for place in places:
        if place.what is What.CELL and place.field is not None and place.found is not None:
            origin, batch = place.origin, _batch(world, place.key)
            whose = origin.field_id if origin and origin.key == place.key else None
            root = whose if whose is None else world.root_of(whose)
            column = world.root_of(place.field.id)
            told = {(place.field.id, batch): whose, (column, (batch[0], GROUP)): root}
            for at, field_id in ({(column, batch): root} | told).items():
                shown[at] = shown.get(at, frozenset()) | {field_id}
    return shown


def _of_another_field(
    world: World,
    place: Place,
    shown: Mapping[tuple[int, Batch], frozenset[int | None]],
    older: AbstractSet[str],
) -> Place | None:
    """Take a NULL for that of the field which the column shows beside it; None where it cannot be.

    Rows of which older versions are read lie in the base file, whatever log files hold of them.
    """
    if place.what is not What.CELL or place.found is not None or place.field is None:
        return None
    batch, column = _batch(world, place.key), world.root_of(place.field.id)
    where = [(place.field.id, batch), (column, batch)]
    if place.key in older:
        where.append((column, (batch[0], GROUP)))
    whose = next((shown[at] for at in where if at in shown), frozenset())
    origin = _null_of(world, place, *whose) if len(whose) == 1 else None
    return replace(place, origin=origin) if origin else None


def _as_of(world: World, place: Place, versions: Mapping[str, int]) -> Place:
    null = place.what is What.CELL and place.found is None
    return (
        _of_version(world, place, versions[place.key]) if null and place.key in versions else place
    )


def _null_of(world: World, place: Place, field_id: int | None) -> Origin | None:
    """Give the version of another field of the row that is NULL, the latest.

    Versions of the row from before the field was added are NULL there as well.
    """
    own = place.field and (place.field.id, world.root_of(place.field.id))
    if field_id is None or not own or field_id in own:
        return None
    cells = world.index.cells
    versions = cells.get((field_id, place.key), {})
    rows = cells.get((world.key_id, place.key), {})
    first = min(versions, default=world.step + 1)
    steps = [each for each, texts in versions.items() if texts & NULLS and each <= world.step]
    steps += [each for each in rows if each < first]
    if not steps:
        return None
    name = world.history[max(steps)].schema.path_of(field_id) or ""
    return Origin(field_id, name, max(steps), place.key)

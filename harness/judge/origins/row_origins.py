"""What the rest of a row tells: which version of it is shown, and whose its NULLs are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.core.records import Origin
from harness.judge.checks import premature
from harness.judge.difference import NULLS, Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState
from harness.judge.origins.column_origins import GROUP, Batch, batch_of, lies
from harness.judge.origins.value_origins import readings
from harness.model.canonical import Look, Value, look_of
from harness.model.schema import Field

ShownValue = tuple[Origin, Value]
"""A value that a row shows, and whose it is."""


def other_versions(state: ExpectedState, differences: Sequence[Difference]) -> dict[str, int]:
    """Return the step whose version of a row is shown, for rows that show another version."""
    rows: dict[str, list[ShownValue]] = {}
    for difference in differences:
        origin, field = difference.origin, difference.field
        versions = origin and field and origin.field_id == field.id
        if (
            origin
            and versions
            and (is_older(state, difference) or premature.explains(difference, state))
        ):
            rows.setdefault(difference.key, []).append((origin, difference.actual))
    return {key: _version_of(state, shown) for key, shown in rows.items()}


def _version_of(state: ExpectedState, shown: Sequence[ShownValue]) -> int:
    """Return the step up to which a row was read, of which these values are shown.

    A boolean may be the same in several versions: then its origin is the latest of them, and the
    other values tell which it was. Where no version has them all, it is the latest origin.
    """
    steps = {step for each, _ in shown for step in _versions(state, each) if step <= each.step}
    whole = [step for step in steps if all(_had_after(state, step, value) for value in shown)]
    return max(whole or (each.step for each, _ in shown))


def _had_after(state: ExpectedState, step: int, shown: ShownValue) -> bool:
    """Return whether a field had a value in its row after a step."""
    origin, value = shown
    versions = _versions(state, origin)
    written = max((version for version in versions if version <= step), default=None)
    return written is not None and not versions[written].isdisjoint(readings(value))


def _versions(state: ExpectedState, origin: Origin) -> Mapping[int, frozenset[Look]]:
    return state.index.cells.get((origin.field_id, origin.key), {})


def is_older(state: ExpectedState, difference: Difference) -> bool:
    """Return whether a value, of whatever field, is of an older version of its row."""
    origin = difference.origin
    if origin is None or difference.kind is not DifferenceKind.CELL or origin.key != difference.key:
        return False
    return state.older(origin, origin.field_id)


def older(state: ExpectedState, differences: Sequence[Difference]) -> dict[str, int]:
    """Return the rows of which older versions are seen, and the step up to which each was read."""
    rows: dict[str, list[ShownValue]] = {}
    for difference in differences:
        if difference.origin and is_older(state, difference):
            rows.setdefault(difference.key, []).append((difference.origin, difference.actual))
    return {key: _version_of(state, shown) for key, shown in rows.items()}


def _of_version(state: ExpectedState, difference: Difference, step: int) -> Difference:
    """Take the place as of an older version of its row, where that holds the found value."""
    if difference.kind is not DifferenceKind.CELL or difference.field is None:
        return difference
    field_id = difference.field.id
    versions = state.index.cells.get((field_id, difference.key), {})
    written = max((version for version in versions if version <= step), default=None)
    looks = NULLS if written is None else versions[written]
    if look_of(difference.actual) not in looks:
        return difference
    at = step if written is None else written
    name = state.at(at).schema.path_of(field_id) or difference.column
    return replace(difference, origin=Origin(field_id, name, at, difference.key), disputed=False)


def of_shown_version(
    state: ExpectedState, differences: Sequence[Difference], versions: Mapping[str, int]
) -> list[Difference]:
    """Take disputed values for those of the version that a row shows, where the column allows it.

    A column that shows anything else in the same file group may be another's in these rows too.
    """
    taken = [
        _of_version(state, difference, versions[difference.key])
        if difference.disputed and difference.key in versions
        else difference
        for difference in differences
    ]
    others = {_in_group(state, difference) for difference in taken if _of_another(difference)}
    pairs = zip(differences, taken, strict=True)
    return [old if old.disputed and _in_group(state, old) in others else new for old, new in pairs]


def _of_another(difference: Difference) -> bool:
    cell = (
        difference.kind is DifferenceKind.CELL
        and difference.field is not None
        and difference.actual is not None
    )
    versions = (
        difference.origin and difference.field and difference.origin.field_id == difference.field.id
    )
    return cell and not versions


def _in_group(state: ExpectedState, difference: Difference) -> tuple[int, object]:
    if difference.kind is not DifferenceKind.CELL or difference.field is None:
        return 0, None
    return state.root_of(difference.field.id), batch_of(state, difference.key)[0]


def of_another_field(
    state: ExpectedState,
    difference: Difference,
    shown: Mapping[tuple[int, Batch], frozenset[int | None]],
    older: Mapping[str, int],
) -> Difference | None:
    """Take a NULL for that of the field which the column shows beside it, where it can be."""
    if (
        difference.kind is not DifferenceKind.CELL
        or difference.actual is not None
        or difference.field is None
    ):
        return None
    batch, column = lies(state, difference.key, older), state.root_of(difference.field.id)
    where = [(difference.field.id, batch), (column, batch)]
    if difference.key in older:
        where.append((column, (batch[0], GROUP)))
    whose = next((shown[at] for at in where if at in shown), frozenset())
    parts = {_counterpart(state, each, difference.field) for each in whose} | whose
    origins = (_null_of(state, difference, part) for part in parts) if len(whose) == 1 else ()
    origin = next((origin for origin in origins if origin), None)
    return replace(difference, origin=origin) if origin else None


def _counterpart(state: ExpectedState, column: int | None, part: Field) -> int | None:
    """Return the part of another column that has the path which a part has in its own."""
    path = (state.schema.path_of(part.id) or "").partition(".")[2]
    result = state.schema.by_id(column) if path and column is not None else None
    version = f"{state.schema.path_of(result.id)}.{path}" if result else ""
    inside = result.walk() if result else ()
    return next((field.id for field in inside if state.schema.path_of(field.id) == version), None)


def as_of(state: ExpectedState, difference: Difference, versions: Mapping[str, int]) -> Difference:
    """Take a NULL for that of the version which its row shows, where there is such a version."""
    null = difference.kind is DifferenceKind.CELL and difference.actual is None
    return (
        _of_version(state, difference, versions[difference.key])
        if null and difference.key in versions
        else difference
    )


def _null_of(state: ExpectedState, difference: Difference, field_id: int | None) -> Origin | None:
    """Return the version of another field of the row that is NULL, the latest.

    Versions of the row from before the field was added are NULL there as well.
    """
    own = difference.field and (difference.field.id, state.root_of(difference.field.id))
    if field_id is None or not own or field_id in own:
        return None
    cells = state.index.cells
    versions = cells.get((field_id, difference.key), {})
    rows = cells.get((state.key_id, difference.key), {})
    first = min(versions, default=state.now.step + 1)
    steps = [each for each, looks in versions.items() if looks & NULLS and each <= state.now.step]
    steps += [row for row in rows if row < first]
    if not steps:
        return None
    name = state.at(max(steps)).schema.path_of(field_id) or ""
    return Origin(field_id, name, max(steps), difference.key)

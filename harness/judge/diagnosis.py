"""From wrong places to named findings: each place is explained by exactly one check."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

from harness.core.records import Finding, FindingKind, Party, Witness
from harness.judge.checks.place import Place, What, World
from harness.model.canonical import Value, text_of

ORDER: Final = (
    FindingKind.TYPE_DRIFT,
    FindingKind.RESURRECTED,
    FindingKind.MISALIGNED,
    FindingKind.STALE,
    FindingKind.PREMATURE,
    FindingKind.MISSING_RENAME,
    FindingKind.ALTERED_VALUE,
    FindingKind.GHOST_ROW,
    FindingKind.DUPLICATE,
    FindingKind.LOST_ROW,
    FindingKind.LOST_VALUE,
    FindingKind.UNEXPLAINED,
)
"""The first check that explains a place names it: the most specific wins."""

Check = Callable[[Place, World], bool]


@cache
def check_of(kind: FindingKind) -> Check:
    """Return the check of a finding, from the file of its name."""
    module = importlib.import_module(f"harness.judge.checks.{kind.value}")
    check: Check = module.explains
    return check


def name_of(place: Place, world: World) -> FindingKind:
    """Return the one name of a wrong place."""
    return next(kind for kind in ORDER if check_of(kind)(place, world))


def findings(places: Iterable[Place], world: World) -> tuple[Finding, ...]:
    """Group the places by name and by whose doing they are, each group a finding."""
    groups: dict[tuple[FindingKind, Party | None], list[Place]] = {}
    for place in places:
        groups.setdefault((name_of(place, world), place.party), []).append(place)
    order = [at for kind in FindingKind for at in groups if at[0] is kind]
    return tuple(_finding(kind, groups[kind, whose], world) for kind, whose in order)


def _finding(kind: FindingKind, places: list[Place], world: World) -> Finding:
    columns = tuple(dict.fromkeys(_column(place, world) for place in places if place.column))
    witnesses = tuple(_witness(place) for place in places)
    return Finding(kind, columns, witnesses[0], witnesses, places[0].party)


def _column(place: Place, world: World) -> str:
    # Elements and map entries have a place each, `f[0]`, but are one column, `f.element`.
    if "[" not in place.column:
        return place.column
    path = world.schema.path_of(place.field.id) if place.field else None
    return path or place.column.partition("[")[0]


def _witness(place: Place) -> Witness:
    expected, found = _plain(place, place.expected), _plain(place, place.found)
    raw = text_of(place.found)
    return Witness(place.key, place.column, expected, found, place.origin, raw, place.file)


def _plain(place: Place, value: Value) -> Value:
    # A whole row is shown as one text; cells keep their typed value.
    return text_of(value) if place.what in {What.EXTRA_ROW, What.SECOND_ROW} else value

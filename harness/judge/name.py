"""Stage 5: the name of each wrong place, which exactly one check explains."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from harness.core.records import FindingKind
from harness.judge.place import Place
from harness.judge.world import World

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


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A wrong place with its name."""

    kind: FindingKind
    place: Place


def name(places: Sequence[Place], world: World) -> tuple[NamedPlace, ...]:
    """Return the places of an answer, each with its one name, in the same order."""
    return tuple(NamedPlace(name_of(each, world), each) for each in places)


def name_of(place: Place, world: World) -> FindingKind:
    """Return the one name of a wrong place."""
    return next(kind for kind in ORDER if check_of(kind)(place, world))

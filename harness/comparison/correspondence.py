"""Which variant and reader of one run is which of another. Pure.

What has the same name is the same. A reader of another version, and a table of another writer, are
found by what else they have, where only one can be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from harness.core.grouping import grouped
from harness.formats.api import HANDOVER_VERSION
from harness.run import causes
from harness.run.run_info import RunInfo, VariantInfo
from harness.scenario.cells import parse_reader

WRITERS_OWN: Final = frozenset({"table_version", "auto_upgrade", HANDOVER_VERSION})
"""The settings of a table that say what its writer makes: the newer one makes newer tables."""


@dataclass(frozen=True, slots=True)
class Correspondence:
    """How the old side calls what the new side has; by the same name, where nothing is said."""

    variants: Mapping[str, str] = field(default_factory=dict)
    """The old side's variant of each of the new side's."""
    readers: Mapping[str, str] = field(default_factory=dict)


AS_NAMED: Final = Correspondence()


def correspondence(old: RunInfo, new: RunInfo) -> Correspondence:
    """Return what the old run calls what the new one has.

    Several tables of the new side may stand beside one of the old: gone on with after one step or
    another.
    """
    stories = {_story(each): each.id for each in old.variants}
    kept = {each.id for each in old.variants}
    variants = {
        each.id: stories[_story(each)]
        for each in new.variants
        if each.id not in kept and _story(each) in stories
    }
    was, now = ([each.reader for each in info.readers] for info in (old, new))
    return Correspondence(variants, _readers(was, now))


def _story(variant: VariantInfo) -> Hashable:
    """Return what a variant is but for its writers, and for the version that they make."""
    own = tuple(sorted(each for each in variant.settings.items() if each[0] not in WRITERS_OWN))
    return variant.scenario, variant.format, own, variant.twin


def _readers(old: Iterable[str], new: Iterable[str]) -> Mapping[str, str]:
    """Pair the readers that the other run has not: by what tells them apart, the least of it."""
    was, now = list(old), list(new)
    gone, come = [e for e in was if e not in now], [e for e in now if e not in was]
    alone: list[Callable[[str], Hashable]] = [_engine_and_settings, _engine, lambda _: ""]
    found: dict[str, str] = {}
    for sort in alone:
        before = grouped((sort(each), each) for each in gone if each not in found.values())
        after = grouped((sort(each), each) for each in come if each not in found)
        found |= {
            named[0]: before[key][0]
            for key, named in after.items()
            if len(named) == len(before.get(key, ())) == 1
        }
    return found


def _engine(reader: str) -> Hashable:
    return causes.engine(parse_reader(reader).distribution)


def _engine_and_settings(reader: str) -> Hashable:
    return _engine(reader), parse_reader(reader).settings

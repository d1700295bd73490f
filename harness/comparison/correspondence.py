"""Which variant and reader of one run is which of another. Pure.

What has the same name is the same. A reader of another version, and a table of another writer, are
found by what else they have, where only one can be meant.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.core.grouping import grouped
from harness.formats.api import HANDOVER_VERSION
from harness.run import causes
from harness.run.run_info import RunInfo, VariantInfo
from harness.scenario.cells import parse_reader

WRITER_SETTINGS: Final = frozenset({"table_version", "auto_upgrade", HANDOVER_VERSION})
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

    Several tables of the new side may stand beside one of the old: they are continued after one
    step or another.
    """
    stories = {_story(variant): variant.id for variant in old.variants}
    ids = {variant.id for variant in old.variants}
    variants = {
        variant.id: stories[_story(variant)]
        for variant in new.variants
        if variant.id not in ids and _story(variant) in stories
    }
    was, now = ([reader.reader for reader in info.readers] for info in (old, new))
    return Correspondence(variants, _readers(was, now))


def _story(variant: VariantInfo) -> Hashable:
    """Return what a variant is but for its writers, and for the version that they make."""
    settings = {k: v for k, v in variant.settings.items() if k not in WRITER_SETTINGS}
    return variant.scenario, variant.format, tuple(sorted(settings.items())), variant.twin


def _readers(old: Sequence[str], new: Sequence[str]) -> Mapping[str, str]:
    """Pair the readers that the other run has not: by engine and settings, by engine, at last any.

    Each time those alone that nobody else can be meant by.
    """
    gone, added = [r for r in old if r not in new], [r for r in new if r not in old]
    keys: list[Callable[[str], Hashable]] = [_engine_and_settings, _engine, lambda _: ""]
    pairs: dict[str, str] = {}
    for key in keys:
        before = grouped((key(reader), reader) for reader in gone if reader not in pairs.values())
        after = grouped((key(reader), reader) for reader in added if reader not in pairs)
        pairs |= {
            readers[0]: before[name][0]
            for name, readers in after.items()
            if len(readers) == len(before.get(name, ())) == 1
        }
    return pairs


def _engine(reader: str) -> Hashable:
    return causes.engine(parse_reader(reader).distribution)


def _engine_and_settings(reader: str) -> Hashable:
    return _engine(reader), parse_reader(reader).settings

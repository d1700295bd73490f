"""The other settings that a reader can be asked with. Pure, but for the engines' own data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.plan import distribution_support
from harness.scenario.cells import Cell, Plan, Reader, Variant

TOGETHER = 2
"""With six settings, all combinations would be hundreds; nobody asked for more at once."""
LEFT_OUT = ""
"""Stands for a setting that is not named: the engine's default."""


@dataclass(frozen=True, slots=True)
class UnusableSettings:
    """Settings that cannot be asked with, and why."""

    reader: Reader
    why: str


def alternatives(
    reader: Reader, known: Mapping[str, Sequence[str]], format_name: str
) -> tuple[tuple[Reader, ...], tuple[UnusableSettings, ...]]:
    """Return the reader with other settings, by whether it can be asked with them.

    At most `TOGETHER` settings are changed. Of combinations that come to the same, one left out and
    one with its default, the first is returned. Of those that cannot be asked, the ones with the
    fewest changes are returned. `known`: the engine's settings, each with its values.
    """
    usable: list[Reader] = []
    unusable: dict[frozenset[str], UnusableSettings] = {}
    seen = {distribution_support.settings_in_full(reader)}
    for changed, other in others(reader, known):
        if why := distribution_support.cannot(other, format_name):
            if not any(fewer <= changed for fewer in unusable):
                unusable[changed] = UnusableSettings(other, why)
        elif (
            len(changed) <= TOGETHER
            and (full := distribution_support.settings_in_full(other)) not in seen
        ):
            seen.add(full)
            usable.append(other)
    return tuple(usable), tuple(unusable.values())


def others(
    reader: Reader, known: Mapping[str, Sequence[str]]
) -> list[tuple[frozenset[str], Reader]]:
    """Return every other combination with its changes, the fewest changes first.

    Leaving a setting out is a value too, the last one: what is named says more.
    """
    combinations = []
    for values in product(*((*values, LEFT_OUT) for values in known.values())):
        settings = {name: value for name, value in zip(known, values, strict=True) if value}
        if changed := frozenset(changes(dict(reader.settings), settings)):
            combinations.append((changed, replace(reader, settings=tuple(settings.items()))))
    return sorted(combinations, key=lambda combination: len(combination[0]))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return the settings that differ.

    >>> changes({"path": "fetch"}, {"schema-on-read": "on"})
    ('path left out', 'schema-on-read=on')
    """
    names = dict.fromkeys((*before, *after))
    return tuple(
        f"{name}={after[name]}" if name in after else f"{name} left out"
        for name in names
        if before.get(name) != after.get(name)
    )


def plan_of(variants: Sequence[Variant], cells: Iterable[Cell], readers: Sequence[Reader]) -> Plan:
    """Return the plan that asks every reader what one of them was asked, as far as it can be."""
    formats = {variant.id: variant.format for variant in variants}
    asked = tuple(
        replace(cell, reader=str(reader))
        for cell in cells
        for reader in readers
        if not distribution_support.cannot(reader, formats[cell.variant])
    )
    needed = {cell.variant for cell in asked}
    chosen = tuple(variant for variant in variants if variant.id in needed)
    return Plan("remedy", chosen, tuple(readers), asked)

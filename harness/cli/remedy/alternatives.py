"""The other settings that a reader can be asked with. Pure, but for the engines' own data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.plan import reader_defaults, reader_support
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

    Up to so many are changed TOGETHER. Of combinations that come to the same, one left out and one
    with its default, the first is returned. What cannot be asked is told with the fewest changes
    that it takes: with more, it would only be said again. `known`: the engine's settings, each with
    its values.
    """
    able: list[Reader] = []
    unable: dict[frozenset[str], UnusableSettings] = {}
    seen = {reader_defaults.in_full(reader)}
    for changed, other in others(reader, known):
        if why := reader_support.cannot(other, format_name):
            if not any(fewer <= changed for fewer in unable):
                unable[changed] = UnusableSettings(other, why)
        elif len(changed) <= TOGETHER and (full := reader_defaults.in_full(other)) not in seen:
            seen.add(full)
            able.append(other)
    return tuple(able), tuple(unable.values())


def others(
    reader: Reader, known: Mapping[str, Sequence[str]]
) -> list[tuple[frozenset[str], Reader]]:
    """Return every other combination with what it changes, the fewest changes first.

    Leaving a setting out is a value too, the last one: what is named says more.
    """
    choices = product(*((*values, LEFT_OUT) for values in known.values()))
    made = [
        tuple((name, value) for name, value in zip(known, chosen, strict=True) if value)
        for chosen in choices
    ]
    own = dict(reader.settings)
    found = [(frozenset(changes(own, dict(each))), replace(reader, settings=each)) for each in made]
    return sorted((each for each in found if each[0]), key=lambda each: len(each[0]))


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is set otherwise.

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
    of = {variant.id: variant for variant in variants}
    every = tuple(
        replace(cell, reader=str(reader))
        for cell in cells
        for reader in readers
        if not reader_support.cannot(reader, of[cell.variant].format)
    )
    asked = {cell.variant for cell in every}
    return Plan(
        "remedy",
        tuple(variant for variant in variants if variant.id in asked),
        tuple(readers),
        every,
    )

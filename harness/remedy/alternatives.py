"""The other settings that a reader can be asked with. Pure, but for the engines' own data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from harness.cells import Cell, Plan, Reader, Variant
from harness.plan import readable

LEFT_OUT = ""
"""Stands for a setting that is not named: the engine's default."""


@dataclass(frozen=True, slots=True)
class Cannot:
    """Settings that cannot be asked with, and why."""

    reader: Reader
    why: str


def alternatives(reader: Reader, known: Mapping[str, Sequence[str]]) -> tuple[Reader, ...]:
    """Give the reader with every other combination of settings, the fewest changes first.

    `known`: the engine's settings, each with its values; leaving one out is a value too.
    """
    choices = product(*((LEFT_OUT, *values) for values in known.values()))
    made = [
        tuple((name, value) for name, value in zip(known, chosen, strict=True) if value)
        for chosen in choices
    ]
    own = dict(reader.settings)
    others = [each for each in made if dict(each) != own]
    others.sort(key=lambda each: len(changes(own, dict(each))))
    return tuple(replace(reader, settings=each) for each in others)


def told_apart(
    reader: Reader, known: Mapping[str, Sequence[str]], format_name: str
) -> tuple[Mapping[str, Sequence[str]], tuple[Cannot, ...]]:
    """Give the settings that say something of a format, and for each value of the others why not.

    Combined with one another, the others would only repeat their reasons.
    """
    able: dict[str, Sequence[str]] = {}
    unable: list[Cannot] = []
    for name, values in known.items():
        alone = [replace(reader, settings=((name, value),)) for value in values]
        reasons = [readable.cannot(each, format_name) for each in alone]
        if not all(reasons):
            able[name] = values
            continue
        for each, why in zip(alone, reasons, strict=True):
            added = replace(reader, settings=(*reader.settings, *each.settings))
            unable.append(Cannot(added, why))
    return able, tuple(unable)


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Say what is set otherwise.

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
    """Give the plan that asks every reader what one of them was asked, as far as it can be."""
    of = {each.id: each for each in variants}
    every = tuple(
        replace(cell, reader=str(reader))
        for cell in cells
        for reader in readers
        if not readable.cannot(reader, of[cell.variant].format)
    )
    asked = {cell.variant for cell in every}
    return Plan(
        "remedy", tuple(each for each in variants if each.id in asked), tuple(readers), every
    )

"""What a side is made of, and the sides between two: each with one component of the new one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from harness.artifacts import distributions
from harness.cli.upgrade.sides import Side
from harness.core.runtime_names import PROCESS, given, in_runtime, lock_name
from harness.plan import Writer
from harness.scenario.cells import Reader

Components = Mapping[str, str]
"""The parts of a side that can be swapped alone, by what people call them."""
_VERSIONED: Final = re.compile(r"(?P<engine>[a-z]+-\d[\w.]*?)(-(?P<library>[a-z]+-\d.*))?")
ENGINE, LIBRARY, RUNTIME = "engine", "library", "runtime"
SETTING: Final = "setting "


@dataclass(frozen=True, slots=True)
class SideBetween:
    """The old side with one component of the new one."""

    component: str
    old: str
    new: str
    side: Side | None
    """None where there is no such side."""
    why_not: str = ""


def sides_between(old: Side, new: Side) -> tuple[SideBetween, ...]:
    """Return each side between two; none where they differ in one component or in none."""
    sides = (*_swapped(old, new), *_with_metastore(old, new))
    return sides if len(sides) > 1 else ()


def _swapped(old: Side, new: Side) -> Iterator[SideBetween]:
    """Yield the old side with each component of the new side's reader or writer."""
    before, after = _components(old), _components(new)
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, ""), after.get(name, "")
        if was != now:
            parts = {**before, name: now}
            distribution = _distribution(parts)
            exists = distributions.exists(distribution)
            side = _with(old, distribution, parts) if exists else None
            why_not = "" if exists else f"there is no {distribution}"
            yield SideBetween(name, was or "none", now or "none", side, why_not)


def _with_metastore(old: Side, new: Side) -> Iterator[SideBetween]:
    if old.metastore != new.metastore:
        swapped = replace(old, metastore=new.metastore)
        yield SideBetween("metastore", str(old.metastore), str(new.metastore), swapped)


def _components(side: Side) -> Components:
    name, settings = "", dict[str, str]()
    if side.readers:
        name, settings = side.readers[0].distribution, dict(side.readers[0].settings)
    elif side.writer:
        name, settings = side.writer.distribution, dict(side.writer.settings)
    match = _VERSIONED.fullmatch(lock_name(name))
    engine, library = (match["engine"], match["library"] or "") if match else (lock_name(name), "")
    prefixed = {f"{SETTING}{key}": value for key, value in settings.items()}
    return {ENGINE: engine, LIBRARY: library, RUNTIME: given(name)} | prefixed


def _distribution(parts: Components) -> str:
    name = "-".join(filter(None, (parts[ENGINE], parts[LIBRARY])))
    return in_runtime(name, parts[RUNTIME] or PROCESS)


def _with(side: Side, distribution: str, parts: Components) -> Side:
    settings = {
        name.removeprefix(SETTING): value
        for name, value in parts.items()
        if name.startswith(SETTING) and value
    }
    if side.readers:
        return replace(side, readers=(Reader(distribution, tuple(settings.items())),))
    return replace(side, writer=Writer(distribution, settings))

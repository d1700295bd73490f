"""A side of an upgrade: the reader, the writer or the metastore that a profile has instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.artifacts import distributions
from harness.cli import named_parts
from harness.core.errors import UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.core.runtime_names import PROCESS, given, in_runtime, lock_name
from harness.plan import Profile, ProfileReader, Writer, distribution_support
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


READER: Final = "reader"
WRITER: Final = "writer"
METASTORE: Final = "metastore"
ROLES: Final = (READER, WRITER)
"""What a distribution that can be both is asked to be."""


@dataclass(frozen=True, slots=True)
class Side:
    """What is on a side; what it does not name is as the profile says."""

    readers: tuple[Reader, ...] = ()
    writer: Writer | None = None
    metastore: MetastoreChoice | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that it names."""
        parts = (READER, self.readers), (WRITER, self.writer), (METASTORE, self.metastore)
        return tuple(name for name, part in parts if part)

    def of(self, profile: Profile) -> Profile:
        """Return a profile with what is on this side."""
        return replace(
            profile,
            readers=tuple(map(ProfileReader, self.readers)) or profile.readers,
            writers=(self.writer,) if self.writer else profile.writers,
            metastore=self.metastore or profile.metastore,
        )

    def __str__(self) -> str:
        writer = self.writer.distribution if self.writer else ""
        names = (", ".join(map(str, self.readers)), writer, str(self.metastore or ""))
        return " with ".join(filter(None, names))


def side(names: Sequence[str], role: str = READER) -> Side:
    """Return the side that names make up: a metastore by its name, anything else in the role.

    Raises:
        UsageProblem: one is none, or two are the same part of a side.

    """
    whole = Side()
    for name in names:
        part = _side(name, role)
        if twice := set(whole.parts) & set(part.parts):
            raise UsageProblem(f"{', '.join(names)}: a side has one {twice.pop()}; name one")
        whole = Side(
            whole.readers or part.readers,
            whole.writer or part.writer,
            whole.metastore or part.metastore,
        )
    return whole


def _side(name: str, role: str) -> Side:
    if name in distribution_support.metastores():
        return Side(metastore=metastore_of(name))
    if role == WRITER:
        return Side(writer=named_parts.writer(name))
    return Side(readers=(named_parts.reader(name),))


def metastore_of(text: str) -> MetastoreChoice:
    """Read a metastore that exists.

    Raises:
        UsageProblem: there is none of this name.

    """
    distribution_support.check_metastore(text)
    return MetastoreChoice(text)


def check(old: Side, new: Side) -> None:
    """Check that two sides can be compared.

    Raises:
        UsageProblem: they do not name the same parts.

    """
    if old.parts != new.parts:
        was, now = (" and ".join(side.parts) for side in (old, new))
        problem = f"the old side names {was}, the new one {now}"
        raise UsageProblem(f"{problem}; name the same parts on both")


def registered_first(old: Side, new: Side) -> Side:
    """Return the new side with its metastore on the database that the old one's has made.

    So it is in an upgrade: the tables are there already. Where no tool upgrades the database, the
    tables are registered anew.
    """
    if not (old.metastore and new.metastore) or old.metastore == new.metastore:
        return new
    upgraded = replace(new.metastore, upgraded_from=old.metastore.distribution)
    return new if distribution_support.not_upgraded(upgraded) else replace(new, metastore=upgraded)

"""A side of an upgrade: the reader, the writer or the metastore that a profile has instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.cli import named_parts
from harness.core.errors import UsageProblem
from harness.core.metastore_choice import MetastoreChoice
from harness.plan import Profile, ProfileReader, Writer, metastore_support
from harness.scenario.cells import Reader

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
        """Return which parts it names."""
        named = (READER, self.readers), (WRITER, self.writer), (METASTORE, self.metastore)
        return tuple(name for name, each in named if each)

    def of(self, profile: Profile) -> Profile:
        """Return a profile with what is on this side."""
        readers = tuple(map(ProfileReader, self.readers)) or profile.readers
        found = replace(profile, readers=readers)
        found = replace(found, writers=(self.writer,)) if self.writer else found
        return replace(found, metastore=self.metastore) if self.metastore else found

    def __str__(self) -> str:
        writer = self.writer.distribution if self.writer else ""
        told = (", ".join(map(str, self.readers)), writer, str(self.metastore or ""))
        return " with ".join(filter(None, told))


def side(names: Sequence[str], role: str = READER) -> Side:
    """Return the side that names make up: a metastore by its own, anything else in the role.

    Raises:
        UsageProblem: one is none, or two are the same part of a side.

    """
    found = Side()
    for text in names:
        given = _given(text, role)
        if twice := set(found.parts) & set(given.parts):
            raise UsageProblem(f"{', '.join(names)}: a side has one {twice.pop()}; give one")
        found = Side(
            found.readers or given.readers,
            found.writer or given.writer,
            found.metastore or given.metastore,
        )
    return found


def _given(text: str, role: str) -> Side:
    if text in metastore_support.names():
        return Side(metastore=metastore_of(text))
    if role == WRITER:
        return Side(writer=named_parts.writer(text))
    return Side(readers=(named_parts.reader(text),))


def metastore_of(text: str) -> MetastoreChoice:
    """Read a metastore that exists.

    Raises:
        UsageProblem: there is none of this name.

    """
    metastore_support.check(text)
    return MetastoreChoice(text)


def check(old: Side, new: Side) -> None:
    """Check that two sides can be held against each other.

    Raises:
        UsageProblem: they do not name the same parts.

    """
    if old.parts != new.parts:
        told = (
            f"the old side names {' and '.join(old.parts)}, the new one {' and '.join(new.parts)}"
        )
        raise UsageProblem(f"{told}; name the same parts on both")


def registered_first(old: Side, new: Side) -> Side:
    """Return the new side with its metastore on the database that the old one's has made.

    So it is in an upgrade: the tables are there already. Where no tool upgrades the database, the
    tables are registered anew.
    """
    if not (old.metastore and new.metastore) or old.metastore == new.metastore:
        return new
    upgraded = replace(new.metastore, upgraded_from=old.metastore.distribution)
    return new if metastore_support.not_upgraded(upgraded) else replace(new, metastore=upgraded)

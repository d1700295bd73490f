"""What of everything possible a run is to do: profiles as objects."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Final

from harness.core import runtime_names
from harness.core.errors import Fault, UsageProblem
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.core.yaml_reader import Document, KeyPath
from harness.scenario.cells import AskedAgain, Reader
from harness.scenario.definition import VIEWS

PLAIN: Final = ("all",)
"""The queries of a profile that names none."""


class AskedSteps(StrEnum):
    """After which steps a reader is asked."""

    ALL = "all"
    SCHEMA_CHANGES = "schema_changes"
    """Only right after a step that changes the schema: for readers that take long."""


class Cover(StrEnum):
    """Which combinations of axis values there are: all, or as many as pairs of values need."""

    ALL = "all"
    PAIRS = "pairs"


@dataclass(frozen=True, slots=True)
class ProfileReader:
    """A reader, when it is asked, and about which variants."""

    reader: Reader
    steps: AskedSteps = AskedSteps.ALL
    variants: Cover = Cover.ALL
    """With `pairs`, so many of a scenario's that the reader meets every axis value."""
    formats: tuple[str, ...] = ()
    """About tables of which formats; empty for all that it can read."""


@dataclass(frozen=True, slots=True)
class Writer:
    """What writes the steps of a variant, and settings of the format, e.g. `table_version: "6"`."""

    distribution: str
    """It creates the table, and writes every step if nothing else goes on."""
    settings: Mapping[str, str] = field(default_factory=dict)
    then: str = ""
    """The distribution that goes on with the table, empty when none does."""
    at: int | None = None
    """From which step on it does; None makes a variant for each step."""
    in_turn: bool = False
    """Whether both write from then on, one step each: a fleet of two versions."""
    scenarios: tuple[str, ...] = ()
    """Names or patterns of the scenarios it writes; empty for all of them."""
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of these axes it takes only these values."""

    @property
    def distributions(self) -> tuple[str, ...]:
        """Everything that writes."""
        return (self.distribution, self.then) if self.then else (self.distribution,)

    def __str__(self) -> str:
        """Write it as the command line takes it, without what only a file can say."""
        return str(Reader(self.distribution, tuple(self.settings.items())))


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything whose product, less what cannot be, is the plan."""

    name: str
    scenarios: tuple[str, ...]
    """Names, or patterns with `*`."""
    formats: tuple[str, ...]
    writers: tuple[Writer, ...]
    readers: tuple[ProfileReader, ...]
    about: str = ""
    twins: bool = False
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values wanted of a setting; a scenario that names fewer has only those."""
    views: tuple[str, ...] = VIEWS
    queries: tuple[str, ...] = PLAIN
    query_steps: Mapping[str, AskedSteps] = field(default_factory=dict)
    """When a query is asked that is not asked after every step."""
    cover: Cover = Cover.ALL
    """Which combinations become variants; with `pairs`, queries of some steps are asked in turn."""
    ask_again: AskedAgain = AskedAgain.UNEXPLAINED
    metastore: MetastoreChoice = USUAL
    """The one that the readers ask through."""
    given: frozenset[str] = frozenset()
    """The keys whose value is not the file's: `formats`, `writers`, `readers`."""
    chosen: tuple[str, ...] = ()
    """What was chosen because nobody named it, a sentence for each of these keys."""
    document: Document | None = field(default=None, compare=False, repr=False)
    """The file that it stands in; None for one made in Python."""

    def fault(self, at: KeyPath, wrong: str) -> Fault:
        """Return what is wrong at a place of the profile, with file and line if it is of a file."""
        if at[0] in self.given:
            return Fault("", 0, wrong)
        text = f"profile {self.name}: {wrong}"
        if self.document is None:
            return Fault("", 0, text)
        return Fault(self.document.path, self.document.line((self.name, *at)), text)


def in_runtime(profile: Profile, runtime: str) -> Profile:
    """Return a profile all of whose writers and readers are run so."""
    writers = tuple(
        replace(
            writer,
            distribution=runtime_names.in_runtime(writer.distribution, runtime),
            then=writer.then and runtime_names.in_runtime(writer.then, runtime),
        )
        for writer in profile.writers
    )
    readers = tuple(
        replace(asked_reader, reader=_in_runtime(asked_reader.reader, runtime))
        for asked_reader in profile.readers
    )
    if runtime == runtime_names.CONTAINER and any(map(on_store, profile.readers)):
        raise _store_unreachable(profile.name)
    return replace(profile, writers=writers, readers=readers)


def _store_unreachable(profile: str) -> UsageProblem:
    return UsageProblem(
        f"profile {profile}: containers do not reach the object store, which listens on "
        "loopback; leave out the runtime, or the warehouse"
    )


def on_store(asked: ProfileReader) -> bool:
    """Return whether a reader finds its tables in an object store."""
    return runtime_names.given(asked.reader.distribution) in runtime_names.WAREHOUSES


def in_warehouse(profile: Profile, warehouse: str) -> Profile:
    """Return a profile all of whose readers find their tables there.

    Raises:
        UsageProblem: some of them run in containers.

    """
    named_ = (asked_reader.reader.distribution for asked_reader in profile.readers)
    if any(runtime_names.given(name) == runtime_names.CONTAINER for name in named_):
        raise _store_unreachable(profile.name)
    readers = (
        replace(asked_reader, reader=_in_runtime(asked_reader.reader, warehouse))
        for asked_reader in profile.readers
    )
    return replace(profile, readers=tuple(readers))


@dataclass(frozen=True, slots=True)
class Parts:
    """What somebody names in the place of what a profile has; empty where nobody does."""

    formats: tuple[str, ...] = ()
    writers: tuple[Writer, ...] = ()
    readers: tuple[ProfileReader, ...] = ()

    @property
    def named(self) -> frozenset[str]:
        """The keys of a profile that these are, as far as there are any."""
        return frozenset(field.name for field in fields(self) if getattr(self, field.name))

    def instead(self, profile: Profile) -> Profile:
        """Return a profile with these parts in the place of its own."""
        return replace(
            profile,
            formats=self.formats or profile.formats,
            writers=self.writers or profile.writers,
            readers=self.readers or profile.readers,
            given=self.named,
        )


def _in_runtime(reader: Reader, runtime: str) -> Reader:
    if runtime == runtime_names.PROCESS and on_store(ProfileReader(reader)):
        return reader  # a process it is
    return replace(reader, distribution=runtime_names.in_runtime(reader.distribution, runtime))


def named(name: str, pattern: str) -> bool:
    """Whether a pattern of a profile names a scenario; `*` stands for any text, nothing else.

    >>> named("hudi/move", "hudi/*"), named("my/a [b]", "my/a [b]"), named("my/a b", "my/a [b]")
    (True, True, False)
    """
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None

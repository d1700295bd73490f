"""Which metastores the readers of a profile can ask through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from packaging.version import Version

from harness import formats
from harness.artifacts import distributions
from harness.core.errors import Fault
from harness.core.metastore_choice import DISTRIBUTION, MetastoreChoice
from harness.core.problems import one_of, unknown_name
from harness.core.runtime_names import (
    CONTAINER,
    PROCESS,
    WAREHOUSES,
    given,
    in_runtime,
    lock_name,
)
from harness.plan.profile import Profile
from harness.runtime.metastore import TOOL, oldest_for

_SCHEMA: Final = "schema_sql"
"""What only a metastore has."""
_TRANSACTIONAL: Final = "transactional"
"""What lock data call tables whose writes the metastore numbers, where they say why it cannot."""


def metastores() -> tuple[str, ...]:
    """Return the metastores that there are."""
    return tuple(filter(_is_metastore, distributions.names()))


def _is_metastore(name: str) -> bool:
    """Return whether a name is a metastore's; all other lock data stay unread."""
    return name in distributions.names() and _SCHEMA in distributions.load(name).settings


def check_metastore(name: str) -> None:
    """Check that there is a metastore of this name.

    Raises:
        UsageProblem: there is none.

    """
    if not _is_metastore(name):
        raise unknown_name("metastore", name, metastores())


def not_upgraded(through: MetastoreChoice) -> str:
    """Return why there is no such upgrade; empty where there is, or none is asked for."""
    if not through.upgraded_from:
        return ""
    older, newer = (distributions.load(name) for name in through.distributions)
    if TOOL not in newer.settings:
        able = (name for name in metastores() if TOOL in distributions.load(name).settings)
        return f"nothing upgrades a database to {newer.name}; allowed: {', '.join(able)}"
    if Version(older.version) >= Version(newer.version):
        return f"upgraded_from: {older.name} is not older than {newer.name}"
    return ""


def wrong_metastore(profile: Profile) -> Iterator[Fault]:
    """Yield what cannot be of the metastore that a profile names."""
    through, at = profile.metastore, ("metastore",)
    for name in through.distributions:
        if not _is_metastore(name):
            yield profile.fault(
                at, f"metastore: there is no '{name}'; {one_of(name, metastores())}"
            )
            return
    why = not_upgraded(through) or _out_of_reach(profile) or _too_old(profile)
    if why := why or _unregistered(profile) or _without_one_for_all(profile):
        yield profile.fault(at, f"metastore: {why}")


def _too_old(profile: Profile) -> str:
    """Return which reader cannot ask through a metastore so old; empty: each can."""
    through = distributions.load(profile.metastore.distribution)
    named = dict.fromkeys(
        lock_name(asked_reader.reader.distribution) for asked_reader in profile.readers
    )
    for name in filter(distributions.exists, named):  # what is not there is told elsewhere
        oldest = oldest_for(distributions.load(name))
        if oldest and Version(through.version) < Version(distributions.load(oldest).version):
            return f"{name} cannot ask through {through.name}; through {oldest} it can"
    return ""


def _unregistered(profile: Profile) -> str:
    """Return which tables the metastore does not take; empty: it takes all."""
    first = distributions.load(profile.metastore.distributions[0])
    why = first.options_if_any("cannot").get(_TRANSACTIONAL, "")
    named = (format_ for format_ in profile.formats if format_ in formats.names())
    if not why or not (
        asked := [format_name for format_name in named if formats.facts(format_name).transactional]
    ):
        return ""
    return f"{first.name} cannot have {', '.join(asked)} tables registered in it: {why}"


def metastore_in_reach(profile: Profile) -> MetastoreChoice:
    """Return the metastore of a profile as its readers reach it: containers one in a container."""
    through = profile.metastore
    if through.usual or CONTAINER not in _runtimes(profile):
        return through
    return MetastoreChoice(
        in_runtime(through.distribution, CONTAINER),
        through.upgraded_from and in_runtime(through.upgraded_from, CONTAINER),
    )


def _runtimes(profile: Profile) -> set[str]:
    return {given(asked_reader.reader.distribution) or PROCESS for asked_reader in profile.readers}


def _out_of_reach(profile: Profile) -> str:
    """Return which readers another metastore does not serve: of two runtimes, or of objects."""
    runtimes = _runtimes(profile)
    if profile.metastore.usual or runtimes in ({PROCESS}, {CONTAINER}):
        return ""
    name = profile.metastore.distribution
    return (
        f"{name} serves either processes or containers, whose tables are on the disk, not "
        f"{', '.join(sorted(runtimes))} readers; ask all of one kind, or through {DISTRIBUTION}"
    )


def _without_one_for_all(profile: Profile) -> str:
    """Return why no metastore serves all engines; empty: one does.

    Containers reach a container's alone, and who reads from an object store a process's.
    """
    writers = (name for writer in profile.writers for name in writer.distributions)
    readers = (asked_reader.reader.distribution for asked_reader in profile.readers)
    named = tuple(dict.fromkeys((*writers, *readers)))
    contained = [name for name in named if given(name) == CONTAINER]
    stored = [name for name in named if given(name) in WAREHOUSES]
    if not (contained and stored):
        return ""
    message = f"no one serves both {', '.join(contained)} and {', '.join(stored)}"
    return f"{message}: containers do not reach an object store on loopback; ask them apart"

"""Which metastores the readers of a profile can ask through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from packaging.version import Version

from harness.artifacts import distributions
from harness.core.errors import Fault
from harness.core.metastore_choice import DISTRIBUTION, MetastoreChoice
from harness.core.problems import UnknownNameProblem, one_of
from harness.core.runtime_names import CONTAINER, WAREHOUSES, given
from harness.plan.profile import Profile
from harness.runtime.metastore import TOOL

_SCHEMA: Final = "schema_sql"
"""What only a metastore has."""


def names() -> tuple[str, ...]:
    """Return the metastores that there are."""
    found = map(distributions.load, distributions.names())
    return tuple(each.name for each in found if not each.is_asked and _SCHEMA in each.settings)


def check(name: str) -> None:
    """Check that there is a metastore of this name.

    Raises:
        UnknownNameProblem: there is none.

    """
    if name not in names():
        raise UnknownNameProblem("metastore", name, names())


def wrong(profile: Profile) -> Iterator[Fault]:
    """Yield what cannot be of the metastore that a profile names."""
    through, at = profile.metastore, ("metastore",)
    for name in through.distributions:
        if name not in names():
            yield profile.fault(at, f"metastore: there is no '{name}'; {one_of(name, names())}")
            return
    if why := _not_upgraded(through) or _out_of_reach(profile):
        yield profile.fault(at, f"metastore: {why}")


def _not_upgraded(through: MetastoreChoice) -> str:
    """Return why there is no such upgrade; empty where there is, or none is asked for."""
    if not through.upgraded_from:
        return ""
    older, newer = (distributions.load(name) for name in through.distributions)
    if TOOL not in newer.settings:
        able = (name for name in names() if TOOL in distributions.load(name).settings)
        return f"nothing upgrades a database to {newer.name}; allowed: {', '.join(able)}"
    if Version(older.version) >= Version(newer.version):
        return f"upgraded_from: {older.name} is not older than {newer.name}"
    return ""


def _out_of_reach(profile: Profile) -> str:
    """Return which readers do not reach a process; empty: the metastore is no process, or none."""
    readers = dict.fromkeys(each.reader.distribution for each in profile.readers)
    if profile.metastore.usual:
        return ""
    if stored := [name for name in readers if given(name) in WAREHOUSES]:
        told = f"{', '.join(stored)}: the metastore of an object store is {DISTRIBUTION}"
        return f"{told}; leave out the metastore, or the warehouse"
    away = [name for name in readers if given(name) == CONTAINER]
    if not away:
        return ""
    told = f"{profile.metastore.distribution} runs as a process, which {', '.join(away)} cannot"
    return f"{told} reach; run these readers as processes, or ask them through {DISTRIBUTION}"

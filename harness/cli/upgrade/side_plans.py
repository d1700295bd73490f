"""The plans of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.artifacts import distributions
from harness.cli.upgrade.sides import Side
from harness.plan import Profile, Writer
from harness.plan.constraints import TABLE_VERSION
from harness.plan.handover import handovers
from harness.plan.writer_support import TABLE_VERSIONS
from harness.scenario.cells import Plan
from harness.scenario.definition import Scenario

ChangeProfile = Callable[[Profile, Sequence[Scenario]], Profile]
"""Makes the profile of a side of the one that both share; the scenarios are those chosen."""
MakePlan = Callable[[ChangeProfile], Plan]


@dataclass(frozen=True, slots=True)
class SidePlans:
    """What is done for each side."""

    old: Plan
    new: Plan


def side_plans(old: Side, new: Side, make: MakePlan) -> SidePlans:
    """Return the plans of two sides.

    A newer writer goes on with the tables of the old one, and begins tables anew.
    """

    def after(profile: Profile, scenarios: Sequence[Scenario]) -> Profile:
        found = new.of(profile)
        if not (old.writer and new.writer):
            return found
        return replace(found, writers=tuple(writers_of(old.writer, new.writer, scenarios)))

    return SidePlans(make(lambda profile, _: old.of(profile)), make(after))


def writers_of(old: Writer, new: Writer, scenarios: Iterable[Scenario]) -> Iterator[Writer]:
    """Yield the new writer going on with tables of the old one, then beginning tables itself.

    One that writes in turn is in a fleet with the old one: both go on with the tables as well.
    """
    begun = replace(old, settings={**old.settings, **_shared(old, new)})
    for scenario in scenarios:  # of a scenario that the profile has not, nothing is written
        found = [each.writer for each in handovers(scenario, begun, new.distribution)]
        yield from found
        yield from (replace(each, in_turn=True) for each in found[:1] if new.in_turn)
    yield replace(new, in_turn=False)


def _shared(old: Writer, new: Writer) -> Mapping[str, str]:
    """Return the settings of the new writer with which the old one can begin a table."""
    makes = distributions.load(old.distribution).texts_if_any(TABLE_VERSIONS)
    return {
        name: value
        for name, value in new.settings.items()
        if name != TABLE_VERSION or value in makes
    }

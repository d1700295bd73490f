"""The plans of both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.cli.upgrade.sides import Side
from harness.plan import Profile, Writer
from harness.plan.handover import handovers
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
        return replace(found, writers=tuple(_writers(old.writer, new.writer, scenarios)))

    return SidePlans(make(lambda profile, _: old.of(profile)), make(after))


def _writers(old: Writer, new: Writer, scenarios: Iterable[Scenario]) -> Iterator[Writer]:
    for scenario in scenarios:  # of a scenario that the profile has not, nothing is written
        yield from (each.writer for each in handovers(scenario, old, new.distribution))
    yield new

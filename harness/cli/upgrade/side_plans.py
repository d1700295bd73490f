"""The plans of both sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.cli.upgrade.sides import Side
from harness.plan import Profile
from harness.scenario.cells import Plan

MakePlan = Callable[[Callable[[Profile], Profile]], Plan]
"""Makes the plan of the profile that both sides share, with a change of it."""


@dataclass(frozen=True, slots=True)
class SidePlans:
    """What is done for each side."""

    old: Plan
    new: Plan


def side_plans(old: Side, new: Side, make: MakePlan) -> SidePlans:
    """Return the plans of two sides."""
    before, after = make(old.of), make(_going_on(old, new).of)
    return SidePlans(before, after)


def _going_on(old: Side, new: Side) -> Side:
    """Return the new side whose writer goes on, after each step, with the tables of the old one."""
    if not (old.writer and new.writer):
        return new
    return replace(new, writer=replace(old.writer, then=new.writer.distribution))

"""Each component in which two sides differ is swapped alone: which of them makes answers worse."""

from __future__ import annotations

from dataclasses import replace

from harness.cli.upgrade.components import SideBetween, sides_between
from harness.cli.upgrade.side_plans import MakePlan, side_plans
from harness.cli.upgrade.side_runs import UpgradeFolder
from harness.cli.upgrade.sides import Side
from harness.comparison.guilt import Swap
from harness.comparison.result import ComparedSide, SideComparison, compare
from harness.core.errors import UsageProblem


def swapped(
    found: SideComparison, old: Side, new: Side, make: MakePlan, folder: UpgradeFolder
) -> SideComparison:
    """Return a comparison with what each component does alone; nothing where nothing is worse."""
    if not found.regressions:
        return found
    between = sides_between(old, new)
    return replace(found, swaps=tuple(_swap(found, old, each, make, folder) for each in between))


def _swap(
    found: SideComparison, old: Side, between: SideBetween, make: MakePlan, folder: UpgradeFolder
) -> Swap:
    told = between.component, between.old, between.new
    if between.side is None:
        return Swap(*told, why_not=between.why_not)
    try:
        plan = side_plans(old, between.side, make).new
    except UsageProblem as problem:  # what nobody would run cannot be asked
        return Swap(*told, why_not=str(problem))
    name = f"only-{between.component.replace(' ', '-')}"
    run = ComparedSide(str(between.side), folder.run(plan, name))
    return Swap(*told, worse=compare(found.old, run).worse)

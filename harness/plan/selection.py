"""A part of a plan, by the names of its cases."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.cells import Plan
from harness.errors import UsageProblem


def select(plan: Plan, pattern: str) -> Plan:
    """Give the plan of the cases whose name contains the pattern; `*` stands for any text.

    Variants and readers that no such case needs are left out. Case does not matter.

    Raises:
        UsageProblem: no case is left.

    """
    found = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)
    cells = tuple(cell for cell in plan.cells if found.search(cell.case))
    if not cells:
        example = plan.cells[0].case if plan.cells else "none at all"
        raise UsageProblem(f"no case contains '{pattern}'; a case of this plan is {example}")
    variants, readers = {cell.variant for cell in cells}, {cell.reader for cell in cells}
    return replace(
        plan,
        cells=cells,
        variants=tuple(each for each in plan.variants if each.id in variants),
        readers=tuple(each for each in plan.readers if str(each) in readers),
    )

"""A part of a plan, by the names of its cases."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace

from harness.core.errors import UsageProblem
from harness.scenario.cells import Cell, Plan


def _no_match(pattern: str, example: str) -> UsageProblem:
    example = example or "none at all"
    return UsageProblem(f"no case contains '{pattern}'; a case of this plan is {example}")


def _no_case(cases: tuple[str, ...]) -> UsageProblem:
    if not cases:
        return UsageProblem("no case is named; harness plan --cells lists the cases there are")
    first, *others = cases
    more = f" ({len(others)} more are not)" if others else ""
    return UsageProblem(f"the plan has no case {first}{more}; harness plan --cells lists its cases")


def select(plan: Plan, pattern: str) -> Plan:
    """Return the plan of the cases whose name contains the pattern; `*` stands for any text.

    Variants and readers that no such case needs are left out. Case does not matter.

    Raises:
        UsageProblem: no case is left.

    """
    result = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)
    cells = tuple(cell for cell in plan.cells if result.search(cell.case))
    if not cells:
        raise _no_match(pattern, plan.cells[0].case if plan.cells else "")
    return _with(plan, cells)


def only(plan: Plan, cases: Collection[str]) -> Plan:
    """Return the plan of exactly these cases.

    Variants and readers that no such case needs are left out.

    Raises:
        UsageProblem: a case is not in the plan, or none is named.

    """
    requested = frozenset(cases)
    lacking = requested - {cell.case for cell in plan.cells}
    if lacking or not requested:
        raise _no_case(tuple(sorted(lacking)))
    return _with(plan, tuple(cell for cell in plan.cells if cell.case in requested))


def _with(plan: Plan, cells: tuple[Cell, ...]) -> Plan:
    variants, readers = {cell.variant for cell in cells}, {cell.reader for cell in cells}
    if cells != plan.cells:
        # What a part covers of the pairs is not what the whole does, so nothing is said of it.
        plan = replace(plan, pairs=(), partly=())
    return replace(
        plan,
        cells=cells,
        variants=tuple(variant for variant in plan.variants if variant.id in variants),
        readers=tuple(reader for reader in plan.readers if str(reader) in readers),
    )

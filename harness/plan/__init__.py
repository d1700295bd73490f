"""PLAN: scenarios and a profile → variants and cells. Pure.

In: scenarios, a profile, and what formats and engines can do. Out: variants, readers, cells,
and what is left out and why. It must not know what any table will hold.
"""

from harness.plan.estimation import estimate
from harness.plan.product import only, plan, select
from harness.plan.profile import (
    AskedSteps,
    Cover,
    Maker,
    Parts,
    Profile,
    ProfileReader,
    Writer,
    in_runtime,
    in_warehouse,
    load_profiles,
)
from harness.plan.select_scenarios import choose, find
from harness.plan.shipped import load_scenarios, profiles_file, scenarios_folder

__all__ = [
    "AskedSteps",
    "Cover",
    "Maker",
    "Parts",
    "Profile",
    "ProfileReader",
    "Writer",
    "choose",
    "estimate",
    "find",
    "in_runtime",
    "in_warehouse",
    "load_profiles",
    "load_scenarios",
    "only",
    "plan",
    "profiles_file",
    "scenarios_folder",
    "select",
]

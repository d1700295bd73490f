"""What docs/ci.md tells people to paste: it can be read, and its profile plans its scenario.

Its commands are run by tests/engines/test_ci_page.py.
"""

from pathlib import Path

import pytest

from harness.cli import plan_options
from tests import ci_page


@pytest.mark.parametrize("name", ci_page.FILES)
def test_what_is_to_be_pasted_is_yaml(name: str) -> None:
    assert ci_page.read(name)


def test_the_own_profile_of_the_page_plans_its_own_scenario_and_no_other(tmp_path: Path) -> None:
    for name in ci_page.OWN:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(ci_page.FILES[name], encoding="utf-8")
    plan = plan_options.make([tmp_path / "my"], "nightly", "")
    assert {variant.scenario.name for variant in plan.variants} == {"orders/rename"}
    assert len(plan.readers) == 2
    assert plan.cells

"""Own scenarios and own profiles, from the command line's point of view."""

import re
from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.core.errors import UsageProblem
from harness.plan import choose, find, only
from harness.scenario.cells import CONTROL, Cell, Plan

SCENARIO = """\
table:
  columns: {id: string, ts: long, f1: string, f2: string}
  key: id
  order_by: ts
steps:
  - insert: [1, 2]
"""
PROFILE = """\
  formats: [hudi-cow]
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: ["trino-476{use-column-names=true}"]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder with two scenarios in families, and profiles."""
    folder = tmp_path / "my"
    for name in ("orders/a.yaml", "orders/b.yaml", "users/a.yaml"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCENARIO, encoding="utf-8")
    profiles(folder, "nightly", "orders/*")
    return folder


def profiles(folder: Path, name: str, pattern: str) -> None:
    text = f'{name}:\n  scenarios: ["{pattern}"]\n{PROFILE}'
    (folder / "profiles.yaml").write_text(text, encoding="utf-8")


def names(paths: list[Path], profile: str) -> list[str]:
    return [scenario.name for scenario in choose(paths, profile)[0]]


def test_a_profile_beside_own_scenarios_chooses_among_them(mine: Path) -> None:
    assert names([mine], "nightly") == ["orders/a", "orders/b"]
    assert names([mine / "orders"], "nightly") == ["orders/a", "orders/b"]


def test_a_file_is_taken_as_it_is(mine: Path) -> None:
    assert names([mine / "users/a.yaml"], "nightly") == ["users/a"]


def test_an_own_profile_takes_the_place_of_a_shipped_one_of_its_name(mine: Path) -> None:
    profiles(mine, "ci", "users/*")
    assert names([mine], "ci") == ["users/a"]
    assert len(choose([mine], "ci")[1].readers) == 1


def test_a_folder_of_which_the_profile_names_nothing_is_reported(mine: Path) -> None:
    with pytest.raises(
        UsageProblem, match=rf"{mine}/users has .* nightly of .* names orders/\*, and none of these"
    ):
        choose([mine / "users"], "nightly")


def test_a_profile_that_is_nowhere_is_reported_with_the_own_ones(mine: Path) -> None:
    with pytest.raises(
        UsageProblem, match=r"unknown profile 'nightli'; did you mean 'nightly'"
    ) as exception_info:
        find("nightli", [mine])
    assert {"nightly", "ci"} <= set(re.findall(r"[\w-]+", str(exception_info.value)))
    beside, above = mine / "profiles.yaml", mine.parent / "profiles.yaml"
    assert str(exception_info.value).endswith(f"; your own are looked for in {beside} and {above}")


def test_two_own_profiles_of_one_name_are_reported(mine: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    profiles(other, "nightly", "x/*")
    files = f"{mine / 'profiles.yaml'} and {other / 'profiles.yaml'}"
    with pytest.raises(UsageProblem, match=f"nightly stands in {files}; run them one by one"):
        find("nightly", [mine, other])


def test_a_file_of_cases_selects_exactly_these(mine: Path, tmp_path: Path) -> None:
    whole = plan_options.make([mine], "nightly", "")
    requested = whole.cells[1].case
    file = tmp_path / "cases"
    file.write_text(f"{requested}\n", encoding="utf-8")
    part = plan_options.make([mine], "nightly", "", file)
    assert [cell.case for cell in part.cells] == [requested]
    assert [variant.id for variant in part.variants] == [whole.cells[1].variant]


def test_a_case_that_the_plan_does_not_have_is_reported(mine: Path, tmp_path: Path) -> None:
    whole = plan_options.make([mine], "nightly", "")
    with pytest.raises(UsageProblem, match=r"the plan has no case x \(1 more are not\)"):
        only(whole, ["x", "y", whole.cells[0].case])
    with pytest.raises(UsageProblem, match="no case is named"):
        only(whole, [])
    with pytest.raises(UsageProblem, match="cannot be read"):
        plan_options.make([mine], "nightly", "", tmp_path / "none")


def besides(plan: Plan) -> list[Cell]:
    """Return the cells of a plan that are no controls."""
    names = {variant.id: variant.scenario.name for variant in plan.variants}
    return [cell for cell in plan.cells if names[cell.variant] != CONTROL]


def test_a_scenario_planned_alone_has_the_cells_that_it_has_among_all() -> None:
    # Each plan through another metastore has controls of its own.
    whole = plan_options.make(None, "ci", "")
    chosen = [variant for variant in whole.variants if variant.scenario.name != CONTROL]
    paths = dict.fromkeys(variant.scenario.path for variant in chosen)
    alone = [plan_options.make([Path(path)], "ci", "") for path in paths]
    assert [cell for plan in alone for cell in besides(plan)] == besides(whole)


def test_two_scenarios_of_one_name_are_refused_and_one_given_twice_is_one(mine: Path) -> None:
    other = mine / "more" / "orders" / "a.yaml"
    other.parent.mkdir(parents=True)
    other.write_text(SCENARIO, encoding="utf-8")
    with pytest.raises(
        UsageProblem, match=r"two scenarios are called orders/a: .* and .*rename one"
    ) as request:
        choose([mine], "first")
    assert {str(mine / "orders" / "a.yaml"), str(other)} <= set(
        re.split("[ ;]", str(request.value))
    )
    assert names([mine / "orders" / "a.yaml", mine / "orders"], "first") == ["orders/a", "orders/b"]

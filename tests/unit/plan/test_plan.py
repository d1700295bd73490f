import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from harness.core.errors import UsageProblem
from harness.model.datatypes import parse_type
from harness.plan import Profile, ProfileReader, Writer, estimate, plan, select
from harness.scenario.cells import Cell, Excluded, Plan, Reader, parse_reader
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations import name_of
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, ChangeType, RenameColumn
from harness.scenario.operations.merge_with_schema_evolution import MergeWithSchemaEvolution
from harness.scenario.operations.replace_table import ReplaceTable
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch
from harness.scenario.operations.services import Compact
from tests.builders.scenarios import TEXT, scenario_of

TRINO = Reader("trino-476", (("use-column-names", "true"),))
SLOW = Reader("hive-3.1.3", (("path", "mapreduce"),))
PROFILE = Profile(
    name="mine",
    scenarios=("family/*",),
    formats=("cow",),
    writers=(Writer("spark-3.5.8-hudi-0.15.0"),),
    readers=(ProfileReader(TRINO),),
)
STORY = replace(scenario_of(Insert((1,)), RenameColumn("f1", "g"), Touch()), name="family/story")


@dataclass(frozen=True)
class Stored:
    """A format as the plan sees it."""

    NAME: str = "cow"
    merge_on_read: bool = False
    views: tuple[str, ...] = ("snapshot",)
    past_views: tuple[str, ...] = ()
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    only_adds: bool = False
    without: str = ""
    """An operation that it does not have."""
    unsupported_types: frozenset[str] = frozenset()
    partitions_last: bool = False

    def unsupported_settings(self, settings: Mapping[str, str], scenario: Scenario) -> str:
        if settings.get("sorted") == "yes" and not scenario.table.order_by:
            return "sorted=yes: nothing orders its rows"
        return ""

    def unsupported(self, operation: Operation) -> str:
        if name_of(operation) == self.without:
            return f"{self.NAME} has no {self.without}"
        rewrites = isinstance(operation, Touch) and operation.rewrites is not Rewrites.NONE
        return f"{name_of(operation)}: rows are only added" if self.only_adds and rewrites else ""


COW: Any = Stored(settings={"table_version": ("6", "8")})
MOR: Any = replace(
    COW, NAME="mor", merge_on_read=True, views=("snapshot", "read_optimized", "base_name")
)
PLAIN: Any = Stored("plain", without="compact", only_adds=True)
FORMATS = (COW, MOR, PLAIN)


def planned(*scenarios: Scenario, **changed: object) -> Plan:
    return plan(scenarios or (STORY,), replace(PROFILE, **changed), FORMATS)  # type: ignore[arg-type]


def ids(plan: Plan) -> list[str]:
    return [variant.id.partition("@")[0] for variant in plan.variants]


def test_a_plan_names_every_variant_reader_and_cell() -> None:
    plan = planned()
    (variant,) = plan.variants
    assert variant.id == "family/story[cow,rewrites=none]@spark-3.5.8-hudi-0.15.0"
    assert variant.writers == ("spark-3.5.8-hudi-0.15.0",) * 4
    assert plan.readers == (TRINO,)
    assert plan.cells == tuple(
        Cell(variant.id, step, "trino-476{use-column-names=true}", "snapshot", "all")
        for step in (1, 2, 3)
    )
    assert plan.cells[0].case == (
        "family/story[cow,rewrites=none]@spark-3.5.8-hudi-0.15.0/s1/snapshot/all/"
        "trino-476{use-column-names=true}"
    )
    assert plan.excluded == ()


def test_views_of_the_past_go_back_to_a_step_once_there_is_one() -> None:
    formats = (replace(COW, past_views=("as_of",)), MOR, PLAIN)
    profile = replace(PROFILE, views=("snapshot", "as_of", "incremental"))
    result = plan((STORY,), profile, formats)
    assert [(cell.step, cell.view) for cell in result.cells] == [
        (1, "snapshot"),
        (2, "snapshot"),
        (2, "as_of(1)"),
        (3, "snapshot"),
        (3, "as_of(1)"),
    ]
    why = "there is no such view of the past in this format"
    assert result.excluded == (Excluded("incremental of cow", why),)


def test_a_reader_that_has_no_view_of_the_past_is_left_out_with_the_reason() -> None:
    formats = (replace(COW, past_views=("as_of",)), MOR, PLAIN)
    profile = replace(PROFILE, views=("snapshot", "as_of"))
    result = plan((STORY,), profile, formats, cannot_show=lambda *_: "too old")
    assert {cell.view for cell in result.cells} == {"snapshot"}
    assert result.excluded == (Excluded(f"as_of by {TRINO} on cow", "too old"),)


def test_the_axis_is_put_into_every_touch_that_does_not_fix_it() -> None:
    story = replace(scenario_of(Insert((1,)), Touch(), Touch(Rewrites.ALL)), name="family/touch")
    plan = planned(story, axes={"rewrites": ("none", "some")})
    assert ids(plan) == ["family/touch[cow,rewrites=none]", "family/touch[cow,rewrites=some]"]
    taken = [
        [s.operation.rewrites for s in v.scenario.steps if isinstance(s.operation, Touch)]
        for v in plan.variants
    ]
    assert taken == [[Rewrites.NONE, Rewrites.ALL], [Rewrites.SOME, Rewrites.ALL]]
    assert [dict(variant.settings) for variant in plan.variants] == [
        {"rewrites": "none"},
        {"rewrites": "some"},
    ]


@pytest.mark.parametrize(
    ("allowed", "requested", "values"),
    [
        ((), (), ["none"]),
        (("some", "all"), (), ["some", "all"]),
        ((), ("all",), ["all"]),
        (("none", "some"), ("all", "some"), ["some"]),
    ],
)
def test_the_profile_chooses_among_the_values_that_the_scenario_allows(
    allowed: tuple[str, ...], requested: tuple[str, ...], values: list[str]
) -> None:
    story = replace(STORY, settings={"rewrites": allowed} if allowed else {})
    plan = planned(story, axes={"rewrites": requested} if requested else {})
    assert [variant.settings["rewrites"] for variant in plan.variants] == values


def test_values_that_do_not_meet_are_an_exclusion_with_both_sides_named() -> None:
    story = replace(STORY, settings={"rewrites": ("none",)})
    plan = planned(story, axes={"rewrites": ("some", "all")})
    assert (plan.variants, plan.cells) == ((), ())
    assert plan.excluded == (
        Excluded("family/story", "it has rewrites none; the profile asks for some, all"),
    )


def test_a_twin_is_a_variant_of_its_own_with_its_own_types() -> None:
    columns = {"id": "string", "f1": "string", "f2": "string"}
    story = replace(scenario_of(Insert((1,)), columns=columns), name="family/types")
    plan = planned(story, twins=True)
    assert ids(plan) == ["family/types[cow]", "family/types[cow,twin]"]
    assert [variant.twin for variant in plan.variants] == [False, True]
    types = [[str(t) for _, t in v.scenario.table.columns] for v in plan.variants]
    assert types == [["string", "string", "string"], ["string", "string", "int"]]


def test_a_format_that_lacks_an_operation_is_excluded_and_says_so() -> None:
    story = replace(STORY, steps=(*STORY.steps, Step(Compact())))
    plan = planned(story, formats=("cow", "plain"))
    assert ids(plan) == ["family/story[cow,rewrites=none]"]
    (excluded,) = plan.excluded
    assert excluded.what.startswith("family/story[plain,rewrites=none]@")
    assert excluded.why == "step 4: plain has no compact"


def test_a_scenario_for_other_formats_is_excluded() -> None:
    plan = planned(replace(STORY, formats=("plain",)))
    assert plan.excluded == (Excluded("family/story", "it is for plain; the profile has only cow"),)


def test_nothing_is_asked_after_a_quiet_step() -> None:
    steps = (STORY.steps[0], replace(STORY.steps[1], quiet=True), STORY.steps[2])
    plan = planned(replace(STORY, steps=steps), formats=("cow", "mor"))
    assert {cell.step for cell in plan.cells} == {1, 3}
    assert plan.excluded == (
        Excluded(
            "family/story step 2 (rename column f1 to g)",
            "quiet: the scenario asks nothing after it",
        ),
    )


def test_views_of_merge_on_read_are_asked_from_the_first_write_on() -> None:
    story = replace(scenario_of(AddColumn("f2", TEXT), Insert((1,)), Compact()), name="family/add")
    plan = planned(story, formats=("cow", "mor"))
    by_format = {
        variant.format: {cell.step for cell in plan.cells if cell.variant == variant.id}
        for variant in plan.variants
    }
    assert by_format == {"cow": {1, 2, 3}, "mor": {2, 3}}
    assert [exclusion.why for exclusion in plan.excluded] == [
        "a merge-on-read table has no views before its first write"
    ]


@pytest.mark.parametrize(
    ("of_story", "requested", "asked"),
    [
        ((), ("snapshot", "read_optimized", "base_name"), MOR.views),
        (("read_optimized",), ("snapshot", "read_optimized"), ("read_optimized",)),
        ((), ("base_name",), ("base_name",)),
    ],
)
def test_views_are_those_that_scenario_profile_and_format_have(
    of_story: tuple[str, ...], requested: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    plan = planned(replace(STORY, views=of_story), formats=("mor",), views=requested)
    assert [cell.view for cell in plan.cells if cell.step == 1] == list(asked)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rewrits": ("none",)}, "there is no setting 'rewrits'; did you mean 'rewrites'?"),
        ({"table_version": ("5",)}, "settings.table_version: there is no '5'; allowed: 6, 8"),
    ],
)
def test_a_setting_that_no_format_of_a_scenario_has_is_reported_with_its_file_and_line(
    settings: dict[str, tuple[str, ...]], message: str
) -> None:
    lines = dict.fromkeys(settings, 7)
    story = replace(STORY, settings=settings, path="story.yaml", setting_lines=lines)
    with pytest.raises(UsageProblem, match=rf"^story\.yaml:7: {re.escape(message)}"):
        planned(story)


def test_a_part_of_a_plan_keeps_only_what_its_cases_need() -> None:
    whole = planned(formats=("cow", "mor"), readers=(ProfileReader(TRINO), ProfileReader(SLOW)))
    part = select(whole, "[MOR*/s2/read*hive")
    assert [cell.case.partition("@")[2] for cell in part.cells] == [
        "spark-3.5.8-hudi-0.15.0/s2/read_optimized/all/hive-3.1.3{path=mapreduce}"
    ]
    assert [variant.format for variant in part.variants] == ["mor"]
    assert part.readers == (SLOW,)


def test_a_part_with_no_case_is_wrong_use_and_shows_what_a_case_looks_like() -> None:
    with pytest.raises(UsageProblem, match=r"no case contains 'x\.z'; a case of this plan is fam"):
        select(planned(), "x.z")


def test_an_estimate_knows_that_two_engines_are_asked_side_by_side() -> None:
    one, other = estimate(planned()), estimate(planned(readers=(ProfileReader(SLOW),)))
    both = estimate(planned(readers=(ProfileReader(TRINO), ProfileReader(SLOW))))
    assert both == pytest.approx(max(one, other), abs=0.1)
    third = parse_reader("other-1"), parse_reader("another-1")
    assert estimate(planned(readers=(ProfileReader(TRINO), *map(ProfileReader, third)))) > both + 10


@pytest.mark.parametrize(
    ("type_", "message"),
    [("tinyint", "tinyint"), ("map<string, array<struct<a: char(3)>>>", "char(3)")],
)
def test_a_type_that_a_format_cannot_have_is_left_out_and_reported(
    type_: str, message: str
) -> None:
    plain = replace(COW, unsupported_types=frozenset({"tinyint", "char"}))
    added = AddColumn("f9", parse_type(type_))
    scenario = replace(scenario_of(Insert((1,)), added), name="family/story")
    result = plan((scenario,), PROFILE, (plain,))
    assert result.variants == ()
    (left_out,) = result.excluded
    assert left_out.why == f"column f9: cow has no {message}"
    assert plan((scenario,), PROFILE, (COW,)).variants != ()


@pytest.mark.parametrize(
    "step",
    [
        ChangeType("f1", parse_type("char(3)"), exact=False),
        MergeWithSchemaEvolution({"f1_new": parse_type("char(3)")}, insert=(2,)),
        ReplaceTable({"id": parse_type("string"), "f1": parse_type("char(3)")}),
    ],
    ids=name_of,
)
def test_the_types_of_every_step_that_gives_columns_some_are_looked_at(step: Operation) -> None:
    plain = replace(COW, unsupported_types=frozenset({"char"}))
    scenario = replace(scenario_of(Insert((1,)), step), name="family/story")
    (left_out,) = plan((scenario,), PROFILE, (plain,)).excluded
    assert left_out.why.endswith(": cow has no char(3)")


def test_what_nobody_can_be_asked_is_reported() -> None:
    other = planned(views=("read_optimized",))
    assert other.cells == ()
    assert [exclusion.why for exclusion in other.excluded] == [
        "it has none of the requested views; cow has snapshot"
    ]
    late = planned(writers=(Writer("a", then="b", at=2), Writer("a", then="b", at=9)))
    assert [variant.writers for variant in late.variants] == [("a", "a", "b", "b")]
    assert [exclusion.why for exclusion in late.excluded] == [
        "there is no step 9 for b to go on from"
    ]

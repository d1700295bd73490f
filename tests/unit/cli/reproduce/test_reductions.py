"""What can be taken away from a scenario, and what becomes of the other steps."""

from dataclasses import replace
from functools import partial

import pytest

from harness.cli.reproduce import candidate as candidates
from harness.plan.shipped import scenarios_folder
from harness.scenario.cells import Variant
from harness.scenario.dump import dump
from harness.scenario.load import load, loads
from harness.scenario.operations.row_writes import Insert, InsertWithout
from tests.builders.candidates import candidate_of
from tests.builders.judged_story import case_without_values
from tests.builders.table_story import history

FRAME = "write_frame: {keys: [1], columns: [id, ts, x], types: {x: string}, reconcile: true}"
NESTED = "id string, ts long, a struct<x: string, y: string>, f1 string"


def no_step(number: int) -> candidates.Reduction:
    return partial(candidates.without_step, number=number)


def no_column(path: str, added_by: int = 0) -> candidates.Reduction:
    return partial(candidates.without_column, path=path, added_by=added_by)


def no_row(key: str, only_in: int = 0) -> candidates.Reduction:
    return partial(candidates.without_row, key=key, only_in=only_in)


def steps(candidate: candidates.Candidate | None) -> list[str]:
    assert candidate is not None
    assert candidates.valid(candidate)
    text = dump(candidate.scenario).split("steps:\n")[1]
    return [line.removeprefix("  - ") for line in text.splitlines()]


@pytest.mark.parametrize(
    ("text", "reduction", "left"),
    [
        ("insert 1,2; insert 3; move f1 after f2", no_step(1),
         ["insert: [3]", "move_column: {name: f1, after: f2}"]),
        ("insert 1,2; insert 3; delete 1; delete 3", no_row("1"),
         ["insert: [2]", "insert: [3]", "delete: [3]"]),
        ("insert 1,2; upsert 1,2; delete 2", no_row("1", only_in=2),
         ["insert: [1, 2]", "upsert: [2]", "delete: [2]"]),
        ("insert 1,2; touch all; drop f1", partial(candidates.without_rewrites, number=2),
         ["insert: [1, 2]", "touch: none", "drop_column: f1"]),
        ("insert 1; rename f1 g; move f2 after ts; drop f2", no_column("f1"),
         ["insert: [1]", "move_column: {name: f2, after: ts}", "drop_column: f2"]),
        ("insert 1; rename f1 g; add x after g; drop x", no_column("f1"),
         ["insert: [1]", "add_column: {name: x, type: string, after: ts}", "drop_column: x"]),
        ("insert 1; rename f1 g; move f2 after ts; drop g", no_step(2),
         ["insert: [1]", "move_column: {name: f2, after: ts}", "drop_column: f1"]),
        ("insert 1; rename f1 g; rename g h", no_step(2),
         ["insert: [1]", "rename_column: {name: f1, to: h}"]),
        ("insert 1; frame 1 id,ts,x,f1 x string; delete 1", no_column("f1"),
         ["insert: [1]", FRAME, "delete: [1]"]),
        ("insert 1; frame 1 id,ts,x,f1 x string; rename x y; delete 1", no_column("x", added_by=2),
         ["insert: [1]", "write_frame: {keys: [1], columns: [id, ts, f1], reconcile: true}",
          "delete: [1]"]),
        ("insert 1; add x; rename x y; drop y; delete 1", no_column("x", added_by=2),
         ["insert: [1]", "delete: [1]"]),
    ],
)  # fmt: skip
def test_a_reduction_takes_away_what_belongs_to_it(
    text: str, reduction: candidates.Reduction, left: list[str]
) -> None:
    assert steps(reduction(candidate_of(history(text)))) == left


@pytest.mark.parametrize(
    ("last", "reduction"),
    [("touch all", no_step(3)), ("drop f1", no_column("f1")), ("delete 2", no_row("2"))],
)
def test_the_step_that_is_looked_at_stays(last: str, reduction: candidates.Reduction) -> None:
    assert reduction(candidate_of(history(f"insert 1,2; insert 3; {last}"))) is None


def test_a_part_of_a_struct_can_be_left_out() -> None:
    candidate = candidate_of(history("insert 1; rename a.x z; move f1 after ts", NESTED))
    made = candidates.without_column(candidate, path="a.x")
    assert steps(made) == ["insert: [1]", "move_column: {name: f1, after: ts}"]
    assert made is not None
    assert str(dict(made.scenario.table.columns)["a"]) == "struct<y: string>"


def test_a_column_that_has_a_role_leaves_it_when_it_goes() -> None:
    candidate = candidate_of(history("insert 1; drop f1"))
    made = candidates.without_column(candidate, path="ts")
    assert made is not None
    assert made.scenario.table.order_by == ()
    smaller = [reduction(candidate) for reduction in candidates.reductions(candidate)]
    assert all("id" in dict(other.scenario.table.columns) for other in smaller if other)


def test_a_setting_can_be_left_out_and_axes_are_none() -> None:
    variant = case_without_values(history("insert 1; touch all; drop f1")).variant
    settings = {"rewrites": "all", "metadata_table": "on"}
    given = type(variant)(variant.id, variant.scenario, "hudi-cow", settings, ("w",) * 4)
    candidate = candidates.begin(given, 2, "snapshot", ("metadata_table",))
    assert dict(candidate.settings) == {"metadata_table": "on"}
    assert len(candidate.numbers) == 2
    made = candidates.without_setting(candidate, name="metadata_table")
    assert made is not None
    assert dict(made.settings) == {}
    assert made.key != candidate.key


def test_what_a_plan_would_leave_out_is_no_candidate() -> None:
    made = candidate_of(history("insert 1,2; rename f1 g"))
    migrated = replace(made, format="iceberg", settings={"created_by": "migrate"})
    assert candidates.valid(migrated)
    without = candidates.without_step(migrated, number=1)
    assert without is not None
    assert not candidates.valid(without), "the first step inserts the rows of the plain table"
    assert candidates.valid(replace(without, settings={}))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("delta_features/column_options", {"column_mapping": "name"}),
        ("settings/indexes_of_renamed", {"metadata_table": "on", "index": "record_level"}),
        ("bugs/several_ordering_fields", {"merge_mode": "event_time"}),
        ("snapshots/branch_written", {"staged_by": "branch"}),
    ],
)
def test_what_is_left_of_tables_whose_columns_have_roles_is_a_scenario(
    name: str, known: dict[str, str]
) -> None:
    scenario = load(scenarios_folder() / f"{name}.yaml")
    writers = ("spark",) * (len(scenario.steps) + 1)
    variant = Variant(name, scenario, scenario.formats[0], known, writers)
    first = candidates.begin(variant, len(scenario.steps), "snapshot", tuple(known))
    smaller = [candidate for _, candidate in candidates.reduced(first)]
    assert len(smaller) > len(scenario.steps)
    for candidate in smaller:
        again = loads(dump(candidate.scenario), f"{name}.yaml")
        assert (again.table, again.operations) == (candidate.scenario.table, candidate.operations)


def test_an_insert_whose_last_left_out_column_goes_names_all_columns() -> None:
    insert = InsertWithout(("f1",), (5,))
    assert insert.without("f1") == Insert((5,))
    assert insert.without("f2") == insert

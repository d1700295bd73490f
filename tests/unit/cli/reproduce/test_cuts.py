"""What can be taken away from a scenario, and what becomes of the other steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.cli.reproduce.candidate import Candidate, begin, valid
from harness.cli.reproduce.column_cuts import ColumnCut
from harness.cli.reproduce.cuts import Cut, RowCut, SettingCut, StepCut, TouchCut, cuts
from harness.scenario.dump import dump
from tests.builders.judged_story import case_without_values
from tests.builders.table_story import history
from tests.unit.cli.reproduce.simulation import candidate_of

FRAME = "write_frame: {keys: [1], columns: [id, ts, x], types: {x: string}, reconcile: true}"
NESTED = "id string, ts long, a struct<x: string, y: string>, f1 string"


def steps(candidate: Candidate | None) -> list[str]:
    assert candidate is not None
    assert valid(candidate)
    text = dump(candidate.scenario).split("steps:\n")[1]
    return [line.removeprefix("  - ") for line in text.splitlines()]


@pytest.mark.parametrize(
    ("text", "cut", "left"),
    [
        ("insert 1,2; insert 3; move f1 after f2", StepCut(1),
         ["insert: [3]", "move_column: {name: f1, after: f2}"]),
        ("insert 1,2; insert 3; delete 1; delete 3", RowCut("1"),
         ["insert: [2]", "insert: [3]", "delete: [3]"]),
        ("insert 1,2; upsert 1,2; delete 2", RowCut("1", 2),
         ["insert: [1, 2]", "upsert: [2]", "delete: [2]"]),
        ("insert 1,2; touch all; drop f1", TouchCut(2),
         ["insert: [1, 2]", "touch: none", "drop_column: f1"]),
        ("insert 1; rename f1 g; move f2 after ts; drop f2", ColumnCut(0, "f1"),
         ["insert: [1]", "move_column: {name: f2, after: ts}", "drop_column: f2"]),
        ("insert 1; rename f1 g; add x after g; drop x", ColumnCut(0, "f1"),
         ["insert: [1]", "add_column: {name: x, type: string, after: ts}", "drop_column: x"]),
        ("insert 1; rename f1 g; move f2 after ts; drop g", StepCut(2),
         ["insert: [1]", "move_column: {name: f2, after: ts}", "drop_column: f1"]),
        ("insert 1; rename f1 g; rename g h", StepCut(2),
         ["insert: [1]", "rename_column: {name: f1, to: h}"]),
        ("insert 1; frame 1 id,ts,x,f1 x string; delete 1", ColumnCut(0, "f1"),
         ["insert: [1]", FRAME, "delete: [1]"]),
        ("insert 1; frame 1 id,ts,x,f1 x string; rename x y; delete 1", ColumnCut(2, "x"),
         ["insert: [1]", "write_frame: {keys: [1], columns: [id, ts, f1], reconcile: true}",
          "delete: [1]"]),
        ("insert 1; add x; rename x y; drop y; delete 1", ColumnCut(2, "x"),
         ["insert: [1]", "delete: [1]"]),
    ],
)  # fmt: skip
def test_a_cut_takes_away_what_belongs_to_it(text: str, cut: Cut, left: list[str]) -> None:
    assert steps(cut.apply(candidate_of(history(text)))) == left


@pytest.mark.parametrize("cut", [StepCut(3), ColumnCut(0, "f1"), RowCut("2")])
def test_the_step_that_is_looked_at_stays(cut: Cut) -> None:
    last = {"RowCut": "delete 2", "ColumnCut": "drop f1", "StepCut": "touch all"}
    candidate = candidate_of(history(f"insert 1,2; insert 3; {last[type(cut).__name__]}"))
    assert cut.apply(candidate) is None


def test_a_part_of_a_struct_can_be_left_out() -> None:
    candidate = candidate_of(history("insert 1; rename a.x z; move f1 after ts", NESTED))
    made = ColumnCut(0, "a.x").apply(candidate)
    assert steps(made) == ["insert: [1]", "move_column: {name: f1, after: ts}"]
    assert made is not None
    assert str(dict(made.scenario.table.columns)["a"]) == "struct<y: string>"


def test_a_column_that_has_a_role_leaves_it_when_it_goes() -> None:
    candidate = candidate_of(history("insert 1; drop f1"))
    made = ColumnCut(0, "ts").apply(candidate)
    assert made is not None
    assert made.scenario.table.order_by is None
    assert ColumnCut(0, "id") not in set(cuts(candidate))


def test_steps_keep_their_writers() -> None:
    candidate = candidate_of(history("insert 1; insert 2; drop f1"))
    of = Candidate(candidate.scenario, "hudi-cow", {}, ("a", "b", "c", "d"), (1, 2, 3))
    made = StepCut(2).apply(of)
    assert made is not None
    assert made.writers == ("a", "b", "d")


def test_a_setting_can_be_left_out_and_axes_are_none() -> None:
    variant = case_without_values(history("insert 1; touch all; drop f1")).variant
    settings = {"rewrites": "all", "metadata_table": "on"}
    given = type(variant)(variant.id, variant.scenario, "hudi-cow", settings, ("w",) * 4)
    candidate = begin(given, 2, "snapshot", ("metadata_table",))
    assert dict(candidate.settings) == {"metadata_table": "on"}
    assert len(candidate.numbers) == 2
    made = SettingCut("metadata_table").apply(candidate)
    assert made is not None
    assert dict(made.settings) == {}
    assert made.key != candidate.key


def test_what_a_plan_would_leave_out_is_no_candidate() -> None:
    made = candidate_of(history("insert 1,2; rename f1 g"))
    migrated = replace(made, format="iceberg", settings={"created_by": "migrate"})
    assert valid(migrated)
    without = StepCut(1).apply(migrated)
    assert without is not None
    assert not valid(without), "the first step inserts the rows of the plain table"
    assert valid(replace(without, settings={}))

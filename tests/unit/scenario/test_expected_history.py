from __future__ import annotations

import pytest

from harness.model.datatypes import Primitive
from harness.model.schema import SchemaChangeError
from harness.scenario.expected_history import skippable
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import Delete, Insert, Touch, Upsert
from tests.builders.scenarios import TEXT, scenario_of


def touch_keys(key_type: str, *operations: Operation) -> dict[int, object]:
    columns = {"id": key_type, "f1": "string"}
    return dict(scenario_of(*operations, columns=columns).survey.generation().touch_keys)


def test_rows_are_numbered_in_the_order_in_which_they_are_first_written() -> None:
    scenario = scenario_of(
        Insert((5, 3), ({"id": "x"},)), Touch(), Merge(update=(3,), insert=(9,)), Upsert((5, 2))
    )
    ordinals = scenario.survey.generation().ordinals
    assert dict(ordinals) == {"5": 1, "3": 2, "x": 3, "10": 4, "9": 5, "2": 6}


def test_a_touch_adds_the_next_number_after_the_greatest_key_that_any_step_names() -> None:
    story = (Insert((1, "20")), Touch(), Touch(), Insert((7,)))
    assert touch_keys("string", *story) == {2: "21", 3: "22"}
    assert touch_keys("long", *story) == {2: 21, 3: 22}


def test_a_touch_adds_t_and_its_step_where_no_key_is_a_number() -> None:
    assert touch_keys("string", Insert(("a",)), Touch(), Touch()) == {2: "t2", 3: "t3"}


def test_a_touch_of_a_table_with_whole_numbers_as_keys_begins_at_one() -> None:
    assert touch_keys("int", Touch(), Touch()) == {1: 1, 2: 2}


def test_a_touch_adds_a_key_after_those_of_rows_that_have_only_explicit_values() -> None:
    assert touch_keys("int", Upsert(rows=({"id": 4, "f1": "x"},)), Touch()) == {2: 5}


def test_values_depend_on_every_type_that_their_field_takes() -> None:
    scenario = scenario_of(AddColumn("f2", Primitive("int")), DropColumn("f1"))
    assert scenario.survey.generation().types == {
        1: (TEXT,),
        2: (TEXT,),
        3: (Primitive("int"),),
    }


def test_a_scenario_that_cannot_be_is_no_truth() -> None:
    with pytest.raises(SchemaChangeError, match="no row has the key 1"):
        scenario_of(Delete((1,))).truths(merge_on_read=False)


def test_a_step_that_needs_a_refused_one_is_skippable_and_others_are_not() -> None:
    scenario = scenario_of(AddColumn("f2", TEXT), RenameColumn("f2", "g"), Insert((1,)))
    refused = scenario.truths(merge_on_read=False).history([False, False, False])[1]
    assert skippable(refused, RenameColumn("f2", "g")) == (
        "there is no column 'f2'; there are: id, f1"
    )
    assert skippable(refused, Insert((1,))) == ""


def test_a_survey_goes_on_after_a_step_that_cannot_be() -> None:
    found = scenario_of(Delete((1,)), DropColumn("id"), Insert((1,))).survey
    assert found.wrong == {
        1: "no row has the key 1; there are: none",
        2: "'id' is a key, ordering or partition column and stays; others: f1",
    }
    assert [truth.step for truth in found.history] == [0, 1, 2, 3]
    assert found.keys == ("1",)

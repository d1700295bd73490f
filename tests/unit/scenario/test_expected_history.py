from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.model.datatypes import Primitive
from harness.model.schema import SchemaChangeError
from harness.model.truth import History, row_values
from harness.scenario.definition import Scenario
from harness.scenario.expected_history import skippable
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import Delete, Insert, Touch, Upsert
from harness.scenario.operations.services import Cluster, Compact
from harness.scenario.operations.snapshots import RollbackToSnapshot
from tests.builders.random_scenarios import scenarios
from tests.builders.scenarios import TEXT, scenario_of

INT = Primitive("int")


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


def test_a_touch_adds_a_key_after_those_of_rows_that_have_only_explicit_values() -> None:
    assert touch_keys("int", Upsert(rows=({"id": 4, "f1": "x"},)), Touch()) == {2: 5}


def test_values_depend_on_every_type_that_their_field_takes() -> None:
    types = scenario_of(AddColumn("f2", INT), DropColumn("f1")).survey.generation().types
    assert types == {1: (TEXT,), 2: (TEXT,), 3: (INT,)}


def test_a_step_that_needs_a_refused_one_is_skippable_and_others_are_not() -> None:
    scenario = scenario_of(AddColumn("f2", TEXT), RenameColumn("f2", "g"), Insert((1,)))
    refused = scenario.truths(merge_on_read=False).history([False, False, False])[1]
    assert skippable(refused, RenameColumn("f2", "g")) == (
        "there is no column 'f2'; there are: id, f1"
    )
    assert skippable(refused, Insert((1,))) == ""


def test_a_survey_goes_on_after_a_step_that_cannot_be() -> None:
    survey = scenario_of(Delete((1,)), DropColumn("id"), Insert((1,))).survey
    assert survey.wrong == {
        1: "no row has the key 1; there are: none",
        2: "'id' is a key, ordering or partition column and stays; others: f1",
    }
    assert [truth.step for truth in survey.history] == [0, 1, 2, 3]
    assert survey.keys == ("1",)


SLOW = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def all_applied(scenario: Scenario, *, merge_on_read: bool) -> History:
    return scenario.truths(merge_on_read=merge_on_read).history()


def same_type(one: History, other: History, step: int, field_id: int) -> bool:
    """Whether a field had the same type in both when something was written."""
    fields = [history[step].schema.by_id(field_id) for history in (one, other)]
    types = [field.type for field in fields if field is not None]
    return len(types) == 2 and types[0] == types[1]


@SLOW
@given(scenarios())
def test_base_files_hold_every_inserted_row_and_after_compaction_the_newest_version(
    scenario: Scenario,
) -> None:
    mor = all_applied(scenario, merge_on_read=True)
    cow = all_applied(scenario, merge_on_read=False)
    assert [truth.rows for truth in cow] == [truth.rows for truth in mor]
    assert all(truth.base == truth.rows for truth in cow)
    for before, step, after in zip(mor, scenario.steps, mor[1:], strict=False):
        assert set(after.rows) <= set(after.base)
        for row in (*after.rows.values(), *after.base.values()):
            assert len(row_values(row, after.schema)) == len(after.schema.fields)
        if isinstance(step.operation, Compact | Cluster) and not step.operation.only:
            assert after.base == after.rows
        elif isinstance(step.operation, RollbackToSnapshot):
            assert after.base == mor[step.operation.step].base
        else:
            assert {key: after.base[key] for key in before.base} == before.base


@SLOW
@given(scenarios(), st.data())
def test_a_refused_step_changes_neither_the_ids_nor_the_values_of_the_others(
    scenario: Scenario, data: st.DataObject
) -> None:
    refused = data.draw(st.integers(1, len(scenario.steps)))
    applied = [number != refused for number in range(1, len(scenario.steps) + 1)]
    whole = all_applied(scenario, merge_on_read=False)
    try:
        part = scenario.truths(merge_on_read=False).history(applied)
    except SchemaChangeError:
        return  # a later step needs the refused one; the writer would skip it
    for mine, theirs in zip(part, whole, strict=True):
        assert mine.schema.last_id == theirs.schema.last_id
        for key in mine.rows.keys() & theirs.rows.keys():
            written, other = mine.rows[key], theirs.rows[key]
            for field_id in written.values.keys() & other.values.keys():
                step = written.written[field_id]
                if step == other.written[field_id] and same_type(part, whole, step, field_id):
                    assert written.values[field_id] == other.values[field_id]


def test_a_write_that_was_refused_made_rows_that_nobody_may_show() -> None:
    scenario = scenario_of(Insert((1,)), Upsert((1, 2)), Delete((1,)), AddColumn("f2", TEXT))
    *_, second, third, fourth = scenario.truths(merge_on_read=False).history(
        [True, False, False, False]
    )
    assert [row.key for row in second.failed] == ["1", "2"]
    assert dict(second.gone) == {"2": 2}
    assert second.rows["1"].newest == 1
    # A delete makes no rows, and a column none but those that are there.
    assert third.failed == second.failed
    assert [truth.undone for truth in (second, third, fourth)] == [frozenset({2})] * 3
    assert fourth.schema.names == ("id", "f1")

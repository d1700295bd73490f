from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.model.schema import SchemaChangeError
from harness.model.truth import History, Truth, row_values
from harness.scenario.definition import Scenario
from harness.scenario.operations.columns import AddColumn
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.services import Cluster, Compact
from tests.builders.scenarios import TEXT, scenario_of
from tests.unit.scenario.scenario_strategy import scenarios

SLOW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def all_applied(scenario: Scenario, *, merge_on_read: bool) -> History:
    return scenario.truths(merge_on_read=merge_on_read).history()


def fields_by_id(truth: Truth) -> dict[int, str]:
    return {field.id: field.name for field in truth.schema.walk()}


def same_type(one: History, other: History, step: int, field_id: int) -> bool:
    """Whether a field had the same type in both when something was written."""
    fields = [history[step].schema.by_id(field_id) for history in (one, other)]
    types = [field.type for field in fields if field is not None]
    return len(types) == 2 and types[0] == types[1]


@SLOW
@given(scenarios())
def test_copy_on_write_and_merge_on_read_hold_the_same_rows(scenario: Scenario) -> None:
    cow = all_applied(scenario, merge_on_read=False)
    mor = all_applied(scenario, merge_on_read=True)
    assert [truth.rows for truth in cow] == [truth.rows for truth in mor]
    assert all(truth.base == truth.rows for truth in cow)


@SLOW
@given(scenarios())
def test_base_files_hold_every_inserted_row_and_after_compaction_the_newest_version(
    scenario: Scenario,
) -> None:
    mor = all_applied(scenario, merge_on_read=True)
    for before, step, after in zip(mor, scenario.steps, mor[1:], strict=False):
        assert set(after.rows) <= set(after.base)
        if isinstance(step.operation, Compact | Cluster) and not step.operation.only:
            assert after.base == after.rows
        else:
            assert {key: after.base[key] for key in before.base} == before.base


@SLOW
@given(scenarios())
def test_every_value_can_be_shown_in_the_types_of_its_day(scenario: Scenario) -> None:
    for truth in all_applied(scenario, merge_on_read=True):
        for row in (*truth.rows.values(), *truth.base.values()):
            assert len(row_values(row, truth.schema)) == len(truth.schema.fields)


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


def test_a_refused_addition_leaves_its_id_unused() -> None:
    scenario = scenario_of(AddColumn("f2", TEXT), AddColumn("f3", TEXT), Insert((1,)))
    part = scenario.truths(merge_on_read=False).history([False, True, True])
    whole = all_applied(scenario, merge_on_read=False)
    assert part[-1].schema.names == ("id", "f1", "f3")
    assert part[-1].column_id("f3") == whole[-1].column_id("f3") == 4
    assert part[-1].rows["1"].values[4] == whole[-1].rows["1"].values[4] == "f4s3r1"


def test_the_step_of_a_truth_is_its_place_in_the_history() -> None:
    scenario = scenario_of(Insert((1,)), AddColumn("f2", TEXT), Compact())
    for applied in ([True, True, True], [True, False, False], [False, False, True]):
        part = scenario.truths(merge_on_read=True).history(applied)
        assert [truth.step for truth in part] == [0, 1, 2, 3]

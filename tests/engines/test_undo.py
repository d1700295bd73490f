"""Tables that were taken back, and such as a write left that died before its commit."""

from __future__ import annotations

import pytest

from harness import formats
from harness.core.records import OutcomeKind
from harness.formats.hudi import records, timeline
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.scenario.definition import Scenario
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

SAVED, LATER, RESTORED = 5, 8, 10
"""Steps of `services/restore`: the savepoint, the column that is taken back, the restore."""
FAILED = {"failed_write": (3, 6, 10), "killed_write": (3, 6)}
"""The steps of these scenarios that die before their commit."""
every_writer = pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
both_formats = pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])


def scenario(name: str) -> Scenario:
    return load.load(scenarios_folder() / "services" / f"{name}.yaml")


def written(
    what: str, name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> VariantResult:
    variant = planned(scenario(what), name, Writer(writer))
    found = write_variants.write_variant(variant, place, writer_for)
    assert {each.outcome.kind for each in found.records} == {OutcomeKind.APPLIED}
    return found


@every_writer
@both_formats
def test_a_restored_table_has_its_files_again_and_the_catalog_the_columns_of_before(
    name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written("restore", name, writer, writer_for, place).records
    assert records[RESTORED].files == records[SAVED].files
    columns = [records[step].catalog for step in (SAVED, LATER, RESTORED, RESTORED + 1)]
    assert columns[0] == columns[3] != columns[1] == columns[2]


@pytest.mark.parametrize("what", FAILED)
@every_writer
@both_formats
def test_a_write_that_died_is_on_the_timeline_until_the_next_one(
    name: str, writer: str, what: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    found = written(what, name, writer, writer_for, place)
    for step in FAILED[what]:
        before, after, later = (
            next(state for (_, at), state in found.states.items() if at == step + more)
            for more in (-1, 0, 1)
        )
        begun = [
            timeline.begun(records.local(each.table).entries) for each in (before, after, later)
        ]
        assert len(begun[1]) == 1
        assert begun[0] != begun[1]
        assert found.records[step].files == found.records[step - 1].files
        assert not begun[2]
    assert formats.load(name).committed(later.table, ()).undone


@pytest.mark.parametrize(
    ("writer", "last"),
    [
        (OLD, OutcomeKind.APPLIED),
        (NEW, OutcomeKind.REFUSED),
        (NEWEST, OutcomeKind.REFUSED),
    ],
)
@both_formats
def test_after_a_schema_change_a_write_that_died_can_stand_in_the_way_of_all_others(
    name: str, writer: str, last: OutcomeKind, writer_for: WriterFor, place: WriteTarget
) -> None:
    variant = planned(scenario("add_column_after_failed_write"), name, Writer(writer))
    records = write_variants.write_variant(variant, place, writer_for).records
    assert [each.outcome.kind for each in records] == [*[OutcomeKind.APPLIED] * 4, last]

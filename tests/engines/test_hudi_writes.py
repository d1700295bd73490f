"""What the writers of Hudi tables make of services, changes, DataFrames and writes that die."""

from dataclasses import replace

import pytest

from harness import formats
from harness.core.records import OutcomeKind
from harness.formats.hudi import records, timeline
from harness.plan import Writer
from harness.scenario.operations.columns import ChangePartitionColumn, ChangeType, MoveColumn
from harness.scenario.operations.services import Sync
from harness.write.state_records import VariantResult
from tests.engines.hudi_writers import (
    NEW,
    NEWEST,
    OLD,
    Write,
    both_formats,
    every_writer,
    table_after,
    variant_of,
)
from tests.engines.planned_run import shipped

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

APPLIED, REFUSED = OutcomeKind.APPLIED, OutcomeKind.REFUSED


def all_applied(written: VariantResult) -> bool:
    return {record.outcome.kind for record in written.records} == {APPLIED}


def refused_steps(written: VariantResult) -> set[int]:
    return {record.outcome.step for record in written.records if record.outcome.kind is REFUSED}


@every_writer
@both_formats
def test_a_restored_table_has_its_files_again_and_the_catalog_the_columns_of_before(
    name: str, writer: str, write: Write
) -> None:
    written = write("services/restore", name, writer)
    savepoint, later, restored = 5, 8, 10
    assert all_applied(written)
    assert written.records[restored].files == written.records[savepoint].files
    columns = [written.records[step].catalog for step in (savepoint, later, restored, restored + 1)]
    assert columns[0] == columns[3] != columns[1] == columns[2]


@pytest.mark.parametrize(
    ("scenario", "dying"), [("failed_write", (3, 6, 10)), ("killed_write", (3, 6))]
)
@every_writer
@both_formats
def test_a_write_that_died_is_on_the_timeline_until_the_next_one(
    name: str, writer: str, scenario: str, dying: tuple[int, ...], write: Write
) -> None:
    written = write(f"services/{scenario}", name, writer)
    assert all_applied(written)
    for step in dying:
        tables = [table_after(written, at) for at in (step - 1, step, step + 1)]
        before, after, later = (timeline.begun(records.local(table).entries) for table in tables)
        assert len(after) == 1
        assert before != after
        assert written.records[step].files == written.records[step - 1].files
        assert not later
    assert formats.load(name).committed(tables[-1], ()).undone


@pytest.mark.parametrize(("writer", "last"), [(OLD, APPLIED), (NEW, REFUSED), (NEWEST, REFUSED)])
@both_formats
def test_after_a_schema_change_a_write_that_died_can_stand_in_the_way_of_all_others(
    name: str, writer: str, last: OutcomeKind, write: Write
) -> None:
    written = write("services/add_column_after_failed_write", name, writer)
    assert [record.outcome.kind for record in written.records] == [*[APPLIED] * 4, last]


FRAME = 3
"""The step of `writes/frame_…` that writes a DataFrame."""


@every_writer
@both_formats
def test_where_a_new_column_of_a_frame_stands_is_the_writers_choice(
    name: str, writer: str, write: Write
) -> None:
    written = write("writes/frame_more", name, writer)
    assert all_applied(written)
    as_in_frame, at_the_end = ("id", "ts", "f3", "f1", "f2"), ("id", "ts", "f1", "f2", "f3")
    assert written.records[FRAME].catalog == (as_in_frame if writer == OLD else at_the_end)


@every_writer
def test_a_frame_that_lacks_a_column_is_refused_unless_it_may_be_filled_up(
    writer: str, write: Write
) -> None:
    written = write("writes/frame_fewer", "hudi-cow", writer)
    (step,) = refused_steps(written)
    refusal = written.records[step].outcome.refusal
    assert refusal is not None
    assert "MissingSchemaFieldException" in refusal.kind
    assert written.records[step].files == written.records[step - 1].files


@every_writer
def test_files_have_another_order_than_the_catalog_with_the_oldest_writer_alone(
    writer: str, write: Write
) -> None:
    state = write("writes/frame_reordered", "hudi-cow", writer).records[FRAME]
    made = [file for file in state.files if file.instant == state.outcome.instant]
    orders = {tuple(name for name, _ in file.columns if name in state.catalog) for file in made}
    assert state.catalog == ("id", "ts", "f1", "f2", "f3")
    assert orders == {("id", "ts", "f3", "f1", "f2") if writer == OLD else state.catalog}


@every_writer
@both_formats
def test_the_wider_type_of_a_frame_stands_in_the_files(
    name: str, writer: str, write: Write
) -> None:
    written = write("writes/frame_retyped", name, writer)
    assert all_applied(written)
    columns = [dict(file.columns) for file in written.records[-1].files]
    assert ("int64", "int64") in {(types["n"], types["m"]) for types in columns}


CLUSTERED = 4
"""The step of `services/cluster_after_rename` that clusters, and of the other that schedules it."""


@both_formats
@pytest.mark.parametrize(("writer", "left"), [(OLD, 3), (NEW, 0), (NEWEST, 0)])
def test_a_clustering_after_a_rename_leaves_values_in_one_version_alone(
    name: str, writer: str, left: int, write: Write
) -> None:
    written = write("services/cluster_after_rename", name, writer)
    assert all_applied(written)
    (new,) = written.records[CLUSTERED].values
    at = new.columns.index("f1_new")
    assert sum(row[at] is not None for row in new.rows) == left


@pytest.mark.parametrize("newer", [OLD, NEW, NEWEST])
def test_a_clustering_that_one_writer_scheduled_another_carries_out(
    newer: str, write: Write
) -> None:
    writer = Writer(OLD)
    if newer != OLD:
        writer = replace(writer, then=newer, at=CLUSTERED + 1)
    written = write("services/pending_clustering", "hudi-cow", writer)
    # Hudi refuses a write into the file groups that wait, and nothing else.
    assert refused_steps(written) == {CLUSTERED + 1}
    scheduled, last = (
        timeline.scheduled(records.local(table_after(written, step)).entries)
        for step in (CLUSTERED, len(written.records) - 1)
    )
    assert last == ()
    assert scheduled[0] in dict(written.records[-1].others)


@pytest.mark.parametrize(
    ("scenario", "conflicts"),
    [
        ("same_file_group", {4, 7}),
        ("other_file_group", set[int]()),
        ("many_times", {5, 14, 17, 23, 29, 35}),
    ],
)
@every_writer
@both_formats
def test_of_two_writers_who_writes_the_same_file_groups_is_refused_and_leaves_nothing(
    name: str, writer: str, scenario: str, conflicts: set[int], write: Write
) -> None:
    written = write(f"concurrency/{scenario}", name, writer)
    assert refused_steps(written) == conflicts
    assert all(written.records[at].files == written.records[at - 1].files for at in conflicts)


GIVEN = (
    (("hoodie.run_by", "nightly load"), ("hoodie.run_id", "17")),
    (("run.id", "18"),),
    (),  # the prefix is in quotes
    (("run.id", "20"),),
    (("run.id", "21"),),
)
"""The extra metadata of each step that come through where every name that is set does."""


@pytest.mark.parametrize(("writer", "any_name"), [(OLD, False), (NEW, True), (NEWEST, True)])
@both_formats
def test_extra_metadata_that_come_through_are_in_the_commit_and_shown(
    name: str, writer: str, *, any_name: bool, write: Write
) -> None:
    written = write("metadata/extra_metadata", name, writer)
    assert all_applied(written)
    metadata = [record.metadata for record in written.records[1 : len(GIVEN) + 1]]
    due = GIVEN if any_name else (GIVEN[0], (), *GIVEN[2:])
    assert [step and step.stored for step in metadata] == list(due)
    assert [step and step.shown for step in metadata] == list(due)
    assert written.records[-1].metadata is None


@every_writer
def test_the_catalog_keeps_its_columns_until_it_is_told_of_changes_by_the_write_client(
    writer: str, write: Write
) -> None:
    asked = Writer(writer, settings={"schema_changes": "write_client"})
    scenario = variant_of("services/write_client_changes", "hudi-mor", asked).scenario
    history = write("services/write_client_changes", "hudi-mor", asked).records
    steps = [step.operation for step in scenario.steps]
    truths = scenario.truths(merge_on_read=True).history()
    for at, operation in enumerate(steps, start=1):
        lists, before, outcome = history[at].catalog, history[at - 1].catalog, history[at].outcome
        # Hudi's sync compares names and types of columns, and not their order.
        moved = isinstance(operation, Sync) and isinstance(steps[at - 2], MoveColumn)
        assert (outcome.kind is REFUSED) is moved
        assert bool(outcome.instant) is not isinstance(operation, Sync)
        if operation.CHANGES_SCHEMA or moved:
            assert lists == before != truths[at].schema.names
        elif isinstance(operation, Sync):
            assert lists == truths[at].schema.names


@every_writer
def test_a_long_becomes_what_can_hold_it_in_every_part(writer: str, write: Write) -> None:
    (scenario,) = shipped("types/from_long")
    history = write(scenario, "hudi-cow", writer).records
    for at, step in enumerate(scenario.steps, start=1):
        outcome, done = history[at].outcome, step.operation
        # Float it can become, though the source document says otherwise (A2.3).
        refused = isinstance(done, ChangeType) and str(done.to) in {"int", "date"}
        assert (outcome.kind is REFUSED) is refused
        assert not (refused and outcome.instant)


@every_writer
def test_a_partition_column_is_neither_renamed_nor_dropped_and_the_table_is_written_on(
    writer: str, write: Write
) -> None:
    (scenario,) = shipped("evolution/partition_columns")
    written = write(scenario, "hudi-cow", writer)
    assert refused_steps(written) == {
        at
        for at, step in enumerate(scenario.steps, start=1)
        if isinstance(step.operation, ChangePartitionColumn)
        and (step.operation.drop or step.operation.rename)
    }

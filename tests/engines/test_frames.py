"""DataFrames that real writers are given, whose columns are not those of the table."""

from __future__ import annotations

import pytest

from harness.core.records import OutcomeKind, StateRecord
from harness.plan import Writer, scenarios_folder
from harness.scenario import load
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.writer_pool import WriteTarget
from tests.engines.test_writers import NEW, NEWEST, OLD, planned

pytestmark = [pytest.mark.engines, pytest.mark.nightly]

FRAME, REFUSED = 3, 5
"""Steps of `writes/frame_…`: the DataFrame, and one that lacks a column and may not."""
every_writer = pytest.mark.parametrize("writer", [OLD, NEW, NEWEST])
both_formats = pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])


def written(
    what: str, name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> tuple[StateRecord, ...]:
    scenario = load.load(scenarios_folder() / "writes" / f"frame_{what}.yaml")
    return write_variants.write_variant(
        planned(scenario, name, Writer(writer)), place, writer_for
    ).records


@every_writer
@both_formats
def test_where_a_new_column_stands_is_the_writers_choice(
    name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written("more", name, writer, writer_for, place)
    assert {each.outcome.kind for each in records} == {OutcomeKind.APPLIED}
    as_in_frame, at_the_end = ("id", "ts", "f3", "f1", "f2"), ("id", "ts", "f1", "f2", "f3")
    assert records[FRAME].catalog == (as_in_frame if writer == OLD else at_the_end)


@every_writer
def test_a_frame_that_lacks_a_column_is_refused_unless_it_may_be_filled_up(
    writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written("fewer", "hudi-cow", writer, writer_for, place)
    assert [each.outcome.kind for each in records].count(OutcomeKind.REFUSED) == 1
    refusal = records[REFUSED].outcome.refusal
    assert refusal is not None
    assert "MissingSchemaFieldException" in refusal.kind
    assert records[REFUSED].files == records[REFUSED - 1].files


@every_writer
def test_files_have_another_order_than_the_catalog_with_the_oldest_writer_alone(
    writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    state = written("reordered", "hudi-cow", writer, writer_for, place)[FRAME]
    made = [each for each in state.files if each.instant == state.outcome.instant]
    orders = {tuple(name for name, _ in each.columns if name in state.catalog) for each in made}
    assert state.catalog == ("id", "ts", "f1", "f2", "f3")
    assert orders == {("id", "ts", "f3", "f1", "f2") if writer == OLD else state.catalog}


@every_writer
@both_formats
def test_the_wider_type_stands_in_the_files(
    name: str, writer: str, writer_for: WriterFor, place: WriteTarget
) -> None:
    records = written("retyped", name, writer, writer_for, place)
    assert {each.outcome.kind for each in records} == {OutcomeKind.APPLIED}
    columns = [dict(each.columns) for each in records[-1].files]
    assert ("int64", "int64") in {(each["n"], each["m"]) for each in columns}

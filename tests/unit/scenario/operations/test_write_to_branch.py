"""A branch that is written to more than once: nobody sees it in the table until it is committed."""

import pytest

from harness.formats import load
from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.past_views import asked
from harness.model.schema import SchemaChangeError, Table
from harness.model.truth import History, Truth, row_values, staged
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import RenameColumn
from harness.scenario.operations.row_writes import Insert
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite, WriteToBranch

TEXT = parse_type("string")
TABLE = Table((("id", TEXT), ("a", TEXT)), "id")
STEPS: tuple[Operation, ...] = (
    Insert((1, 2)),
    BeginWrite(insert=(3,)),
    WriteToBranch(update=(1, 3), insert=(4,)),
    RenameColumn("a", "b"),
    WriteToBranch(delete=(2, 4)),
    CommitWrite(),
)


def history(*operations: Operation) -> History:
    return Scenario("x", TABLE, tuple(map(Step, operations))).truths(merge_on_read=False).history()


def values(truth: Truth) -> dict[Value, Value]:
    return {key: row_values(row, truth.schema)[1] for key, row in truth.rows.items()}


def test_the_table_stays_and_the_branch_has_all_that_was_written_to_it() -> None:
    known = history(*STEPS)
    for step in (2, 3, 4, 5):
        assert values(known[step]) == {"1": "f2s1r1", "2": "f2s1r2"}
    assert values(staged(known[3])) == {"1": "f2s3r1", "2": "f2s1r2", "3": "f2s3r3", "4": "f2s3r4"}
    assert values(staged(known[5])) == {"1": "f2s3r1", "3": "f2s3r3"}
    assert staged(known[5]).schema.names == ("id", "b")


def test_once_committed_the_table_is_what_the_branch_was() -> None:
    known = history(*STEPS)
    assert values(known[6]) == values(staged(known[5]))
    assert not known[6].undone & {2, 3}, "the steps whose rows are in the table now"
    assert known[6].pending is None


def test_the_view_of_the_branch_is_asked_by_the_name_that_its_first_write_gave() -> None:
    view = asked("branch", history(*STEPS[:5]))
    assert view is not None
    assert view[0] == "branch(2)"


def test_rows_alone_are_inserted_and_all_else_is_merged_under_the_name_of_the_branch() -> None:
    known = history(*STEPS[:2], WriteToBranch(insert=(5,)))
    iceberg, settings = load("iceberg"), {"staged_by": "branch"}
    (sent,) = iceberg.wording(WriteToBranch(insert=(5,)), known[2], known[3], settings)
    assert sent.text.startswith("insert into {database}.t.`branch_step-2` select '5'")  # type: ignore[union-attr]
    known = history(*STEPS[:3])
    (sent,) = iceberg.wording(STEPS[2], known[2], known[3], settings)
    assert sent.text.startswith("merge into {database}.t.`branch_step-2` as t using")  # type: ignore[union-attr]


def test_without_a_branch_there_is_nothing_to_write_to() -> None:
    with pytest.raises(SchemaChangeError, match="no write waits in a branch"):
        history(Insert((1,)), WriteToBranch(insert=(2,)))
    scenario = Scenario("x", TABLE, tuple(map(Step, STEPS)))
    iceberg = load("iceberg")
    assert iceberg.unsupported_settings({"staged_by": "id"}, scenario)
    assert not iceberg.unsupported_settings({"staged_by": "branch"}, scenario)

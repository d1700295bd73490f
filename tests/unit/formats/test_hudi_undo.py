"""Undo in Hudi: what is called, about which instant, and what stands on the timeline then."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import formats
from harness.scenario.operations import failed_writes
from harness.scenario.operations.failed_writes import FailedWrite, KilledWrite
from harness.scenario.operations.snapshots import Restore, Rollback, Savepoint
from harness.scenario.statements import ResumeWaiting, Sql, WaitingSql, filled, recorded
from tests.builders.table_story import history

NAMES = (
    *("1.commit", "2.commit", "2.savepoint", "2.savepoint.inflight", "4.restore.requested"),
    *("5.restore", "5.restore.inflight", "7.rollback", "8.rollback.inflight"),
)
"""Of layout 1."""
LATER = ("1_11.commit", "1_12.savepoint", "4_14.restore", "5_15.rollback", "6.rollback.inflight")
"""Of layout 2."""

BEGUN = (
    *("1.deltacommit.requested", "1.deltacommit.inflight", "1.deltacommit"),
    *("2.compaction.requested", "3.inflight", "3.commit.requested", "4.deltacommit.inflight"),
)
BEGUN_LATER = ("1.commit.requested", "1_2.commit", "3.inflight", "4.deltacommit.requested")


def said(steps: str) -> str:
    told = history(steps, mor=True)
    hudi, (before, after) = formats.load("hudi-mor"), told.history[-2:]
    (statement,) = hudi.wording(told.operations[-1], before, after, {})
    return recorded(statement)


def test_each_calls_a_procedure_with_the_instant_of_the_step_that_it_is_about() -> None:
    assert said("insert 1; add q; savepoint") == (
        "call create_savepoint(table => '{database}.t', commit_time => '{instant of step 2}')"
    )
    assert said("insert 1; savepoint; insert 2; restore") == (
        "call rollback_to_savepoint(table => '{database}.t', instant_time => '{instant of step 1}')"
    )
    assert said("insert 1; insert 2; compact; rollback") == (
        "call rollback_to_instant(table => '{database}.t', instant_time => '{instant of step 2}')"
    )


def test_a_write_fails_by_a_validator_that_is_put_back_then() -> None:
    told = history("insert 1; fail 2")
    hudi, (before, after) = formats.load("hudi-cow"), told.history[-2:]
    validator, query, write, *back = hudi.wording(told.operations[-1], before, after, {})
    assert recorded(validator) == f"set {failed_writes.VALIDATORS}={failed_writes.VALIDATOR}"
    assert recorded(query).endswith("select count(*) from <TABLE_NAME>#-1")
    assert recorded(write).startswith("insert into {database}.t select '2'")
    assert all(
        statement.in_any_case and not statement.commits
        for statement in back
        if isinstance(statement, Sql)
    )
    assert len(back) == 2


def test_a_second_writer_waits_before_its_commit_and_is_told_to_go_on() -> None:
    told = history("insert 1; begin update 1; commit")
    hudi, truths = formats.load("hudi-mor"), told.history
    (held,) = hudi.wording(told.operations[1], truths[1], truths[2], {})
    assert isinstance(held, WaitingSql)
    assert held.text.startswith("merge into {database}.t")
    assert dict(held.settings)["hoodie.write.lock.filesystem.path"] == "{location}.held"
    assert hudi.wording(told.operations[2], truths[2], truths[3], {}) == (ResumeWaiting(),)


def test_what_was_begun_and_is_not_completed_is_a_failed_write(tmp_path: Path) -> None:
    for layout, names in enumerate((BEGUN, BEGUN_LATER)):
        folder = tmp_path / str(layout) / (".hoodie/timeline" if layout else ".hoodie")
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).touch()
        found = formats.load("hudi-mor").committed(tmp_path / str(layout), ())
        assert found.begun == ("3", "4")


def test_a_run_fills_in_the_instant_that_the_step_made() -> None:
    assert filled("'{instant of step 2}'", "d", "/l", {2: "77"}) == "'77'"
    assert filled("'{instant of step 2}'", "d", "/l", {2: ""}) == "'{instant of step 2}'"


@pytest.mark.parametrize(
    ("folder", "names", "savepoints", "undone"),
    [(".hoodie", NAMES, ("2",), ("5", "7")), (".hoodie/timeline", LATER, ("1",), ("4", "5"))],
)
def test_the_timeline_tells_savepoints_and_what_was_taken_back(
    tmp_path: Path,
    folder: str,
    names: tuple[str, ...],
    savepoints: tuple[str, ...],
    undone: tuple[str, ...],
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    for name in names:
        (tmp_path / folder / name).touch()
    found = formats.load("hudi-cow").committed(tmp_path, ())
    assert (found.savepoints, found.undone) == (savepoints, undone)


def test_formats_without_savepoints_say_so() -> None:
    for operation in (Savepoint(), Restore(), Rollback(), FailedWrite((1,)), KilledWrite((1,))):
        assert not formats.load("hudi-cow").unsupported(operation)
        assert formats.load("hive-orc").unsupported(operation).startswith("hive-orc has no ")
        if isinstance(operation, KilledWrite):
            continue  # Iceberg has it too
        assert formats.load("iceberg").unsupported(operation).startswith("iceberg has no ")

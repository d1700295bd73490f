"""What became of a step that was answered with an error, by what the table's records say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import OutcomeKind, Refusal
from harness.formats.api import Committed
from harness.runtime.metastore_objects import CatalogEntry
from harness.scenario.statements import Sql, Statement
from harness.write.send_step import (
    APPLIED,
    REFUSED,
    Raised,
    StepResult,
    TableRecords,
    result_of_creation,
    result_of_error,
)

WRITE, SETTING = Sql("insert"), Sql("set a=b", commits=False)
ERROR = Refusal("X", "no")


def records(*writes: str, columns: tuple[str, ...] = ("id",)) -> TableRecords:
    cols = [{"name": column, "type": "string"} for column in columns]
    return TableRecords(Committed(writes), (CatalogEntry("t", {"sd": {"cols": cols}}),))


def raised(statement: Statement, before: TableRecords, *later: Statement) -> Raised:
    return Raised(ERROR, statement, later, before)


BEFORE = records("1")


def test_a_statement_that_failed_after_its_commit_is_applied() -> None:
    assert result_of_error(raised(WRITE, BEFORE), BEFORE, records("1", "2")) == APPLIED


def test_a_statement_that_failed_before_its_commit_is_refused() -> None:
    assert result_of_error(raised(WRITE, BEFORE, WRITE), BEFORE, BEFORE) == REFUSED


def test_a_setting_that_was_not_put_back_takes_nothing_from_a_commit() -> None:
    done = records("1", "2")
    assert result_of_error(raised(WRITE, BEFORE, SETTING), BEFORE, done) == APPLIED
    assert result_of_error(raised(SETTING, done), BEFORE, done) == APPLIED


def test_a_part_of_the_statements_is_unknown() -> None:
    part = StepResult(OutcomeKind.UNKNOWN, "a part of its statements was committed")
    assert result_of_error(raised(WRITE, BEFORE, WRITE), BEFORE, records("1", "2")) == part
    assert result_of_error(raised(WRITE, records("1", "2")), BEFORE, records("1", "2")) == part


def test_a_change_that_the_catalog_alone_has_is_unknown() -> None:
    after = records("1", columns=("id", "n"))
    result = result_of_error(raised(WRITE, BEFORE), BEFORE, after)
    assert result.kind is OutcomeKind.UNKNOWN
    assert result.because.startswith("the catalog has other columns since")


def test_a_schema_change_that_the_catalog_has_not_is_unknown() -> None:
    after = records("1", "2")
    result = result_of_error(raised(WRITE, BEFORE), BEFORE, after, schema=True)
    assert result.kind is OutcomeKind.UNKNOWN
    assert result.because.endswith("and the catalog has not")
    table_records = records("1", "2", columns=("id", "n"))
    assert result_of_error(raised(WRITE, BEFORE), BEFORE, table_records, schema=True) == APPLIED


@pytest.mark.parametrize("at", ["before", "statement", "after"])
def test_records_that_contradict_each_other_leave_it_unknown(at: str) -> None:
    unclear = TableRecords(unclear="two files claim to be the newest")
    of = {
        setting: unclear if setting == at else BEFORE
        for setting in ("before", "statement", "after")
    }
    result = result_of_error(raised(WRITE, of["statement"]), of["before"], of["after"])
    assert result == StepResult(OutcomeKind.UNKNOWN, "two files claim to be the newest")


def test_a_table_is_created_once_the_catalog_has_it() -> None:
    assert result_of_creation(replace(BEFORE, entries=()), "") == REFUSED
    assert result_of_creation(BEFORE, "") == APPLIED
    result = result_of_creation(BEFORE, "there is no table in the folder")
    assert result.because == "the catalog has the table, and there is no table in the folder"

from __future__ import annotations

from dataclasses import replace

from harness.comparison.result import ComparedSide, Decision, SideComparison, compare
from harness.core.records import FindingKind, VerdictKind
from harness.reports import upgrade_report
from harness.reports.markdown import markdown
from harness.usage.usage_file import (
    VERSION,
    OldFiles,
    SchemaChange,
    Usage,
    UsedChange,
    UsedFormat,
    UsedTable,
)
from tests.builders.verdicts import finding, run, verdict

RIGHT, WRONG = VerdictKind.CORRECT, VerdictKind.WRONG
RENAME = finding(FindingKind.MISSING_RENAME, ("1", "f1_new", None))
RENAMED = UsedChange(SchemaChange.RENAME, "a", "b", old_files=OldFiles.YES)
MINE = UsedTable("sales.renamed", UsedFormat.HUDI_COW, schema_changes=(RENAMED,))
PLAIN = UsedTable("sales.plain", UsedFormat.HUDI_COW)
"""The variant of these verdicts is hudi-cow, and it is renamed in step 2."""


def compared(*tables: UsedTable, worse: bool = True) -> SideComparison:
    old = run(verdict(RIGHT, step=1), verdict(RIGHT, step=2))
    turned = verdict(WRONG, RENAME, step=2) if worse else verdict(RIGHT, step=2)
    new = run(verdict(RIGHT, step=1), turned)
    result = compare(ComparedSide("old", old), ComparedSide("new", new))
    return replace(result, usage=Usage(VERSION, "thrift://m:9083", "2026-11-26", tables))


def test_a_cause_that_a_table_can_meet_counts_and_names_the_table() -> None:
    result = compared(MINE, PLAIN)
    assert result.decision is Decision.DO_NOT
    assert result.status == 1
    (cause,) = result.relevant
    assert result.affected[cause.key].tables == ("sales.renamed",)
    assert "which 1 of your 2 tables can meet" in upgrade_report.headline(result)


def test_a_cause_that_no_table_can_meet_does_not_count() -> None:
    result = compared(PLAIN)
    assert result.relevant == ()
    assert len(result.irrelevant) == 1
    assert result.decision is Decision.NOTHING_CHANGES
    assert result.status == 0
    assert upgrade_report.headline(result).startswith("Nothing that your tables use changes")


def test_a_table_of_a_format_that_was_not_asked_about_is_no_pass() -> None:
    result = compared(PLAIN, UsedTable("sales.delta", UsedFormat.DELTA))
    assert result.decision is Decision.NOT_KNOWN
    assert result.status == 3
    assert "1 table of yours" in upgrade_report.headline(result)
    line = "1 table: no question was about delta tables (sales.delta)"
    assert line in markdown(upgrade_report.users_tables(result))


def test_a_change_or_version_that_was_not_asked_about_is_no_pass() -> None:
    moved = UsedChange(SchemaChange.MOVE, "a", old_files=OldFiles.YES)
    tables = (
        replace(PLAIN, schema_changes=(moved,)),
        replace(PLAIN, name="v", table_version="5"),
        replace(PLAIN, name="gone", unread="no such folder"),
    )
    result = compared(*tables, worse=False)
    assert set(result.not_covered) == {"sales.plain", "v", "gone"}
    assert result.status == 3


def test_a_database_whose_tables_nobody_saw_is_no_pass() -> None:
    result = compared(PLAIN, worse=False)
    assert result.usage
    unlisted = replace(result, usage=replace(result.usage, unlisted={"secret": "no right"}))
    assert unlisted.not_covered == {"secret.*": "they were not listed: no right"}
    assert unlisted.status == 3


def test_what_is_wrong_today_names_the_tables_that_meet_it() -> None:
    old = run(verdict(RIGHT, step=1), verdict(WRONG, RENAME, step=2))
    same = compare(ComparedSide("old", old), ComparedSide("new", old))
    result = replace(same, usage=Usage(VERSION, "", "", (MINE, PLAIN)))
    text = markdown(upgrade_report.users_tables(result))
    assert r"missing rename since rename\_column" in text
    assert "1 table of yours can meet it: sales.renamed" in text

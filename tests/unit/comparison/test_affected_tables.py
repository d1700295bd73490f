from collections.abc import Sequence
from dataclasses import replace

from harness.comparison.result import ComparedSide, Decision, SideComparison, compare
from harness.core.records import FindingKind, Outcome, OutcomeKind, StateRecord, VerdictKind
from harness.model.datatypes import Primitive
from harness.reports import upgrade_report
from harness.reports.markdown import markdown
from harness.scenario.cells import Variant
from harness.scenario.operations.columns import AddColumn
from harness.usage.usage_file import (
    VERSION,
    OldFiles,
    SchemaChange,
    Usage,
    UsedChange,
    UsedFormat,
    UsedTable,
)
from tests.builders.scenarios import scenario_of
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


def test_a_format_that_no_side_has_is_no_matter_and_one_that_a_side_lacks_has_no_command() -> None:
    result = replace(compared(PLAIN, UsedTable("sales.delta", UsedFormat.DELTA)), command="c")
    assert replace(result, lacking={"delta": ""}).not_covered == {}
    lost = replace(result, lacking={"delta": "new has no reader for delta tables"})
    assert lost.not_covered == {"sales.delta": "new has no reader for delta tables"}
    assert lost.status == 3
    assert "c --format" in markdown(upgrade_report.document(result))
    assert "c --format" not in markdown(upgrade_report.document(lost))


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


def test_tables_by_merge_on_read_are_not_covered_by_copy_on_write() -> None:
    asked = [of_iceberg("cow", {"delete_mode": "copy-on-write"})]
    mine = UsedTable("d.t", UsedFormat.ICEBERG, features=("merge-on-read", "position-deletes"))
    result = replace(of_tables(asked, mine), command="harness upgrade --from old --to new")
    why = "no question was about iceberg tables with merge-on-read and position-deletes"
    assert result.not_covered == {"d.t": why}
    ask = "harness upgrade --from old --to new --format iceberg --setting delete_mode=merge-on-read"
    assert ask in markdown(upgrade_report.users_tables(result))
    both = [*asked, of_iceberg("mor", {"delete_mode": "merge-on-read"})]
    assert not of_tables(both, mine).not_covered


def test_a_table_of_another_version_is_asked_about_by_what_is_typed() -> None:
    asked = [of_iceberg("v2", {"format_version": "2"})]
    vectors = UsedTable(
        "d.t", UsedFormat.ICEBERG, table_version="3", features=("deletion-vectors",)
    )
    (reason,) = of_tables(asked, vectors, version="2").not_asked.values()
    assert reason.options == (
        "--format iceberg",
        "--setting format_version=3",
        "--setting delete_mode=merge-on-read",
    )


def test_defaults_of_columns_are_asked_about_where_a_step_gives_one() -> None:
    mine = UsedTable("d.t", UsedFormat.ICEBERG, features=("column-defaults",))
    plain, given = of_iceberg("plain", {}), of_iceberg("given", {}, default="x")
    result = of_tables([plain], mine)
    assert result.not_covered == {"d.t": "no question was about column-defaults"}
    file = {("iceberg", "column-defaults"): "scenarios/evolution/column_defaults.yaml"}
    named = replace(result, command="harness upgrade", files=file)
    ask = "harness upgrade --format iceberg scenarios/evolution/column_defaults.yaml"
    assert ask in markdown(upgrade_report.users_tables(named))
    assert not of_tables([plain, given], mine).not_covered


def test_a_table_without_a_default_cannot_lose_one() -> None:
    added = UsedChange(SchemaChange.ADD, "a", old_files=OldFiles.YES)
    plain = UsedTable("d.plain", UsedFormat.ICEBERG, schema_changes=(added,))
    given = replace(plain, name="d.given", features=("column-defaults",))
    result = of_tables([of_iceberg("v", {}, default="x")], plain, given, turned="v")
    (cause,) = result.regressions
    assert result.affected[cause.key].tables == ("d.given",)


def test_what_is_so_by_one_way_of_deletes_alone_no_other_table_can_meet() -> None:
    added = UsedChange(SchemaChange.ADD, "a", old_files=OldFiles.YES)
    cow = UsedTable("d.cow", UsedFormat.ICEBERG, schema_changes=(added,))
    mor = replace(cow, name="d.mor", features=("merge-on-read",))
    pair = [of_iceberg(mode, {"delete_mode": mode}) for mode in ("copy-on-write", "merge-on-read")]
    result = of_tables(pair, cow, mor, turned="merge-on-read")
    (cause,) = result.regressions
    assert result.affected[cause.key].tables == ("d.mor",)
    alone = of_tables(pair[1:], cow, mor, turned="merge-on-read")
    assert alone.affected[cause.key].tables == ("d.cow", "d.mor"), "nothing was asked beside it"


def of_iceberg(name: str, settings: dict[str, str], *, default: str | None = None) -> Variant:
    scenario = scenario_of(AddColumn("a", Primitive("string"), default=default))
    return Variant(name, scenario, "iceberg", settings, ("w", "w"))


def of_tables(
    variants: Sequence[Variant], *tables: UsedTable, turned: str = "", version: str = ""
) -> SideComparison:
    """Compare answers about such tables after one step, which turn wrong of the one named."""
    lost = finding(FindingKind.LOST_VALUE, ("1", "a", None))
    old = [verdict(RIGHT, step=1, variant=v) for v in variants]
    new = [
        verdict(WRONG, lost, step=1, variant=v) if v.id == turned else right
        for v, right in zip(variants, old, strict=True)
    ]
    outcome = Outcome(1, OutcomeKind.APPLIED)
    states = [StateRecord(v.id, outcome, v.id, table_version=version) for v in variants]
    runs = [run(*some, states=states, variants=tuple(variants)) for some in (old, new)]
    result = compare(ComparedSide("old", runs[0]), ComparedSide("new", runs[1]))
    return replace(result, usage=Usage(VERSION, "", "", tables))


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

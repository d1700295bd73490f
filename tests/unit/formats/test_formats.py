"""What the formats say: creation, wording, views."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from harness import formats
from harness.core.errors import UsageProblem
from harness.model.commit import Moment
from harness.model.datatypes import parse_type
from harness.model.file_facts import FileFact, FileKind
from harness.model.table import Table
from harness.scenario import expected_history
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.columns import AddColumn, DropColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert, Rewrites, Touch, Update
from harness.scenario.operations.services import Archive, Clean, Cluster, Compact, SetTableVersion
from harness.scenario.statements import SetColumns, Sql, filled, recorded

COLUMNS = {"id": "int", "ts": "long", "a": "string", "p": "string"}


def table(*, partitioned: bool = False) -> Table:
    columns = tuple((name, parse_type(text)) for name, text in COLUMNS.items())
    return Table(columns, "id", "ts", ("p",) if partitioned else ())


def wording(
    name: str,
    *operations: Operation,
    partitioned: bool = False,
    settings: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the statements of the last operation."""
    scenario = Scenario("x", table(partitioned=partitioned), tuple(map(Step, operations)))
    done = [True] * len(operations)
    history = expected_history.history(scenario, merge_on_read=False, applied=done)
    said = formats.load(name).wording(operations[-1], history[-2], history[-1], settings or {})
    return [recorded(statement) for statement in said]


def created(name: str, *, partitioned: bool = False, **settings: str) -> str:
    (statement,) = formats.load(name).create(table(partitioned=partitioned), settings)
    return recorded(statement)


def test_every_family_has_a_folder_whose_formats_bear_its_name() -> None:
    families = {path.parent.name for path in Path(formats.__file__).parent.glob("*/format.py")}
    names = [name.replace("-", "_") for name in formats.names()]
    assert families
    assert all(any(name.startswith(family) for name in names) for family in families)
    assert [formats.load(name).NAME for name in formats.names()] == list(formats.names())


def test_an_unknown_format_is_refused_with_the_names_that_are_known() -> None:
    with pytest.raises(
        UsageProblem, match=r"'hudi'; did .*\? allowed: delta, hive-acid, hive-avro, hive-orc"
    ):
        formats.load("hudi")


def test_the_format_that_engines_know_by_its_orc_files_is_the_one_that_has_them() -> None:
    assert [name for name in formats.names() if "stored as orc" in created(name)] == [
        name for name in formats.names() if formats.facts(name).files == "orc"
    ]


def test_merge_on_read_has_an_entry_for_each_of_its_views() -> None:
    mor = formats.load("hudi-mor")
    assert {view: mor.table_for(view) for view in mor.views} == {
        "snapshot": "t_rt",
        "read_optimized": "t_ro",
        "base_name": "t",
    }
    assert formats.load("hudi-cow").views == formats.load("hive-parquet").views == ("snapshot",)


def test_a_hudi_table_is_created_with_type_key_and_ordering_column() -> None:
    assert created("hudi-mor") == (
        "create table {database}.t (`id` int, `ts` bigint, `a` string, `p` string) using hudi "
        "location '{location}' "
        "tblproperties ('type' = 'mor', 'primaryKey' = 'id', 'preCombineField' = 'ts')"
    )


def test_the_table_version_is_a_property_of_the_table() -> None:
    assert "'hoodie.write.table.version' = '6'" in created("hudi-cow", table_version="6")
    assert "hoodie.write.table.version" not in created("hudi-cow")


def test_partition_columns_are_named_by_hudi_and_stand_apart_in_hive() -> None:
    assert "`p` string) using hudi partitioned by (`p`)" in created("hudi-cow", partitioned=True)
    assert "`a` string) partitioned by (`p` string)" in created("hive-parquet", partitioned=True)


@pytest.mark.parametrize("name", ["hive-parquet", "hive-orc"])
def test_the_metastore_has_one_type_of_timestamps_and_a_setting_says_which_is_meant(
    name: str,
) -> None:
    columns = (("id", parse_type("int")), ("at", parse_type("map<string, timestamp_ntz>")))
    (made,) = formats.load(name).create(Table(columns, "id"), {})
    assert "(`id` int, `at` map<string, timestamp>) stored as" in recorded(made)
    added = AddColumn("b", parse_type("struct<at: timestamp_ntz>"))
    change, _ = wording(name, added)
    assert '["b", "struct<at:timestamp>"]' in change
    before, said, after = wording(name, added, Insert((1,)))
    assert before == "set spark.sql.timestampType=TIMESTAMP_NTZ"
    assert "as timestamp_ntz)" in said
    assert after == "set spark.sql.timestampType=TIMESTAMP_LTZ"  # the next step may need another
    (alone,) = wording(name, added, Insert((1,)), DropColumn("b"), Insert((2,)))
    assert alone.startswith("insert into")


def test_a_table_that_is_not_where_it_was_to_be_is_told(tmp_path: Path) -> None:
    assert "there is no table in the folder" in formats.load("hudi-mor").creation_problem(
        tmp_path, {}
    )


def test_another_table_version_than_was_asked_for_is_told(tmp_path: Path) -> None:
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties").write_text("hoodie.table.version=6\n")
    cow = formats.load("hudi-cow")
    assert cow.creation_problem(tmp_path, {"table_version": "6"}) == ""
    assert cow.creation_problem(tmp_path, {}) == ""
    assert "version 8 was asked for, the writer made version 6" in cow.creation_problem(
        tmp_path, {"table_version": "8"}
    )


def test_a_compaction_takes_in_what_was_completed_when_it_was_requested(tmp_path: Path) -> None:
    folder = tmp_path / ".hoodie" / "timeline"
    folder.mkdir(parents=True)
    for name in ("100_110.deltacommit", "200_400.deltacommit", "300_500.commit"):
        (folder / name).touch()
    mor = formats.load("hudi-mor")
    assert mor.instants_before(tmp_path, "300") == ("100",)
    assert mor.instants(tmp_path) == ("100", "200", "300")


def test_a_write_of_hudi_is_told_with_its_completion_and_the_next_one(tmp_path: Path) -> None:
    folder = tmp_path / ".hoodie" / "timeline"
    folder.mkdir(parents=True)
    for name in ("100_110.commit", "200_400.commit", "300_350.commit"):
        (folder / name).touch()
    cow = formats.load("hudi-cow")
    assert cow.moment(tmp_path, "100") == Moment("100", "110", "350")
    assert cow.moment(tmp_path, "200") == Moment("200", "400", "")
    with pytest.raises(KeyError):
        formats.load("hive-parquet").moment(tmp_path, "100")


def test_the_past_is_asked_for_where_the_newest_rows_are() -> None:
    mor = formats.load("hudi-mor")
    assert {mor.table_for(view) for view in mor.past_views} == {"t_rt"}
    assert formats.load("iceberg").past_views == ("as_of", "tag", "branch")
    assert formats.load("hive-parquet").past_views == ()


def test_what_a_hudi_variant_asks_for_is_told_to_the_session_or_the_table() -> None:
    mor = formats.load("hudi-mor")
    asked = {"metadata_table": "on", "auto_upgrade": "off", "meta_fields": "omitted"}
    told = mor.session(asked, {})
    assert told["hoodie.metadata.enable"] == "true"
    assert told["hoodie.write.auto.upgrade"] == "false"
    assert told["hoodie.datasource.hive_sync.omit_metadata_fields"] == "true"
    assert "hoodie.write.auto.upgrade" not in mor.session({}, {})
    assert "'hoodie.populate.meta.fields' = 'false'" in created("hudi-mor", meta_fields="none")


def test_common_sql_is_said_about_the_table_of_the_database() -> None:
    (said,) = wording("hudi-cow", RenameColumn("a", "b"))
    assert said == "alter table {database}.t rename column `a` to `b`"


def test_compaction_runs_what_pends_then_the_rest_and_nothing_on_copy_on_write() -> None:
    assert wording("hudi-cow", Compact()) == []
    assert wording("hudi-mor", Compact()) == [
        "call run_compaction(op => 'execute', table => '{database}.t')",
        "call run_compaction(op => 'run', table => '{database}.t')",
    ]


def test_a_compaction_is_scheduled_where_log_files_can_wait_for_it() -> None:
    later = Compact(ServiceMode.SCHEDULE)
    assert wording("hudi-mor", later) == [
        "call run_compaction(op => 'schedule', table => '{database}.t')"
    ]
    refused = {name: formats.load(name).unsupported(later) for name in formats.names()}
    assert refused.pop("hudi-mor") == ""
    assert all(refused.values()), refused
    assert formats.load("hudi-cow").unsupported(Compact()) == ""


def test_a_clustering_carries_out_what_waits_then_clusters_the_rest() -> None:
    for name in ("hudi-cow", "hudi-mor"):
        assert wording(name, Cluster()) == [
            "call run_clustering(op => 'execute', table => '{database}.t')",
            "call run_clustering(op => 'scheduleAndExecute', table => '{database}.t')",
        ]
        assert wording(name, Cluster(ServiceMode.SCHEDULE)) == [
            "call run_clustering(op => 'schedule', table => '{database}.t')"
        ]
    for name in formats.names():
        cannot = formats.load(name).unsupported
        hudi = name.startswith("hudi")
        possible = [hudi or name == "delta", hudi]  # Delta plans nothing for later
        assert [
            not cannot(cluster) for cluster in (Cluster(), Cluster(ServiceMode.SCHEDULE))
        ] == possible


def test_old_files_are_cleaned_away_and_old_commits_archived_where_the_format_has_it() -> None:
    (cleaned,), (archived,) = wording("hudi-cow", Clean()), wording("hudi-mor", Archive())
    assert "call run_clean(table => '{database}.t'" in cleaned
    assert "KEEP_LATEST_FILE_VERSIONS" in cleaned
    assert "archive_commits(table => '{database}.t', enable_metadata => false, min_" in archived
    for name in formats.names():
        cannot = formats.load(name).unsupported
        hudi = name.startswith("hudi")
        possible = [hudi or name in {"iceberg", "delta"}, hudi]
        assert [not cannot(clean) for clean in (Clean(), Archive())] == possible


def test_an_archiving_is_missed_where_there_are_many_commits(tmp_path: Path) -> None:
    (tmp_path / ".hoodie").mkdir()
    cow = formats.load("hudi-cow")
    for count, told in ((3, ""), (2, "no commit was archived, but 2 are too many")):
        for at in range(count):
            (tmp_path / ".hoodie" / f"{count}{at}.commit").touch()
        assert cow.missing_effect(tmp_path, Archive(), ()) == told


def test_a_clustering_is_missed_where_a_partition_has_several_file_groups(tmp_path: Path) -> None:
    def left(*paths: str) -> str:
        facts = [FileFact(path, FileKind.BASE, path[-1], "100", ()) for path in paths]
        return formats.load("hudi-cow").missing_effect(tmp_path, Cluster(), facts)

    assert left() == left("p=1/a", "p=2/b") == ""
    assert left("p=1/a", "p=1/b", "p=2/c") == (
        "no clustering is on the timeline, but 2 file groups share a partition"
    )


def test_the_table_version_is_set_where_the_format_counts_them_so() -> None:
    assert wording("hudi-cow", SetTableVersion(6)) == [
        "call downgrade_table(table => '{database}.t', to_version => 'SIX')"
    ]
    for name in ("hudi-cow", "hudi-mor"):
        cannot = formats.load(name).unsupported
        assert [cannot(SetTableVersion(literal)) for literal in (6, 8, 9)] == [""] * 3
        assert cannot(SetTableVersion(7)) == f"{name} has no table version 7; allowed: 6, 8, 9"
    for name in ("hive-parquet", "hive-orc", "iceberg"):
        assert formats.load(name).unsupported(SetTableVersion(6)), name


def test_a_schema_change_of_a_hive_table_is_told_to_the_metastore_alone() -> None:
    change, refresh = wording("hive-parquet", AddColumn("n", parse_type("long"), after="id"))
    assert '[["id", "int"], ["n", "bigint"], ["ts", "bigint"]' in change
    assert refresh == "refresh table {database}.t"


def test_partition_columns_are_not_set_and_partitions_follow() -> None:
    change, _ = wording("hive-parquet", RenameColumn("a", "b"), partitioned=True)
    assert '"p"' not in change
    assert change.endswith("and of partitions")


def test_a_hive_table_cannot_change_rows_that_are_there() -> None:
    hive = formats.load("hive-parquet")
    assert hive.unsupported(Update(keys=(1,), set=("a",))) == "hive-parquet has no update"
    assert "no file groups" in hive.unsupported(Touch(Rewrites.ALL))
    assert hive.unsupported(Touch(Rewrites.NONE)) == hive.unsupported(Insert(keys=(1,))) == ""


def test_plain_hive_tables_differ_in_what_their_files_are_and_need() -> None:
    ours, other = (created(name, partitioned=True) for name in ("hive-parquet", "hive-orc"))
    assert ours.replace("stored as parquet", "stored as orc") == other != ours
    needs = formats.load("hive-parquet").session({}, {}).items()
    assert needs - formats.load("hive-orc").session({}, {}).items() == {
        ("spark.sql.parquet.writeLegacyFormat", "true")
    }


@pytest.mark.parametrize("name", ["hive-parquet", "hive-orc"])
def test_the_facts_of_a_plain_table_come_from_files_of_its_own_kind(
    name: str, tmp_path: Path
) -> None:
    job = "8b6c2d50-5a5e-4b0e-9d0b-0123456789ab"
    write = orc.write_table if name == "hive-orc" else parquet.write_table
    write(pa.table({"f1": ["x"], "id": [3]}), tmp_path / f"part-00000-{job}-c000")
    (tmp_path / "_SUCCESS").touch()
    (fact,) = formats.load(name).facts(tmp_path, "id")
    assert (fact.instant, fact.keys) == (job, ("3",))
    assert fact.columns == (("f1", "string"), ("id", "int64"))


def test_avro_files_of_a_plain_table_tell_their_columns(tmp_path: Path) -> None:
    job = "8b6c2d50-5a5e-4b0e-9d0b-0123456789ab"
    named = [("f1", ["null", "string"]), ("id", "long")]
    fields = [{"name": name, "type": type_} for name, type_ in named]
    with (tmp_path / f"part-00000-{job}-c000").open("wb") as file:
        fastavro.writer(
            file, {"type": "record", "name": "r", "fields": fields}, [{"f1": "x", "id": 3}]
        )
    (fact,) = formats.load("hive-avro").facts(tmp_path, "id")
    assert (fact.instant, fact.keys) == (job, ("3",))
    assert [name for name, _ in fact.columns] == ["f1", "id"]


def test_the_metadata_table_is_off_unless_the_variant_says_otherwise() -> None:
    cow = formats.load("hudi-cow")
    assert cow.session({}, {})["hoodie.metadata.enable"] == "false"
    assert cow.session({"metadata_table": "on"}, {})["hoodie.metadata.enable"] == "true"


def test_placeholders_are_filled_and_a_quote_in_a_path_ends_no_literal() -> None:
    text = "create table {database}.t (a int) location '{location}'"
    assert filled(text, "db", "/x/it's") == "create table db.t (a int) location '/x/it\\'s'"


def test_the_order_of_columns_set_in_the_metastore_is_recorded() -> None:
    one = SetColumns((("a", "int"), ("B", "string")), cascade=False)
    assert recorded(one) == 'metastore: set columns [["a", "int"], ["B", "string"]]'
    assert recorded(Sql("select 1")) == "select 1"

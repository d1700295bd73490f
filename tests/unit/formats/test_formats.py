import re
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from harness import formats
from harness.core.errors import UsageProblem
from harness.model.datatypes import VARIANT, parse_type
from harness.scenario.definition import PAST_VIEWS, Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import AddColumn, AddPartitionField
from harness.scenario.operations.merge import Mutate
from harness.scenario.operations.row_writes import (
    Delete,
    Insert,
    LateUpsert,
    MoveRow,
    Rewrites,
    Touch,
    Update,
    Upsert,
)
from harness.scenario.operations.services import SetTableVersion
from harness.scenario.operations.unfinished_writes import BeginWrite
from tests.builders.format_statements import COLUMNS, created, table_of

ADD = AddColumn("n", parse_type("long"))
ADD_VARIANT = AddColumn("v", VARIANT)
ONE, TWO = Insert((1,)), Insert((1, 3))
MANY = Insert(tuple(range(1, 102)))
ESCAPED = Insert(rows=({"id": 1, "p": "a=b"},))
JOB = "8b6c2d50-5a5e-4b0e-9d0b-0123456789ab"


def refused(
    name: str, *operations: Operation, by: str = "", written_by: str = "", **settings: str
) -> str:
    steps = tuple(Step(operation, by=written_by) for operation in operations)
    table = table_of(COLUMNS, tuple(by.split()))
    return formats.load(name).unsupported_settings(settings, Scenario("x", table, steps))


def test_every_family_has_a_folder_whose_formats_bear_its_name() -> None:
    families = {path.parent.name for path in Path(formats.__file__).parent.glob("*/format.py")}
    names = [name.replace("-", "_") for name in formats.names()]
    assert families
    assert all(any(name.startswith(family) for name in names) for family in families)
    assert [formats.load(name).NAME for name in formats.names()] == list(formats.names())


def test_an_unknown_format_is_refused_with_the_names_that_are_known() -> None:
    known = r"'hudi'; did .*\? allowed: delta, hive-acid, hive-avro, hive-orc"
    with pytest.raises(UsageProblem, match=known):
        formats.load("hudi")


def test_the_format_that_engines_know_by_its_orc_files_is_the_one_that_has_them() -> None:
    assert [name for name in formats.names() if "stored as orc" in created(name)] == [
        name for name in formats.names() if formats.facts(name).files == "orc"
    ]


@pytest.mark.parametrize(
    ("name", "entries", "past"),
    [
        (
            "hudi-mor",
            {"snapshot": "t_rt", "read_optimized": "t_ro", "base_name": "t"},
            dict.fromkeys(PAST_VIEWS, "t_rt"),
        ),
        ("hudi-cow", {"snapshot": "t"}, dict.fromkeys(PAST_VIEWS, "t")),
        ("iceberg", {"snapshot": "t"}, {"as_of": "t", "tag": "t", "branch": "t"}),
        ("hive-parquet", {"snapshot": "t"}, {}),
    ],
)
def test_each_view_is_answered_by_an_entry_of_the_catalog(
    name: str, entries: dict[str, str], past: dict[str, str]
) -> None:
    format_ = formats.load(name)
    assert {view: format_.table_for(view) for view in format_.views} == entries
    assert {view: format_.table_for(view) for view in format_.past_views} == past


@pytest.mark.parametrize(
    ("name", "operation", "why"),
    [
        ("hive-parquet", Touch(Rewrites.ALL), "a plain Hive table has no file groups"),
        ("hive-parquet", Update((1,), ("a",)), "hive-parquet has no update"),
        ("hudi-cow", SetTableVersion(7), "hudi-cow has no table version 7; allowed: 6, 8, 9"),
        ("iceberg", LateUpsert((1,)), "iceberg orders no versions of a row: the last write stands"),
        ("iceberg", MoveRow(1, 2), "iceberg has no index"),
        ("iceberg", Mutate((1,)), "iceberg has no mutate, which is Hive ACID's alone"),
        ("iceberg", SetTableVersion(2), "can be brought to version 3, and no other"),
    ],
)
def test_a_format_says_why_it_does_not_have_an_operation(
    name: str, operation: Operation, why: str
) -> None:
    assert why in formats.load(name).unsupported(operation)


@pytest.mark.parametrize(
    ("name", "steps", "by", "setting", "why"),
    [
        ("delta", [ONE], "", "column_mapping=later", "there is no second step"),
        ("hive-orc", [ADD], "", "cascade=off", "the table has no partitions"),
        ("hive-orc", [MANY], "", "row_groups=small", "1,024 rows at a time"),
        ("hive-orc", [TWO], "p", "cascade=off", "no step changes the columns"),
        ("hive-parquet", [ONE], "", "row_groups=small", "every file .* has one row"),
        ("hudi-cow", [TWO], "", "index=global_bloom", "so it would be index=bloom"),
        ("hudi-cow", [TWO], "", "index=record_level", "metadata_table is off"),
        ("hudi-cow", [TWO], "", "row_groups=small", "100 rows of a file; .* this table has 2"),
        ("hudi-cow", [TWO], "", "schema_changes=write_client", "no step changes the columns"),
        ("hudi-mor", [TWO], "", "encoded_partitions=on", "the table has no partitions"),
        ("hudi-mor", [TWO], "p", "encoded_partitions=on", "no value of a partition has"),
        ("hudi-mor", [Upsert((1,))], "", "insert_operation=insert", "no step is an insert"),
        ("iceberg", [AddPartitionField("a"), Delete((1,))], "", "delete_mode=equality", "without"),
        ("iceberg", [Delete((1,))], "p", "delete_mode=equality", "tables without partitions"),
        ("iceberg", [ONE], "", "delete_mode=equality", "no step deletes rows"),
        ("iceberg", [ONE], "", "row_groups=small", "every file .* has one row"),
        ("iceberg", [ADD_VARIANT], "", "format_version=2", "with such a type has version 3"),
        ("hudi-cow", [ONE], "", "index=consistent_bucket", "only merge-on-read tables"),
        ("iceberg", [ONE], "", "staged_by=branch", "no step begins a write"),
        ("iceberg", [ONE], "id", "created_by=migrate", "behind all others"),
        ("iceberg", [Upsert((1,))], "", "created_by=migrate", "the first step does not insert"),
    ],
)
def test_a_setting_that_a_table_cannot_have_is_refused_with_the_reason(
    name: str, steps: list[Operation], by: str, setting: str, why: str
) -> None:
    key, value = setting.split("=")
    problem = refused(name, *steps, by=by, **{key: value})
    assert problem.startswith(key)
    assert re.search(why, problem)


@pytest.mark.parametrize(
    ("name", "steps", "by", "settings"),
    [
        ("hive-orc", [ADD], "p", {"cascade": "off"}),
        ("hive-parquet", [TWO], "", {"row_groups": "small"}),
        ("hudi-cow", [MANY], "", {"row_groups": "small"}),
        ("hudi-cow", [TWO], "", {"index": "record_level", "metadata_table": "on"}),
        ("hudi-cow", [TWO], "p", {"index": "global_simple", "partition_columns": "dropped"}),
        ("hudi-mor", [ESCAPED], "p", {"encoded_partitions": "on"}),
        ("hudi-mor", [TWO], "", {"insert_operation": "bulk_insert"}),
        ("hudi-mor", [TWO], "", {"index": "consistent_bucket"}),
        ("iceberg", [BeginWrite(insert=(3,))], "", {"staged_by": "branch"}),
        ("iceberg", [Delete((1,))], "", {"delete_mode": "equality"}),
        ("iceberg", [ONE], "p", {"created_by": "migrate"}),
        ("iceberg", [TWO], "", {"row_groups": "small"}),
    ],
)
def test_a_setting_is_not_refused_where_the_table_can_have_it(
    name: str, steps: list[Operation], by: str, settings: dict[str, str]
) -> None:
    assert refused(name, *steps, by=by, **settings) == ""
    usual = {key: formats.load(name).settings[key][0] for key in settings}
    assert name == "iceberg" or refused(name, *steps, **usual) == ""


@pytest.mark.parametrize(
    ("writer", "created_by", "can"),
    [
        ("trino-476", "migrate", True),
        ("trino-476", "snapshot", False),
        ("hive-3.1.3-iceberg-1.4.3", "migrate", False),
    ],
)
def test_of_other_writers_trino_alone_migrates(writer: str, created_by: str, *, can: bool) -> None:
    why = refused("iceberg", ONE, written_by=writer, created_by=created_by)
    assert (why == "") is can


@pytest.mark.parametrize(
    "setting", ["column_drops", "index", "metadata_table", "record_merger", "row_groups"]
)
def test_every_value_of_a_setting_changes_the_session(setting: str) -> None:
    hudi = formats.load("hudi-cow")
    sessions = [
        frozenset(hudi.session({setting: value}, {"spark_merger": "a.Merger"}).items())
        for value in hudi.settings[setting]
    ]
    assert len(set(sessions)) == len(sessions)


def test_a_session_waits_a_short_time_for_a_lock_only_if_it_is_to() -> None:
    acid = formats.load("hive-acid")
    usual, short = (acid.session({"lock_wait": value}, {}) for value in ("usual", "short"))
    assert usual == acid.session({}, {})
    assert short.items() > usual.items()


@pytest.mark.parametrize("kind", ["avro", "orc", "parquet"])
def test_the_facts_of_a_plain_table_come_from_files_of_its_kind(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"part-00000-{JOB}-c000"
    if kind == "avro":
        fields = [{"name": "f1", "type": ["null", "string"]}, {"name": "id", "type": "long"}]
        schema = {"type": "record", "name": "r", "fields": fields}
        with path.open("wb") as file:
            fastavro.writer(file, schema, [{"f1": "x", "id": 3}])
    else:
        write = orc.write_table if kind == "orc" else parquet.write_table
        write(pa.table({"f1": ["x"], "id": [3]}), path)
    (tmp_path / "_SUCCESS").touch()
    (fact,) = formats.load(f"hive-{kind}").facts(tmp_path, "id")
    assert (fact.instant, fact.keys) == (JOB, ("3",))
    assert [name for name, _ in fact.columns] == ["f1", "id"]


def test_only_icebergs_timestamptz_is_written_as_a_timestamp_with_a_zone() -> None:
    iceberg = formats.load("iceberg")
    written = [
        iceberg.session(settings, {})["spark.sql.timestampType"]
        for settings in ({}, {"moments": "timestamp"}, {"moments": "timestamptz"})
    ]
    assert written == ["TIMESTAMP_NTZ", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"]

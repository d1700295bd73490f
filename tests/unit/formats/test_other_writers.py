from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from harness import formats
from harness.artifacts import distributions
from harness.core.errors import ScenarioProblem
from harness.formats import other_writers
from harness.formats.hive.format import SESSION
from harness.model.datatypes import parse_type
from harness.model.schema import SchemaChangeError
from harness.plan import Profile, Writer, distribution_support, plan
from harness.scenario.definition import Scenario
from harness.scenario.dump import dump
from harness.scenario.load import loads
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import (
    AddColumn,
    ChangeType,
    DropColumn,
    MoveColumn,
    RenameColumn,
)
from harness.scenario.operations.merge import Merge
from harness.scenario.operations.row_writes import (
    Delete,
    DeleteWhere,
    Insert,
    Truncate,
    Update,
    Upsert,
)
from harness.scenario.operations.services import Checkpoint, Compact
from harness.scenario.operations.snapshots import Restore, Savepoint
from harness.scenario.operations.unfinished_writes import BeginWrite, CommitWrite
from harness.scenario.statements import recorded
from tests.builders.scenarios import scenario_of

TRINO, HIVE = "trino-476", "hive-3.1.3-iceberg-1.4.3"
SPARK, HIVE_ACID = "spark-3.5.8-iceberg-1.10.1", "hive-3.1.3"
ICEBERG = formats.load("iceberg")


def sent(scenario: Scenario, writer: str = TRINO, format_name: str = "iceberg") -> Iterator[str]:
    history = scenario.truths(merge_on_read=False).history()
    actual, shape = distributions.load(writer), formats.load(format_name)
    for step, before, after in zip(scenario.steps, history, history[1:], strict=False):
        shown = other_writers.wording(actual, shape, step.operation, before, after, {})
        yield "; ".join(map(recorded, shown))


def by(scenario: Scenario, writer: str, steps: Sequence[int]) -> Scenario:
    numbered = enumerate(scenario.steps, start=1)
    made = (replace(step, by=writer) if at in steps else step for at, step in numbered)
    return replace(scenario, steps=tuple(made), formats=("iceberg",), path="a/b.yaml")


def planned(scenario: Scenario) -> tuple[tuple[str, ...], list[str]]:
    writers = (Writer(SPARK),)
    profile = Profile("mine", (scenario.name,), formats=("iceberg",), writers=writers, readers=())
    actual = plan((scenario,), profile, [ICEBERG])
    return next((v.writers for v in actual.variants), ()), [x.why for x in actual.excluded]


def test_trino_is_told_whole_rows_as_an_insert_or_a_merge_by_the_key() -> None:
    insert, upsert = sent(scenario_of(Insert((1,)), Upsert((1, 2))))
    table = '"iceberg"."{database}"."t"'
    values = "(cast('1' as varchar), cast('f2s1r1' as varchar))"
    assert insert == f'insert into {table} ("id", "f1") values {values}'
    assert upsert.startswith(f"merge into {table} as t using (values ({values[1:8]}")
    assert upsert.endswith(
        ') as s ("id", "f1") on t."id" = s."id" when matched then update set "f1" = s."f1" '
        'when not matched then insert ("id", "f1") values (s."id", s."f1")'
    )


def test_trino_is_told_changes_of_rows_and_columns() -> None:
    scenario = scenario_of(
        Insert((1, 2)),
        Update((1,), ("f1",), absent=(9,)),
        Delete((2,), absent=(8,)),
        AddColumn("s", parse_type("struct<a: int, b: string>"), after="id"),
        AddColumn("s.c", parse_type("map<string, array<float>>"), first=True),
        ChangeType("s.a", parse_type("long")),
        RenameColumn("s.b", "d"),
        DropColumn("f1"),
        Compact(),
        Truncate(),
        columns={"id": "string", "f1": "string"},
    )
    table, key = '"hive"."{database}"."t"', "cast('{}' as varchar)".format
    chosen = f'case "id" when {key(1)} then {key("f2s2r1")} end'
    _, *actual = sent(scenario, format_name="hive-acid")
    assert actual == [
        f'update {table} set "f1" = {chosen} where "id" in ({key(1)}, {key(9)})',
        f'delete from {table} where "id" in ({key(2)}, {key(8)})',
        f'alter table {table} add column "s" row("a" integer, "b" varchar) after "id"',
        f'alter table {table} add column "s"."c" map(varchar, array(real)) first',
        f'alter table {table} alter column "s"."a" set data type bigint',
        f'alter table {table} rename column "s"."b" to "d"',
        f'alter table {table} drop column "f1"',
        f"alter table {table} execute optimize",
        f"truncate table {table}",
    ]


def test_trino_is_told_a_merge_and_one_that_waits_for_the_lock_of_the_table() -> None:
    keys = (1,), (3,), (2,)  # to update, insert and delete
    columns = {"id": "string", "f1": "string", "f2": "string"}
    steps = Insert((1, 2)), Merge(*keys, set=("f1",))
    _, merged = sent(scenario_of(*steps, columns=columns))
    key = "cast('2' as varchar)"
    assert f"({key}, cast('f2s1r2' as varchar), cast('f3s1r2' as varchar))) as s" in merged
    assert merged.endswith(
        f'on t."id" = s."id" when matched and s."id" in ({key}) then delete '
        'when matched then update set "f1" = s."f1" when not matched then '
        'insert ("id", "f1", "f2") values (s."id", s."f1", s."f2")'
    )
    begun = scenario_of(Insert((1, 2)), BeginWrite(*keys), CommitWrite(), columns=columns)
    _, waits, commits = sent(begun)
    assert waits.startswith("another writer, which waits before its commit: merge into ")
    assert "cast('f3s2r3' as varchar)" in waits
    assert commits == "the other writer commits"


def test_rows_that_meet_a_condition_are_named_by_it_and_get_values_by_their_keys() -> None:
    where = Update(set=("f1",), where="n is null")
    columns = {"id": "string", "f1": "string", "n": "int"}
    rows = Insert(rows=({"id": "1", "n": None}, {"id": "2", "n": 7}))
    story = scenario_of(rows, where, columns=columns)
    _, by_trino = sent(story)
    _, by_spark = sent(story, SPARK)
    assert by_trino.endswith("then cast('f2s2r1' as varchar) end where \"n\" is null")
    assert by_spark.endswith("set `f1` = case `id` when '1' then 'f2s2r1' end where `n` is null")
    before = story.truths(merge_on_read=False).history()[1]
    with pytest.raises(SchemaChangeError, match="'where' stands with neither"):
        replace(where, keys=("1",)).evolve(before)
    with pytest.raises(SchemaChangeError, match="update"):
        replace(where, where="n = 8").evolve(before)


@pytest.mark.parametrize(("writer", "lock"), [(TRINO, "off"), ("", "on")])
def test_spark_commits_without_a_lock_where_trino_waits_for_it_and_nowhere_else(
    writer: str, lock: str
) -> None:
    scenario = scenario_of(Insert((1, 2)), BeginWrite(update=(1,)), CommitWrite())
    scenario = by(scenario, writer, (2, 3)) if writer else scenario
    other = {"off": "on", "on": "off"}[lock]
    assert not ICEBERG.unsupported_settings({"commit_lock": lock}, scenario)
    assert "commit_lock" in ICEBERG.unsupported_settings({"commit_lock": other}, scenario)
    options = ICEBERG.session({"commit_lock": lock}, {})
    assert [v for k, v in options.items() if "lock" in k] == (["false"] if lock == "off" else [])


def test_a_delta_table_is_written_at_its_address_in_an_object_store() -> None:
    _, drop = sent(scenario_of(Insert((1,)), DropColumn("f1")), format_name="delta")
    known = "schema_name => 'default', table_name => '{database}'"
    assert drop == (
        "metastore: register the table as default.{database} at s3://tables/{database}; "
        'alter table "delta"."default"."{database}" drop column "f1"; '
        f'call "delta".system.unregister_table({known})'
    )


def test_values_of_every_kind_are_reported_with_their_types() -> None:
    columns = {
        "id": "string",
        "b": "binary",
        "d": "decimal(9, 2)",
        "on": "date",
        "at": "timestamp_ntz",
        "x": "double",
        "m": "map<string, int>",
        "l": "array<string>",
        "s": "struct<a: boolean>",
    }
    row = {
        "id": "it's {database}\\",
        "b": b"\x01\xff",
        "d": "1.50",
        "on": "2024-02-29",
        "at": "2024-02-29 01:02:03.000004",
        "x": float("nan"),
        "m": {"k": 1},
        "l": [None, "v"],
        "s": {"a": True},
    }
    (insert,) = sent(scenario_of(Insert(rows=(row,)), columns=columns))
    assert insert.partition(" values ")[2] == (
        "(cast(U&'it''s \\007Bdatabase}\\\\' as varchar), X'01ff', "
        "cast('1.5' as decimal(9, 2)), cast('2024-02-29' as date), "
        "cast('2024-02-29 01:02:03.000004' as timestamp(6)), cast(nan() as double), "
        "cast(map(array[cast('k' as varchar)], array[cast('1' as integer)]) "
        "as map(varchar, integer)), "
        "cast(array[cast(null as varchar), cast('v' as varchar)] as array(varchar)), "
        "cast(row(cast('true' as boolean)) as row(\"a\" boolean)))"
    )


def test_hive_is_told_inserts_alone() -> None:
    (insert,) = sent(scenario_of(Insert((1,))), HIVE)
    assert insert == "insert into {database}.t select '1' as `id`, 'f2s1r1' as `f1`"
    actual = distributions.load(HIVE)
    why = other_writers.unsupported(actual, ICEBERG.reader_facts, Upsert((1,)))
    assert why == f"{HIVE} is told of no upsert; did you mean 'insert'? allowed: insert"


def test_who_makes_a_table_is_told_in_the_words_of_its_format() -> None:
    scenario = scenario_of(Insert((1,)), RenameColumn("f1", "g"))
    assert [*sent(scenario, HIVE_ACID, "hive-acid")] == [
        "insert into {database}.t select '1' as `id`, 'f2s1r1' as `f1`",
        "alter table {database}.t change column `f1` `g` string",
    ]
    actual = distributions.load(HIVE_ACID)
    acid = formats.load("hive-acid")
    assert other_writers.session(actual, acid, {}, {}) == acid.session({}, {})
    assert other_writers.session(distributions.load(TRINO), acid, {}, {}) == {}


@pytest.mark.parametrize("by", [(), ("p",)], ids=["whole", "partitioned"])
def test_hive_makes_plain_tables_and_changes_their_columns_in_its_own_words(
    by: tuple[str, ...],
) -> None:
    columns = {"id": "string", "n": "long", "f1": "string", **dict.fromkeys(by, "int")}
    steps = Insert((1,)), RenameColumn("f1", "g"), AddColumn("f2", parse_type("char(3)"))
    story = scenario_of(*steps, columns=columns, partition_by=by)
    hive, plain = distributions.load(HIVE_ACID), formats.load("hive-orc")
    (create,) = map(recorded, other_writers.creation(hive, plain, story.table, {}))
    partitioned, into, cascade = "", "", ""
    if by:
        partitioned, into, cascade = " partitioned by (`p` int)", " partition (`p`)", " cascade"
    assert create == (
        "create external table {database}.t (`id` string, `n` bigint, `f1` string)"
        f"{partitioned} stored as orc location 'file:{{location}}'"
    )
    insert, rename, add = sent(story, HIVE_ACID, "hive-orc")
    assert insert.startswith(f"insert into {{database}}.t{into} select '1' as `id`, ")
    assert insert.endswith("; files: a name for those of this write")
    assert rename == f"alter table {{database}}.t change column `f1` `g` string{cascade}"
    assert add == f"alter table {{database}}.t add columns (`f2` char(3)){cascade}"
    assert other_writers.session(hive, plain, {}, {}) == SESSION
    why = other_writers.unsupported(hive, plain.reader_facts, Delete((1,)))
    assert why.startswith("hive-3.1.3 is told of no delete; allowed: add_column")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("nan"), "1e308D * 10D - 1e308D * 10D"),
        (float("inf"), "1e308D * 10D"),
        (float("-inf"), "1e308D * -10D"),
        (-0.0, "rand() * 0D * -1D"),
    ],
)
def test_hive_is_told_a_product_where_it_has_no_text_for_a_number(value: float, words: str) -> None:
    row = {"id": "1", "x": value}
    story = scenario_of(Insert(rows=(row,)), columns={"id": "string", "x": "float"})
    (insert,) = sent(story, HIVE_ACID, "hive-orc")
    assert f"'1' as `id`, cast({words} as float) as `x`" in insert


def test_a_library_that_makes_a_table_is_told_its_columns_and_the_metastore_where_it_is() -> None:
    story = scenario_of(
        Insert((1,)), columns={"id": "int", "at": "timestamp", "p": "int"}, partition_by=("p",)
    )
    made = {}
    for writer, format_name in ((DELTA_RS, "delta"), (PYICEBERG, "iceberg")):
        library, shape = distributions.load(writer), formats.load(format_name)
        settings = {"format_version": "3", "deletion_vectors": "on"}
        created = other_writers.creation(library, shape, story.table, settings)
        made[format_name] = [*map(recorded, created)]
    known, create = made["delta"]
    assert "metastore: register" in known
    assert '"spark.sql.sources.provider": "delta"' in known
    assert create.startswith("Python: DeltaTable.create(table, pa.schema([('id', pa.int32()), ")
    assert "partition_by=['p'], configuration={'delta.enableDeletionVectors': 'true'}" in create
    known, create, partitioned = made["iceberg"]
    assert '"at": "timestamp", "p": "int", "table_type": "ICEBERG"' in known
    assert "('at', pa.timestamp('us'))" in create  # without a zone
    assert "'file:{location}', properties={'format-version': '3', " in create
    assert partitioned == "Python: table.update_spec().add_identity('p').commit()"


def test_a_writer_that_cannot_be_told_a_step_makes_no_table_for_it() -> None:
    story = scenario_of(Insert((1,)), RenameColumn("f1", "g"))
    profile = Profile(
        "mine", (story.name,), formats=("delta",), writers=(Writer(DELTA_RS),), readers=()
    )
    makers = distribution_support.makers_of(profile)
    (why,) = [x.why for x in plan((story,), profile, [formats.load("delta")], makers).excluded]
    assert why.startswith("step 2: deltalake-1.6.6 is told of no rename_column")


def test_a_step_of_a_file_names_its_writer() -> None:
    text = dump(by(scenario_of(Insert((1,)), Compact()), TRINO, (1, 2)))
    assert f"- insert: [1]\n    by: {TRINO}\n" in text
    again = loads(text, "a/b.yaml")
    assert [step.by for step in again.steps] == [TRINO, TRINO]
    assert dump(again) == text


def test_a_variant_has_the_writer_of_each_step() -> None:
    scenario = scenario_of(Insert((1,)), RenameColumn("f1", "g"), Insert((2,)))
    assert planned(by(scenario, TRINO, (3,))) == ((SPARK, SPARK, SPARK, TRINO), [])


def test_a_step_that_its_writer_cannot_be_told_excludes_the_variant() -> None:
    moved = by(scenario_of(Insert((1,)), MoveColumn("f1", first=True)), TRINO, (2,))
    (why,) = planned(moved)[1]
    assert why.startswith("step 2: trino-476 is told of no move_column; did you mean")
    (why,) = planned(by(scenario_of(Insert((1,))), HIVE_ACID, (1,)))[1]
    assert why == "step 1: hive-3.1.3 writes no iceberg tables"


def test_a_writer_that_there_is_not_is_reported_with_its_line() -> None:
    with pytest.raises(ScenarioProblem, match=r"^a/b\.yaml: step 1: by: there is no 'trino'"):
        planned(by(scenario_of(Insert((1,))), "trino", (1,)))


DELTA_RS, PYICEBERG, DELTA = "deltalake-1.6.6", "pyiceberg-0.12.0", "spark-3.5.8-delta-3.3.2"


def test_a_library_of_python_is_told_of_rows_keys_and_conditions() -> None:
    story = scenario_of(
        Insert((1, 2, 3)),
        Update((1,), ("f1",)),
        Savepoint(),
        Delete((2,)),
        DeleteWhere("f1 = new"),
        Restore(),
        columns={"id": "int", "ts": "long", "f1": "string"},
        order_by="ts",
    )
    insert, update, _, delete, where, restore = sent(story, DELTA_RS, "delta")
    assert insert.startswith("Python: write_deltalake(table, pa.Table.from_pylist([{'id': 1, ")
    assert ".when_matched_update({'\"f1\"': 'source.\"f1\"', '\"ts\"'" in update
    assert delete == "Python: table.delete('\"id\" in (2)')"
    assert where == "Python: table.delete('\"f1\" = \\'f3s2r1\\'')"
    assert restore == "Python: table.restore({instant of step 2})"


def test_spark_is_told_to_write_a_checkpoint_by_the_library_of_delta() -> None:
    (_, checkpoint) = sent(scenario_of(Insert((1,)), Checkpoint()), DELTA, "delta")
    assert checkpoint == "Delta: checkpoint"


@pytest.mark.parametrize(
    ("writer", "operation", "why"),
    [
        (DELTA_RS, Insert((1,)), ""),
        (DELTA_RS, RenameColumn("f1", "g"), "deltalake-1.6.6 is told of no rename_column"),
        (PYICEBERG, Insert((1,)), "pyiceberg-0.12.0 writes no delta tables"),
    ],
)
def test_a_library_writes_the_tables_of_its_format_and_what_it_has_calls_for(
    writer: str, operation: Operation, why: str
) -> None:
    facts = formats.facts("delta")
    actual = other_writers.unsupported(distributions.load(writer), facts, operation)
    assert actual.partition(";")[0] == why

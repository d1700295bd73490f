from dataclasses import replace

import pytest

from harness import formats
from harness.artifacts import distributions
from harness.formats import other_writers
from harness.formats.hudi.settings import EVOLVES
from harness.formats.iceberg.settings import MODES
from harness.model.canonical import Value
from harness.model.datatypes import parse_type
from harness.model.schema import MergeMode, SchemaChangeError
from harness.scenario.operations.api import Operation, ServiceMode
from harness.scenario.operations.columns import (
    AddColumn,
    AddPartitionField,
    ChangeNullability,
    ChangeType,
    DropColumn,
    DropPartitionField,
    MoveColumn,
    RenameColumn,
    ReplacePartitionField,
)
from harness.scenario.operations.indexes import CreateIndex, DropIndex, IndexKind
from harness.scenario.operations.row_writes import (
    AddFiles,
    Delete,
    DeleteByValue,
    DeletePartition,
    Insert,
    MoveRow,
    Overwrite,
    OverwriteScope,
    Rewrites,
    Touch,
    Truncate,
    Upsert,
    WriteParquet,
)
from harness.scenario.operations.services import Archive, Clean, Cluster, Compact, SetTableVersion
from harness.scenario.operations.snapshots import (
    CreateTag,
    Restore,
    Rollback,
    RollbackToSnapshot,
    Savepoint,
)
from harness.scenario.operations.unfinished_writes import (
    VALIDATOR,
    VALIDATORS,
    AbortTransactions,
    BeginWrite,
    CommitWrite,
    FailedWrite,
    KilledWrite,
)
from harness.scenario.operations.write_frame import WriteFrame
from harness.scenario.statements import (
    ClientCall,
    FrameWrite,
    ResumeWaiting,
    Sql,
    WaitingSql,
    recorded,
)
from tests.builders.format_statements import (
    COLUMNS,
    created,
    history_of,
    statements,
    table_of,
    texts,
)

LONG = parse_type("long")
ONE, TWO, LATER = Insert((1,)), Insert((1, 2)), Insert((2,))
SAVED, MADE, KILLED = [ONE, Savepoint(), LATER], [ONE, LATER, Compact()], [ONE, KilledWrite((3,))]
OTHER_FIELD, FIELD = ReplacePartitionField("id", "truncate(3, a)"), "partition field"
FORBID_NULL, ALLOW_NULL = (ChangeNullability("a", nullable=nullable) for nullable in (False, True))
PLAN, ADD, BY_ID = ServiceMode.SCHEDULE, AddColumn("q", LONG), AddPartitionField("id")
NAME, FIRST, SECOND = "{database}.t", "{instant of step 1}", "{instant of step 2}"
CASE = "spark.sql.caseSensitive"
COMPACT, CLUSTER = (f"call run_{service}(op => " for service in ("compaction", "clustering"))
ALTER = "alter table {database}.t"
CALL = "call spark_catalog.system."
OF_TABLE = "table => '{database}.t'"
AT, P = f"{OF_TABLE}, instant_time", "`p` string"
SAVE, BACK = f"call create_savepoint({OF_TABLE}", f"rollback_to_snapshot({OF_TABLE}"
DOWN = f"downgrade_table({OF_TABLE}"
BY_KEY = "on t.`id` = s.`id` when matched then update set * when not matched then insert *"
OPERATION = "hoodie.spark.sql.insert.into.operation"
NESTED = {**COLUMNS, "s": "struct<x: int, y: string>"}


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("delta", "`a` string) using delta partitioned by (`p`) location 'file:{location}'"),
        ("hive-parquet", "(`p` string) stored as parquet location '{location}'"),
        ("hudi-mor", "('type' = 'mor', 'primaryKey' = 'id', 'preCombineField' = 'ts')"),
        ("iceberg", "location 'file:{location}' tblproperties ('format-version' = '2', "),
    ],
)
def test_a_table_is_created_with_its_columns_partitions_and_location(name: str, end: str) -> None:
    columns = {"id": "int", "ts": "long", "p": "string", "a": "string"}
    made = created(name, columns, ("p",))
    assert made.startswith("create table {database}.t (`id` int, `ts` bigint, ")
    assert end in made


@pytest.mark.parametrize(
    ("name", "settings", "properties"),
    [
        ("delta", {}, []),
        ("delta", {"change_data_feed": "on"}, ["'delta.enableChangeDataFeed' = 'true'"]),
        ("delta", {"column_mapping": "id"}, ["'delta.columnMapping.mode' = 'id'"]),
        ("delta", {"column_mapping": "later"}, []),
        ("delta", {"type_widening": "off"}, ["'delta.enableTypeWidening' = 'false'"]),
        ("hudi-mor", {"meta_fields": "none"}, ["'hoodie.populate.meta.fields' = 'false'"]),
        ("hudi-cow", {"table_version": "6"}, ["'hoodie.write.table.version' = '6'"]),
        ("iceberg", {"compression": "gzip"}, ["'write.parquet.compression-codec' = 'gzip'"]),
        (
            "iceberg",
            {"delete_mode": "merge-on-read"},
            [f"'{mode}' = 'merge-on-read'" for mode in MODES],
        ),
    ],
)
def test_settings_become_properties_of_the_table(
    name: str, settings: dict[str, str], properties: list[str]
) -> None:
    plain, made = created(name), created(name, settings=settings)
    assert all(text in made and text not in plain for text in properties)
    assert properties or made == plain


@pytest.mark.parametrize("name", ["hudi-cow", "hudi-mor"])
@pytest.mark.parametrize(
    ("mode", "declared", "payload"),
    [
        (MergeMode.COMMIT_TIME, "COMMIT_TIME_ORDERING", "OverwriteWithLatestAvroPayload"),
        (MergeMode.PARTIAL_UPDATE, "", "PartialUpdateAvroPayload"),
        (None, "", ""),
    ],
)
def test_a_table_declares_its_merge_mode_as_each_version_reads_it(
    name: str, mode: MergeMode | None, declared: str, payload: str
) -> None:
    (create,) = formats.load(name).create(replace(table_of(), merge_mode=mode), {})
    made = recorded(create)
    assert (f"'hoodie.record.merge.mode' = '{declared}'" in made) is bool(declared)
    assert ("merge.mode" in made) is bool(declared)
    assert ("payload.class" in made) is bool(payload)
    assert f"{payload}'" in made


@pytest.mark.parametrize("name", ["hive-parquet", "hive-orc"])
def test_a_setting_says_which_type_the_timestamps_of_the_metastore_are(name: str) -> None:
    made = created(name, {"id": "int", "ts": "long", "at": "map<string, timestamp_ntz>"})
    assert "`at` map<string, timestamp>) stored as" in made
    added = AddColumn("b", parse_type("struct<at: timestamp_ntz>"))
    assert '["b", "struct<at:timestamp>"]' in texts(name, added)[0]
    before, insert, after = texts(name, added, ONE)
    assert before == "set spark.sql.timestampType=TIMESTAMP_NTZ"
    assert "as timestamp_ntz)" in insert
    assert after == "set spark.sql.timestampType=TIMESTAMP_LTZ"  # the next step may need another
    (alone,) = texts(name, added, ONE, DropColumn("b"), Insert((2,)))
    assert alone.startswith("insert into")


@pytest.mark.parametrize(
    ("name", "operations", "sent"),
    [
        # Services, where what waits is carried out before the rest.
        ("delta", [Cluster()], f"optimize {NAME}"),
        ("delta", [Compact()], f"reorg table {NAME} apply (purge)"),
        ("delta", [Truncate()], f"delete from {NAME}"),
        ("hudi-cow", [Compact()], ""),
        ("hudi-mor", [Compact()], f"{COMPACT}'execute', {OF_TABLE}); {COMPACT}'run', {OF_TABLE})"),
        ("hudi-mor", [Compact(PLAN)], f"{COMPACT}'schedule', {OF_TABLE})"),
        (
            "hudi-cow",
            [Cluster()],
            f"{CLUSTER}'execute', {OF_TABLE}); {CLUSTER}'scheduleAndExecute', {OF_TABLE})",
        ),
        # What undoes a step names the instant that the step made.
        ("hudi-mor", [ONE, ADD, Savepoint()], f"{SAVE}, commit_time => '{SECOND}')"),
        ("hudi-mor", [*SAVED, Restore()], f"call rollback_to_savepoint({AT} => '{FIRST}')"),
        ("hudi-mor", [*MADE, Rollback()], f"call rollback_to_instant({AT} => '{SECOND}')"),
        ("delta", [ONE, Savepoint()], ""),
        ("delta", [*SAVED, Restore()], f"restore table {NAME} to version as of {FIRST}"),
        ("iceberg", [ONE, RollbackToSnapshot(1)], f"{CALL}{BACK}, snapshot_id => {FIRST})"),
        # Versions, tags, transactions and partition fields.
        ("hudi-cow", [SetTableVersion(6)], f"call {DOWN}, to_version => 'SIX')"),
        ("iceberg", [SetTableVersion(3)], f"{ALTER} set tblproperties ('format-version' = '3')"),
        ("iceberg", [ONE, CreateTag()], f"{ALTER} create tag `step-2`"),
        ("hive-acid", [*KILLED, AbortTransactions()], "abort transactions {open transactions}"),
        ("iceberg", [AddPartitionField("bucket(4, a)")], f"{ALTER} add {FIELD} bucket(4, `a`)"),
        ("iceberg", [BY_ID, OTHER_FIELD], f"{ALTER} replace {FIELD} `id` with truncate(3, `a`)"),
        ("iceberg", [BY_ID, DropPartitionField("id")], f"{ALTER} drop {FIELD} `id`"),
        (
            "iceberg",
            [ONE, DeleteByValue(({"a": "x", "id": 7}, {"a": None, "id": 8}))],
            'Iceberg: delete_by_value {"columns": ["a", "id"], "values": ["x", 7, null, 8]}',
        ),
        # Columns of a table that the metastore knows alone.
        ("hive-acid", [AddColumn("n", LONG)], f"{ALTER} add columns (`n` bigint)"),
        ("hive-acid", [DropColumn("a")], f"{ALTER} replace columns (`id` int, `ts` bigint, {P})"),
        ("hive-acid", [TWO, Delete((1,))], f"delete from {NAME} where `id` in (1)"),
        # Changes of columns.
        (
            "iceberg",
            [RenameColumn("a", "A")],
            f"set {CASE}=true; {ALTER} rename column `a` to `A`; set {CASE}=false",
        ),
        ("iceberg", [RenameColumn("a", "B")], f"{ALTER} rename column `a` to `B`"),
        ("iceberg", [ONE, FORBID_NULL], 'Iceberg: require_column {"name": "a"}'),
        ("iceberg", [ONE, ALLOW_NULL], f"{ALTER} alter column `a` drop not null"),
    ],
)
def test_a_step_is_sent_in_the_words_of_its_format(
    name: str, operations: list[Operation], sent: str
) -> None:
    assert "; ".join(texts(name, *operations)) == sent


@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("equality", 'Iceberg: delete_by_value {"columns": ["id"], "values": [1, 7]}'),
        ("merge-on-read", f"delete from {NAME} where `id` in (1, 7)"),
    ],
)
def test_rows_are_deleted_by_sql_or_by_value_also_such_as_are_not_there(
    mode: str, sent: str
) -> None:
    delete = Delete((1,), absent=(7,))
    assert texts("iceberg", TWO, delete, settings={"delete_mode": mode}) == [sent]


def test_a_file_of_pyarrow_goes_into_the_folder_of_its_partition_and_may_name_another_one() -> None:
    write = WriteParquet(
        rows=({"id": 1, "ts": 5, "a": "x", "p": "b"},), int96=True, also={"p": "z"}
    )
    columns = '{"id": "int", "ts": "long", "a": "string", "p": "string"}'
    rows = '[{"id": "1", "ts": "5", "a": "x", "p": "z"}]'
    content = f'{{"columns": {columns}, "rows": {rows}, "int96": true}}'
    assert texts("hive-parquet", write, partition_by=("p",)) == [
        f"PyArrow: a file in {{location}}/p=b: {content}",
        f"msck repair table {NAME}",
        f"refresh table {NAME}",
    ]
    assert formats.load("hive-orc").unsupported(write) == "write_parquet: its files are of orc"


def test_a_file_of_the_old_layout_is_an_insert_under_sparks_setting() -> None:
    write = WriteParquet(rows=({"id": 1, "ts": 5, "a": "x", "p": "b"},), legacy=True)
    first, insert, last = texts("hive-parquet", write)
    assert first == "set spark.sql.parquet.writeLegacyFormat=true"
    assert insert.startswith(f"insert into {NAME} select 1 as `id`")
    assert last == "set spark.sql.parquet.writeLegacyFormat=false"
    both = replace(write, int96=True)
    with pytest.raises(SchemaChangeError, match="stands with neither 'int96' nor 'also'"):
        texts("hive-parquet", both)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ((), "names no row or column"),
        (({"a": "x"}, {"id": 1}), "by the same columns in each row, of string and int"),
        (({"ts": 1},), "by the same columns in each row, of string and int"),
        (({"a": True},), "True is no text and no whole number"),
    ],
)
def test_deletes_by_value_are_of_texts_and_numbers_of_the_same_columns(
    values: tuple[dict[str, Value], ...], problem: str
) -> None:
    with pytest.raises(SchemaChangeError, match=problem):
        texts("iceberg", ONE, DeleteByValue(values))


def test_a_row_that_has_null_stays_when_others_are_deleted_by_a_value() -> None:
    rows: tuple[dict[str, Value], ...] = tuple(
        {"id": id_, "a": a} for id_, a in ((1, "x"), (2, None), (3, "y"))
    )
    for gone, left in (
        ({"a": "x"}, [2, 3]),
        ({"a": None}, [1, 3]),
        ({"a": "y", "id": 1}, [1, 2, 3]),
    ):
        history = history_of(Insert(rows=rows), DeleteByValue((gone,)))
        assert list(history[-1].rows) == left


def test_what_a_cleaning_of_delta_sets_it_puts_back() -> None:
    clean = texts("delta", ONE, Clean())
    assert clean[len(clean) // 2] == "vacuum {database}.t retain 0 hours"
    before, after = (sorted(text.partition("=")[0] for text in s) for s in (clean[:2], clean[3:]))
    assert before == after


def test_a_service_leaves_alone_what_is_not_its_work() -> None:
    (archive,) = texts("hudi-mor", ONE, Archive())
    assert f"archive_commits({OF_TABLE}, enable_metadata => false, min_" in archive
    (compact,) = texts("iceberg", ONE, Compact())  # but files of which rows are deleted
    assert "'delete-file-threshold', '1', 'min-file-size-bytes', '0'" in compact


@pytest.mark.parametrize("name", ["delta", "iceberg"])
@pytest.mark.parametrize(
    ("operation", "rows"),
    [
        (Insert((3, 4)), 0),
        (Touch(Rewrites.NONE), 0),
        (Upsert((7,)), 0),
        (Upsert((1, 3)), 2),
        (Touch(Rewrites.ALL), 3),  # one of each partition, and a new one
    ],
)
def test_where_there_are_no_keys_rows_that_are_there_are_replaced_by_a_merge(
    name: str, operation: Operation, rows: int
) -> None:
    (sent,) = texts(name, TWO, operation, partition_by=("p",))
    source = "select /*+ coalesce(1) */ * from (select "
    if rows:
        assert sent.startswith(f"merge into {{database}}.t as t using ({source}")
        assert sent.endswith(f") as s {BY_KEY}")
        assert sent.count("union all") == rows - 1
    else:
        assert sent.startswith(f"insert into {{database}}.t {source}")


@pytest.mark.parametrize(
    ("name", "when"),
    [
        ("delta", "killed when it comes to the commit"),
        ("hive-acid", "killed when it asks the metastore for the commit"),
        ("iceberg", "killed while it waits for the table's lock"),
    ],
)
def test_who_is_killed_merges_rows_that_are_there_and_inserts_others(name: str, when: str) -> None:
    (merge,) = texts(name, ONE, KilledWrite((1, 3)))
    assert merge.startswith(f"{when}: merge into {{database}}.t ")
    (insert,) = texts(name, ONE, KilledWrite((3,)))
    assert insert.startswith(f"{when}: insert into {{database}}.t ")


def test_nothing_can_be_aborted_where_no_write_died() -> None:
    with pytest.raises(Exception, match="no write was killed"):
        texts("hive-acid", ONE, AbortTransactions())


def test_mapping_comes_later_with_the_second_step_alone() -> None:
    later = {"column_mapping": "later"}
    assert len(texts("delta", ONE, settings=later)) == 1
    switch, renamed = texts("delta", ONE, RenameColumn("a", "b"), settings=later)
    assert switch.startswith(f"{ALTER} set tblproperties ('delta.columnMapping")
    assert renamed == f"{ALTER} rename column `a` to `b`"
    third = texts("delta", ONE, RenameColumn("a", "b"), RenameColumn("b", "c"), settings=later)
    assert third == [f"{ALTER} rename column `b` to `c`"]


@pytest.mark.parametrize(
    ("staged_by", "publication"),
    [
        ("id", f"publish_changes({OF_TABLE}, wap_id => 'step-2')"),
        ("branch", f"fast_forward({OF_TABLE}, branch => 'main', to => 'step-2')"),
    ],
)
def test_a_staged_write_has_an_id_or_a_branch_by_which_it_is_published(
    staged_by: str, publication: str
) -> None:
    begun = BeginWrite(insert=(3,))
    enabled, named, _, reset = texts("iceberg", ONE, begun, settings={"staged_by": staged_by})
    assert "('write.wap.enabled' = 'true')" in enabled
    assert (named, reset) == (f"set spark.wap.{staged_by}=step-2", f"reset spark.wap.{staged_by}")
    published = texts("iceberg", ONE, begun, CommitWrite(), settings={"staged_by": staged_by})
    assert published == [CALL + publication]


def test_plain_files_are_made_in_the_table_s_folder_and_added() -> None:
    made, added = texts("iceberg", ONE, AddFiles((3,)))
    assert made.startswith("insert overwrite directory '{location}/added/2' using parquet select ")
    source = "source_table => '`parquet`.`{location}/added/2`'"
    assert added == f"{CALL}add_files({OF_TABLE}, {source})"


def test_a_table_that_is_migrated_is_a_plain_one_that_gets_the_rows_of_the_first_step() -> None:
    settings = {"created_by": "migrate", "file_format": "orc"}
    made = created("iceberg", COLUMNS, ("p",), settings=settings)
    assert made.endswith("(`p` string) stored as orc location 'file:{location}'")
    write, call = texts("iceberg", ONE, settings=settings)
    assert write.startswith("insert into {database}.t select ")
    assert call.startswith(f"{CALL}migrate({OF_TABLE}, properties => map('format-version', '2', ")
    assert "'write.format.default', 'orc'" in call
    mode = "set hive.exec.dynamic.partition.mode="
    first, write, back, call_again = texts("iceberg", ONE, partition_by=("p",), settings=settings)
    assert (first, back, call_again) == (f"{mode}nonstrict", f"{mode}strict", call)
    assert write.startswith("insert into {database}.t select ")
    old, *same, new, call = texts("iceberg", ONE, settings={"created_by": "migrate_legacy"})
    layout = "set spark.sql.parquet.writeLegacyFormat="
    assert (old, new) == (f"{layout}true", f"{layout}false")
    assert [*same, call] == texts("iceberg", ONE, settings={"created_by": "migrate"})


def test_a_snapshot_is_made_of_a_plain_table_which_then_goes() -> None:
    made = created("iceberg", settings={"created_by": "snapshot"})
    assert made.startswith("create table {database}.plain ")
    assert made.endswith("location 'file:{location}/plain'")
    write, call, gone = texts("iceberg", ONE, settings={"created_by": "snapshot"})
    assert write.startswith("insert into {database}.plain select ")
    target = f"{OF_TABLE}, location => 'file:{{location}}'"
    assert f"snapshot(source_table => '{{database}}.plain', {target}, properties => map(" in call
    assert gone == "drop table {database}.plain"
    (later,) = texts("iceberg", ONE, LATER, settings={"created_by": "snapshot"})
    assert later.startswith("insert into {database}.t select ")


def test_trino_migrates_what_spark_filled() -> None:
    settings = {"created_by": "migrate"}
    trino, (before, after) = distributions.load("trino-476"), history_of(ONE)
    sent = other_writers.wording(trino, formats.load("iceberg"), ONE, before, after, settings)
    write, call = map(recorded, sent)
    first = texts("iceberg", ONE, settings=settings)[0]
    assert write == f"by the writer that made the table: {first}"
    schema = "schema_name => '{database}', table_name => 't'"
    assert call == f'call "iceberg".system.migrate({schema})'


def test_only_an_insert_is_sent_under_another_operation() -> None:
    bulk = {"insert_operation": "bulk_insert"}
    first, insert, back = texts("hudi-cow", TWO, settings=bulk)
    assert (first, back) == (f"set {OPERATION}=bulk_insert", f"set {OPERATION}=upsert")
    assert insert.startswith("insert into")
    # These replace rows by their key, which `insert` and `bulk_insert` do not do.
    assert all(
        len(texts("hudi-cow", TWO, operation, settings=bulk)) == 1
        for operation in (Upsert((1, 5)), Touch(Rewrites.ALL))
    )
    assert len(texts("hudi-cow", TWO)) == 1


@pytest.mark.parametrize(("settings", "usual"), [({}, "SIMPLE"), ({"index": "bloom"}, "BLOOM")])
def test_a_row_moves_under_an_index_of_all_partitions(settings: dict[str, str], usual: str) -> None:
    first, *_, last = texts("hudi-mor", TWO, MoveRow(1, 2), partition_by=("p",), settings=settings)
    assert first == "set hoodie.index.type=GLOBAL_SIMPLE"
    assert last == f"set hoodie.index.type={usual}"


@pytest.mark.parametrize(
    ("operation", "what"),
    [
        (CreateIndex("a"), "create {} (`a`)"),
        (
            CreateIndex("a", IndexKind.BLOOM_FILTERS, "lower"),
            "create {} using bloom_filters (`a`) options (expr = 'lower')",
        ),
        (DropIndex("a"), "drop {}"),
    ],
)
def test_an_index_is_made_beside_other_writers_and_the_session_is_as_before(
    operation: Operation, what: str
) -> None:
    sent = what.format("index `index_of_a` on {database}.t")
    mode, lock, evolves, made, evolves_again, *back = texts("hudi-cow", TWO, operation)
    assert (mode.partition("=")[2], made) == ("optimistic_concurrency_control", sent)
    assert (evolves, evolves_again) == (f"set {EVOLVES}=false", f"set {EVOLVES}=true")
    names = [text.removeprefix("set ").partition("=")[0] for text in (mode, lock)]
    assert back == [f"reset {name}" for name in names]
    of_writers = {"concurrency": "optimistic", "schema_on_read": "off"}
    alone = [f"set {EVOLVES}=false", sent, f"set {EVOLVES}=false"]
    assert list(texts("hudi-cow", TWO, operation, settings=of_writers)) == alone


def test_one_partition_is_named_by_the_values_of_its_columns() -> None:
    three = Insert((1, 3))
    overwrite = Overwrite((1,), OverwriteScope.PARTITION)
    (over,) = texts("hudi-cow", three, overwrite, partition_by=("p",))
    assert over.startswith("insert overwrite table {database}.t partition (`p` = 'p1') select 1 as")
    assert "as `p`" not in over
    (drop,) = texts("hudi-cow", three, DeletePartition(3), partition_by=("p",))
    assert drop == f"{ALTER} drop partition (`p` = 'p0')"


def test_a_dataframe_is_told_the_columns_with_a_role() -> None:
    (write,) = statements("hudi-mor", ONE, WriteFrame((1, 2)), partition_by=("p",))
    assert isinstance(write, FrameWrite)
    roles = {"recordkey": "id", "precombine": "ts", "partitionpath": "p"}
    shown = {f"hoodie.datasource.write.{role}.field": column for role, column in roles.items()}
    assert shown.items() <= dict(write.options).items()


def test_an_overwritten_transactional_table_keeps_its_own_words() -> None:
    (sent,) = texts("hive-acid", ONE, Overwrite((1,)))
    assert sent.startswith("insert overwrite table {database}.t select 1 as `id`, ")


def test_a_write_fails_by_a_validator_that_is_put_back_then() -> None:
    validator, query, write, *back = statements("hudi-cow", ONE, FailedWrite((2,)))
    assert recorded(validator) == f"set {VALIDATORS}={VALIDATOR}"
    assert recorded(query).endswith("select count(*) from <TABLE_NAME>#-1")
    assert recorded(write).startswith("insert into {database}.t select 2")
    resets = [statement for statement in back if isinstance(statement, Sql)]
    assert len(resets) == len(back) == 2
    assert all(statement.in_any_case and not statement.commits for statement in resets)


def test_a_second_writer_waits_before_its_commit_until_it_may_go_on() -> None:
    begun = BeginWrite(update=(1,))
    (waiting,) = statements("hudi-mor", ONE, begun)
    assert isinstance(waiting, WaitingSql)
    assert waiting.text.startswith("merge into {database}.t")
    assert dict(waiting.settings)["hoodie.write.lock.filesystem.path"] == "{location}.held"
    assert statements("hudi-mor", ONE, begun, CommitWrite()) == (ResumeWaiting(),)


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        (AddColumn("n", LONG), "addColumn('n', '\"long\"')"),
        (AddColumn("n", LONG, first=True), "addColumn('n', '\"long\"', '', '', 'FIRST')"),
        (AddColumn("s.n", LONG, after="x"), "addColumn('s.n', '\"long\"', '', 's.x', 'AFTER')"),
        (DropColumn("s.x"), "deleteColumns('s.x')"),
        (RenameColumn("s.x", "z"), "renameColumn('s.x', 'z')"),
        (MoveColumn("a", after="s"), "reOrderColPosition('a', 's', 'AFTER')"),
        (MoveColumn("s.y", first=True), "reOrderColPosition('s.y', '', 'FIRST')"),
        (ChangeType("s.x", LONG), "updateColumnType('s.x', '\"long\"')"),
        (ChangeNullability("a", nullable=False), "updateColumnNullability('a', 'false')"),
    ],
)
def test_a_schema_change_is_a_call_of_the_write_client_where_that_is_asked_for(
    operation: Operation, call: str
) -> None:
    made = {"schema_changes": "write_client", "table_version": "6"}
    (sent,) = statements("hudi-mor", ONE, operation, columns=NESTED, settings=made)
    assert isinstance(sent, ClientCall)
    assert sent.options == (("hoodie.write.table.version", "6"),)
    assert recorded(sent) == f"write client: {call}"


def test_the_metastore_and_the_partitions_get_the_columns_of_a_hive_table() -> None:
    added = AddColumn("n", LONG, after="id")
    change, refresh = texts("hive-parquet", added)
    assert '[["id", "int"], ["n", "bigint"], ["ts", "bigint"]' in change
    assert refresh == "refresh table {database}.t"
    follows, stays = (
        texts("hive-parquet", TWO, added, partition_by=("p",), settings={"cascade": cascade})[0]
        for cascade in ("on", "off")
    )
    assert '"p"' not in follows
    assert follows.endswith("and of partitions")
    assert follows.replace(", and of partitions", "") == stays
    assert texts("hive-parquet", TWO, added, partition_by=("p",))[0] == follows


@pytest.mark.parametrize("operations", [[TWO], [TWO, Touch(Rewrites.NONE)]])
def test_rows_that_are_to_share_a_plain_file_are_written_by_one_task(
    operations: list[Operation],
) -> None:
    (usual,), (small,) = (
        texts("hive-parquet", *operations, settings={"row_groups": size})
        for size in ("usual", "small")
    )
    rows = usual.removeprefix("insert into {database}.t ")
    assert small == f"insert into {{database}}.t select /*+ coalesce(1) */ * from ({rows})"

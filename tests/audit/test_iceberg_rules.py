"""The rules of reading an Iceberg table, each by a small table; planted errors are noticed."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyroaring import BitMap64

from harness.audit.projection import Projection
from harness.formats.api import FileFactError
from harness.formats.files import stored_columns, table_folder
from harness.formats.files.locations import Locations
from harness.formats.files.stored_columns import StoredColumns
from harness.formats.iceberg import column_types, manifests, read_plan
from harness.formats.iceberg import table as iceberg_table
from harness.formats.iceberg.manifests import FileContent, Live, Record
from harness.formats.iceberg.table import NAME_MAPPING
from harness.formats.read_plan import FileColumns, PlannedFile
from tests.audit import small_iceberg_tables as tables
from tests.audit.small_iceberg_tables import Made, Row, column, plan_of, read, written
from tests.builders.iceberg_folder import FIELDS, LOCATION, Entry, IcebergFolder


@pytest.mark.parametrize("table", tables.TABLES, ids=lambda table: table.__name__)
def test_the_rows_are_those_that_the_rule_gives(
    table: Callable[[Made], list[Row]], tmp_path: Path
) -> None:
    expected = written(tmp_path, table)
    assert read(tmp_path) == expected


# --- planted errors ---------------------------------------------------------------------------

Plant = Callable[[pytest.MonkeyPatch], None]
TableAt = read_plan.TableAt
applies, positions = manifests.applies, Projection.positions
planned, column_of = TableAt._planned, Projection._column
Specs = Mapping[int, Sequence[Record]]


def dots_between_names_alone(patch: pytest.MonkeyPatch) -> None:
    for module in (iceberg_table, stored_columns):
        patch.setattr(module, "in_path", lambda name: name)


def no_name_mapping(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(read_plan, "mapped", lambda stored: {})


def names_before_ids(patch: pytest.MonkeyPatch) -> None:
    def by_name(self: Any, file: Live) -> PlannedFile:  # noqa: ANN401
        names = {field["name"]: field["id"] for field in self.fields}
        return replace(planned(self, file), columns=FileColumns(names))

    patch.setattr(TableAt, "_planned", by_name)


def partition_before_file(patch: pytest.MonkeyPatch) -> None:
    def of_partition(self: Projection, part: Any, stored: Any, length: Any = None) -> Any:  # noqa: ANN401
        return column_of(self, part, None if part.id in self.file.constants else stored, length)

    patch.setattr(Projection, "_column", of_partition)


def name_before_partition(patch: pytest.MonkeyPatch) -> None:
    def by_name(self: Any, file: Live) -> PlannedFile:  # noqa: ANN401
        return replace(planned(self, file), columns=FileColumns(self._names, by_id=True))

    patch.setattr(TableAt, "_planned", by_name)


def void_as_identity(patch: pytest.MonkeyPatch) -> None:
    def with_void(self: Any, file: Live) -> Any:  # noqa: ANN401
        fields = zip(self.metadata.specs[file.spec], file.partition, strict=True)
        return {field["source-id"]: value for field, value in fields}

    patch.setattr(TableAt, "_partition", with_void)


def applied(rule: Callable[[Live, Live, Specs], bool]) -> Plant:
    return lambda patch: patch.setattr(read_plan, "applies", rule)


def value_deletes_one_later(deletes: Live, file: Live, specs: Specs) -> bool:
    by_value = deletes.content is FileContent.EQUALITY_DELETES
    return applies(replace(deletes, sequence=deletes.sequence + by_value), file, specs)


def position_deletes_one_earlier(deletes: Live, file: Live, specs: Specs) -> bool:
    by_value = deletes.content is FileContent.EQUALITY_DELETES
    return applies(replace(deletes, sequence=deletes.sequence - (not by_value)), file, specs)


def any_spec(deletes: Live, file: Live, specs: Specs) -> bool:
    return applies(replace(deletes, spec=file.spec, partition=file.partition), file, specs)


def any_partition(deletes: Live, file: Live, specs: Specs) -> bool:
    return applies(replace(deletes, partition=file.partition), file, specs)


def own_spec_alone(deletes: Live, file: Live, specs: Specs) -> bool:
    return deletes.spec == file.spec and applies(deletes, file, specs)


def commit_age_of_all_files(patch: pytest.MonkeyPatch) -> None:
    def youngest(entry: Record, manifest: Record, *more: Any) -> Live:  # noqa: ANN401
        return of_entry({**entry, "sequence_number": None, "status": 1}, manifest, *more)

    of_entry = manifests._live
    patch.setattr(manifests, "_live", youngest)


def age_is_not_inherited(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(manifests, "_ADDED", 99)


def removed_files_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(manifests, "_DELETED", 99)


def null_is_not_null(patch: pytest.MonkeyPatch) -> None:
    def without_nulls(self: Projection, deleted: Any) -> Any:  # noqa: ANN401
        rows = frozenset(row for row in deleted.rows if None not in row)
        return positions(self, replace(deleted, rows=rows))

    patch.setattr(Projection, "positions", without_nulls)


def columns_that_are_gone_delete_nothing(patch: pytest.MonkeyPatch) -> None:
    def of_today(self: Any, file: Live) -> PlannedFile:  # noqa: ANN401
        result, ids = planned(self, file), {field["id"] for field in self.fields}
        remaining = tuple(d for d in result.deleted_values if ids >= {*d.ids})
        return replace(result, deleted_values=remaining)

    patch.setattr(TableAt, "_planned", of_today)


def values_as_they_lie(patch: pytest.MonkeyPatch) -> None:
    def stored(self: Projection, deleted: Any) -> Any:  # noqa: ANN401
        return positions(self, replace(deleted, types=()))

    patch.setattr(Projection, "positions", stored)


def no_defaults(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(column_types, "defaults", lambda fields: ())


def defaults_of_writing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(column_types, "DEFAULT", "write-default")


def no_parts_of_defaults(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(column_types, "_inner", lambda type_: ())


def position_files_beside_a_vector(patch: pytest.MonkeyPatch) -> None:
    deleted = TableAt._deleted

    def all_of_them(self: Any, file: Live, deletes: Sequence[Live]) -> Any:  # noqa: ANN401
        return frozenset().union(*(deleted(self, file, [one]) for one in deletes))

    patch.setattr(TableAt, "_deleted", all_of_them)


def paths_in_delete_files_as_they_were(patch: pytest.MonkeyPatch) -> None:
    def unmoved(self: Any, deletes: Live) -> Any:  # noqa: ANN401
        of = {self.locations.of(p): p for p in (f.path for f in self._data)}
        return {of.get(path, path): at for path, at in positions_of(self, deletes).items()}

    positions_of = TableAt._positions
    patch.setattr(TableAt, "_positions", unmoved)


PLANTED: Mapping[Plant, Callable[[Made], list[Row]]] = {
    no_name_mapping: tables.a_file_without_ids_is_read_by_the_name_mapping,
    dots_between_names_alone: tables.a_column_with_a_dot_in_its_name_is_no_part_of_a_struct,
    names_before_ids: tables.columns_go_by_their_ids_whatever_their_names,
    partition_before_file: tables.a_column_of_the_file_goes_before_the_partitions_value,
    name_before_partition: (
        tables.the_partitions_value_goes_before_a_column_that_is_known_by_its_name
    ),
    void_as_identity: tables.a_field_of_the_spec_that_was_dropped_has_no_value,
    applied(value_deletes_one_later): tables.values_are_deleted_of_older_files_alone,
    applied(position_deletes_one_earlier): (
        tables.positions_are_deleted_of_files_of_the_same_commit_too
    ),
    commit_age_of_all_files: tables.a_file_that_was_rewritten_keeps_the_age_of_its_rows,
    age_is_not_inherited: tables.values_are_deleted_of_older_files_alone,
    applied(any_spec): tables.deletes_of_another_spec_are_not_of_a_file,
    applied(any_partition): tables.deletes_of_another_partition_are_not_of_a_file,
    applied(own_spec_alone): (
        tables.values_that_are_deleted_without_a_partition_are_deleted_of_all_files
    ),
    removed_files_stay: tables.a_file_that_was_removed_is_no_part_of_the_table,
    null_is_not_null: tables.a_null_is_deleted_by_a_null,
    columns_that_are_gone_delete_nothing: tables.rows_are_deleted_by_a_column_that_is_gone,
    values_as_they_lie: tables.a_promoted_value_is_deleted_by_one_of_the_narrow_type,
    no_defaults: tables.rows_are_deleted_by_the_default_of_a_column_that_their_file_lacks,
    defaults_of_writing: tables.older_rows_have_the_default_that_a_column_began_with,
    no_parts_of_defaults: tables.a_part_of_a_struct_has_its_default_where_the_struct_is,
    position_files_beside_a_vector: (
        tables.a_vector_stands_for_all_positions_that_are_deleted_of_its_file
    ),
    paths_in_delete_files_as_they_were: (
        tables.positions_are_deleted_of_files_of_the_same_commit_too
    ),
}


@pytest.mark.parametrize(
    ("plant", "table"), PLANTED.items(), ids=[table.__name__ for table in PLANTED.values()]
)
def test_an_error_in_the_plan_or_the_projection_shows_in_the_table_of_its_rule(
    plant: Plant,
    table: Callable[[Made], list[Row]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = written(tmp_path, table)
    plant(monkeypatch)
    assert read(tmp_path) != expected


# --- what a plan is of --------------------------------------------------------------------------


def test_a_snapshot_has_its_own_schema_and_the_current_state_that_of_the_table(
    tmp_path: Path,
) -> None:
    made = Made(IcebergFolder(tmp_path))
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    made.schemas(FIELDS, [column(1, "number"), column(4, "c")])
    made.files.metadata(1, **made.metadata)
    assert [part.name for part in plan_of(tmp_path).columns] == ["number", "c"]
    assert [part.name for part in plan_of(tmp_path, "1").columns] == ["id", "a", "b"]
    assert read(tmp_path) == [(1, None)]
    assert read(tmp_path, "1") == [(1, 1, 1)]
    with pytest.raises(FileFactError, match="it has no snapshot 2; it has: 1"):
        plan_of(tmp_path, "2")


def test_an_old_table_has_one_schema_one_spec_and_names_its_manifests(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path))
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    path = made.files.metadata(1)
    metadata = json.loads(path.read_text())
    (snapshot,) = metadata["snapshots"]
    for key in ("schemas", "current-schema-id", "partition-specs", "default-spec-id"):
        del metadata[key]
    for key in ("manifest-list", "schema-id", "sequence-number"):
        del snapshot[key]
    snapshot["manifests"] = [f"{LOCATION}/metadata/m1.avro"]
    old = {"schema": {"type": "struct", "fields": FIELDS}, "partition-spec": []}
    path.write_text(json.dumps({**metadata, **old, "format-version": 1}))
    assert read(tmp_path) == [(1, 1, 1)]
    assert read(tmp_path, "1") == [(1, 1, 1)]


def test_a_hint_leads_to_the_last_of_the_numbers_that_follow_it(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path))
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    folder = tmp_path / "metadata"
    for number in (1, 2, 3, 5):
        made.schemas([column(1, f"v{number}")])
        made.files.metadata(number, **made.metadata).rename(folder / f"v{number}.metadata.json")

    def newest(hint: str) -> str:
        (folder / "version-hint.text").write_text(hint)
        return plan_of(tmp_path).columns[0].name

    assert [newest(hint) for hint in ("1\n", "3", "5", "4", "", "v1")] == [
        *("v3", "v3", "v5", "v5", "v5", "v5")
    ]
    assert plan_of(tmp_path, metadata="metadata/v2.metadata.json").columns[0].name == "v2"
    at = f"{LOCATION}/metadata/v2.metadata.json"
    assert plan_of(tmp_path, metadata=at).columns[0].name == "v2"


def test_what_is_left_open_is_said_with_its_source(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path))
    made.schemas([column(1, "id", **{"initial-default": 1})])
    made.files.metadata(1, **made.metadata)
    (reason,) = plan_of(tmp_path).undecided
    assert "format version 2 does not have" in reason
    made.files.metadata(2, **made.metadata, **{"format-version": 3})
    assert plan_of(tmp_path).undecided == ()


def test_positions_of_a_file_that_lies_elsewhere_are_said_to_be_of_no_file(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path))
    path = made.data("1.parquet", id=[1], a=[1], b=[1])
    deletes = made.files.deletes("d.parquet", (f"elsewhere/{path}", 0), ("data/gone.parquet", 0))
    made.files.commit(1, Entry(path), Entry(deletes, content=1))
    made.files.metadata(1)
    (reason,) = plan_of(tmp_path).undecided
    assert f"deletes rows of {tmp_path}/elsewhere/data/1.parquet, where no data file lies" in reason
    assert read(tmp_path) == [(1, 1, 1)]


def without(made: Made) -> None:
    (made.files.path / "data/1.parquet").unlink()


def another_file(made: Made) -> None:
    (made.files.path / "data/1.parquet").write_bytes(b"no data")


def another_type(made: Made) -> None:
    made.data("1.parquet", id=["1"], a=[1], b=[1])


def bare_vector(made: Made) -> None:
    puffin = tables.puffin("data/1.parquet", 0)
    (made.files.path / "data/v.puffin").write_bytes(puffin[4:])


def other_vector(made: Made) -> None:
    puffin = tables.puffin("data/1.parquet", 0)
    bitmap = BitMap64([0]).serialize()
    assert bitmap in puffin
    changed = puffin.replace(bitmap, BitMap64([1]).serialize())
    (made.files.path / "data/v.puffin").write_bytes(changed)


def no_manifest(made: Made) -> None:
    (made.files.path / "metadata/m1.avro").unlink()


def broken_manifest(made: Made) -> None:
    (made.files.path / "metadata/m1.avro").write_bytes(b"Obj\x01 and no more")


def no_key_in_deletes(made: Made) -> None:
    made.data("e.parquet", b=[1])


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (without, "1.parquet: .*No such file"),
        (another_file, "1.parquet: "),
        (another_type, "1.parquet: id is string in it, which is no int64"),
        (bare_vector, "v.puffin: it is no Puffin file"),
        (other_vector, "v.puffin: the checksum of its bitmap is wrong"),
        (no_manifest, "m1.avro: there is no such file"),
        (broken_manifest, "m1.avro: it is no Avro file"),
        (no_key_in_deletes, "e.parquet: it lacks a column by which it deletes rows"),
    ],
)
def test_files_that_are_not_what_the_metadata_say_are_an_error_in_one_line(
    spoil: Callable[[Made], None], why: str, tmp_path: Path
) -> None:
    made = Made(IcebergFolder(tmp_path))
    path = made.data("1.parquet", id=[1], a=[1], b=[1])
    made.files.commit(1, Entry(path))
    deletes = Entry(made.data("e.parquet", a=[9]), content=2, by=(2,))
    made.files.commit(2, deletes, made.vector("v.puffin", path, 0))
    made.files.metadata(1, **{"format-version": 3})
    assert read(tmp_path) == []
    spoil(made)
    with pytest.raises(FileFactError, match=why) as problem:
        read(tmp_path)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ("{", "it is not JSON"),
        ("{}", "it is no metadata of an Iceberg table"),
        ('{"format-version": 2}', "its metadata have no current schema"),
        ('{"format-version": 2, "schema": {"fields": 1}}', "cannot be understood"),
        (
            json.dumps({"format-version": 2, "schema": {"fields": [column(1, "a", "money")]}}),
            "'money' is no type of an Iceberg table",
        ),
    ],
)
def test_metadata_that_are_none_are_an_error_in_one_line(
    metadata: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata/v1.metadata.json").write_text(metadata)
    with pytest.raises(FileFactError, match=why) as problem:
        read(tmp_path)
    assert "\n" not in str(problem.value)


def test_a_mapping_that_is_no_list_is_refused(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path))
    made.files.commit(1, Entry(made.files.data("1.parquet", id=[1])))
    made.files.metadata(1, properties={NAME_MAPPING: '{"field-id": 1, "names": ["id"]}'})
    with pytest.raises(FileFactError, match="it is not a list of names and ids"):
        plan_of(tmp_path)


def test_of_two_places_in_a_table_each_is_where_it_is_said_to_lie(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    made = Made(IcebergFolder(here))
    made.files.commit(1, Entry(made.data("1.parquet", id=[1], a=[1], b=[1])))
    made.files.metadata(1)
    (there / "data").mkdir(parents=True)
    (here / "data/1.parquet").rename(there / "data/1.parquet")
    moved = Locations({LOCATION: str(here), f"{LOCATION}/data": str(there / "data")})
    folder = table_folder.at(str(here))
    assert read_plan.plan(folder, "", moved).files[0].location == str(there / "data/1.parquet")


def test_a_part_below_a_null_struct_is_null_for_deletes_too() -> None:
    type_ = pa.struct([pa.field("x", pa.int64(), metadata={"field_id": "2"})])
    values = pa.array([{"x": 1}, {"x": 2}], type_).filter(pa.array([True, True]))
    nulls = pa.StructArray.from_arrays(
        [values.field(0)], fields=[*type_], mask=pa.array([True, False])
    )
    schema = pa.schema([pa.field("s", type_, metadata={"field_id": "1"})])
    stored = StoredColumns(pa.Table.from_arrays([nulls], schema=schema), FileColumns(by_id=True))
    leaf = stored.leaf(2)
    assert leaf is not None
    assert leaf.values.to_pylist() == [None, 2]


def test_files_without_ids_of_a_table_without_a_mapping_are_not_decided(tmp_path: Path) -> None:
    made = Made(IcebergFolder(tmp_path))
    made.files.commit(1, Entry(made.files.data("1.parquet", b=[3], id=[1])))
    made.files.metadata(1)
    plan = tables.plan_of(tmp_path)
    assert read(tmp_path) == [(1, None, 3)]
    (sentence,) = plan.undecided
    assert "has no field ids, and the table no name mapping" in sentence

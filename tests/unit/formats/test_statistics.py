import datetime
import struct
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from harness import formats
from harness.formats.api import FileFactError
from harness.formats.files import parquet
from harness.formats.hudi.files import HudiStatistics
from harness.formats.iceberg import files as iceberg_files
from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, StatisticsSource, bound
from tests.builders.iceberg_folder import Entry, IcebergFolder
from tests.builders.stored_statistics import FACT, row

LOW, HIGH = Decimal("-2.00"), Decimal("1.50")
MOMENT = datetime.datetime(2024, 1, 2, 3, 4, 5, 6)  # noqa: DTZ001 - canonical ones have no zone


def footer(path: Path, **columns: pa.Array) -> dict[str, tuple[int, int | None, str, str, int]]:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    shown = parquet.statistics(path, "file")
    return {
        f"{statistics.column} {statistics.first}": (
            statistics.rows,
            statistics.nulls,
            statistics.least,
            statistics.greatest,
            statistics.first,
        )
        for statistics in shown
    }


def test_a_footer_tells_row_group_by_row_group(tmp_path: Path) -> None:
    assert footer(tmp_path / "f", n=pa.array([3, None, 5], pa.int32())) == {
        "n 0": (2, 1, "3", "3", 0),
        "n 2": (1, 0, "5", "5", 2),
    }


@pytest.mark.parametrize(
    ("values", "type_", "least", "greatest"),
    [
        ([HIGH, LOW], pa.decimal128(5, 2), LOW, HIGH),
        (["ü", "b"], pa.string(), "b", "ü"),
        ([b"\xff", b""], pa.binary(), b"", b"\xff"),
        ([True, False], pa.bool_(), False, True),
        ([MOMENT] * 2, pa.timestamp("us", tz="UTC"), MOMENT, MOMENT),
        ([None, None], pa.int64(), None, None),
    ],
)
def test_a_bound_is_a_value_as_the_values_of_its_column_are_read(
    tmp_path: Path, values: list[Value], type_: pa.DataType, least: Value, greatest: Value
) -> None:
    _, _, *bounds, _ = footer(tmp_path / "f", x=pa.array(values, type_))["x 0"]
    assert bounds == [bound(least), bound(greatest)]


def test_parts_of_structs_have_statistics_and_elements_none(tmp_path: Path) -> None:
    actual = footer(tmp_path / "f", a=pa.array([{"b": 1}, None]), c=pa.array([[1], None]))
    assert actual == {"a.b 0": (2, 1, "1", "1", 0)}


def test_a_manifest_tells_the_bounds_of_a_file_by_field_id(tmp_path: Path) -> None:
    folder = IcebergFolder(tmp_path)
    path = folder.data("a.parquet", id=["k"], n=[7])
    schema = pa.schema(
        [
            pa.field("id", pa.string(), metadata={"PARQUET:field_id": "1"}),
            pa.field("n", pa.decimal128(38, 2), metadata={"PARQUET:field_id": "2"}),
        ]
    )
    table = pa.table({"id": ["k"], "n": pa.array([Decimal("7.00")], pa.decimal128(38, 2))}, schema)
    pq.write_table(table, tmp_path / "data/a.parquet")
    number = int("9" * 38).to_bytes(16, "big", signed=True)
    metrics = {
        "record_count": 1,
        "value_counts": [{"key": 1, "value": 1}, {"key": 2, "value": 1}],
        "null_value_counts": [{"key": 2, "value": 0}],
        "lower_bounds": [{"key": 1, "value": b"k"}, {"key": 2, "value": number}],
        "upper_bounds": [],
    }
    folder.commit(1, Entry(path, metrics=metrics))
    folder.metadata(1)
    nines = bound(Decimal("9" * 36 + ".99"))
    assert iceberg_files.manifest_statistics(tmp_path) == (
        ColumnStatistics(StatisticsSource.ICEBERG, "data/a.parquet", "id", 1, None, bound("k")),
        ColumnStatistics(StatisticsSource.ICEBERG, "data/a.parquet", "n", 1, 0, nines),
    )


@pytest.mark.parametrize(
    ("transform", "least", "nulls"),
    [("day", None, [1]), ("day", b"\x0bM\x00\x00", []), ("void", None, [])],
)
def test_a_list_without_bounds_says_that_a_column_is_null_in_all_files_of_a_manifest(
    transform: str, least: bytes | None, nulls: list[int], tmp_path: Path
) -> None:
    folder = IcebergFolder(tmp_path)
    path = folder.data("a.parquet", at=[7])
    column = pa.field("at", pa.int64(), metadata={"PARQUET:field_id": "2"})
    pq.write_table(pa.table({"at": [7]}, pa.schema([column])), tmp_path / path)
    folder.commit(1, Entry(path), spec=1, least=[least])
    field = {"source-id": 2, "field-id": 1000, "name": "f", "transform": transform}
    folder.metadata(1, **{"partition-specs": [{"spec-id": 1, "fields": [field]}]})
    actual = iceberg_files.manifest_statistics(tmp_path)
    assert [(of.column, of.source, of.nulls) for of in actual] == [
        ("at", StatisticsSource.ICEBERG_LIST, count) for count in nulls
    ]


def test_a_manifest_tells_of_orc_by_the_names_of_the_file_s_snapshot(tmp_path: Path) -> None:
    folder = IcebergFolder(tmp_path)
    path = folder.data("a.orc", id=["k"])
    part = pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())]))
    pyarrow.orc.write_table(pa.table({"id": ["k", "l"], "s": part}), tmp_path / path)
    metrics = {
        "record_count": 2,
        # Of the struct that is NULL nothing is counted.
        "value_counts": [{"key": 1, "value": 2}, {"key": 3, "value": 1}],
        "null_value_counts": [{"key": 1, "value": 0}, {"key": 3, "value": 0}],
    }
    folder.commit(7, Entry(path, metrics=metrics, kind="ORC"))
    inner = {"type": "struct", "fields": [{"id": 3, "name": "a", "type": "int"}]}
    fields = [{"id": 1, "name": "id", "type": "string"}, {"id": 2, "name": "s", "type": inner}]
    renamed = [{"id": 1, "name": "key", "type": "string"}, fields[1]]
    schemas = [{"schema-id": 0, "fields": fields}, {"schema-id": 1, "fields": renamed}]
    folder.metadata(1, **{"schemas": schemas, "current-schema-id": 1})
    actual = {
        statistics.column: statistics for statistics in iceberg_files.manifest_statistics(tmp_path)
    }
    assert {name: (statistics.rows, statistics.nulls) for name, statistics in actual.items()} == {
        "id": (2, 0),
        "s.a": (2, 0),
    }
    assert actual["s.a"].contradicted_by([1, None])
    # A manifest may be written anew at a step that writes no file.
    assert formats.load("iceberg").statistics(tmp_path, []) == tuple(actual.values())
    folder.snapshots[0]["schema-id"] = None
    folder.metadata(2, schemas=schemas)
    assert iceberg_files.manifest_statistics(tmp_path) == ()


@pytest.mark.parametrize(
    ("stored", "type_", "value"),
    [
        (b"\x01", pa.bool_(), True),
        ((-2).to_bytes(4, "little", signed=True), pa.int64(), -2),
        (struct.pack("<f", 1.5), pa.float64(), 1.5),
        (struct.pack("<d", 1.5), pa.float64(), 1.5),
        ((-1).to_bytes(4, "little", signed=True), pa.date32(), datetime.date(1969, 12, 31)),
        ("ü".encode(), pa.string(), "ü"),
        (b"\xff", pa.binary(), b"\xff"),
        (b"\xff\x7f\xff\x7f", pa.date32(), None),
        (None, pa.int32(), None),
    ],
)
def test_a_stored_bound_is_a_value(stored: bytes | None, type_: pa.DataType, value: Value) -> None:
    assert iceberg_files.bound_of(stored, type_) == bound(value)


def test_a_file_whose_name_two_partitions_have_makes_its_statistics_unknown() -> None:
    other = replace(FACT, path="p=west/a.parquet")
    with pytest.raises(FileFactError, match="lies in several partitions"):
        HudiStatistics().parse([row(3, "a.parquet", "d", 1.0, 2.0)], [FACT, other])
    assert HudiStatistics().parse([row(3, "b.parquet", "d", 1.0, 2.0)], [FACT, other]) == ()


def test_hudis_metadata_table_tells_of_files_and_of_partitions() -> None:
    rows = [
        row(3, "a.parquet", "d", 0.0, 0.0),
        row(3, "a.parquet", "day", 0, 1),
        row(3, "a.parquet", "at", 0, 1),
        row(6, "p=east", "d", 1.5, None),
        row(3, "gone.parquet", "d", 0.0, 0.0),
        row(3, "older.parquet", "d", 0.0, 0.0),
    ]
    shown = HudiStatistics().parse(rows, [FACT])
    moment = datetime.datetime(1970, 1, 1)  # noqa: DTZ001
    bounds = [
        ("at", bound(moment), bound(moment.replace(microsecond=1))),
        ("d", bound(0.0), bound(0.0)),
        ("day", bound(datetime.date(1970, 1, 1)), bound(datetime.date(1970, 1, 2))),
    ]
    assert shown == (
        *(ColumnStatistics(StatisticsSource.HUDI, FACT.path, n, 2, 0, a, b) for n, a, b in bounds),
        ColumnStatistics(StatisticsSource.HUDI_PARTITION, "p=east", "d", 2, 0, "1.5"),
    )


def test_a_record_of_another_form_is_not_understood() -> None:
    with pytest.raises(FileFactError, match="a record of the metadata table: KeyError"):
        HudiStatistics().parse([{"type": 3}], [])

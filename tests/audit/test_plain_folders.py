"""Plans of plain folders of files: what is decided by them, and what is not."""

import gzip
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest
from pymetastore.hive_metastore import ttypes

from harness.audit import table_rows
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.files.hive_text import CSV
from harness.formats.hive import read_plan
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.read_plan import ReadPlan
from harness.model.canonical import MapValue
from harness.runtime.metastore_objects import CatalogEntry, encode
from tests.builders.metastore_tables import AVRO, DELIMITED, ORC, PARQUET, TEXT, metastore_table


def write(path: Path, age: int, **columns: object) -> None:
    """Write a file of the kind that its name says, `age` seconds before now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    match path.suffix:
        case ".orc":
            po.write_table(table, path)
        case ".avro":
            kinds: Mapping[str, str] = {"int64": "long", "string": "string", "int32": "int"}
            fields = [{"name": f.name, "type": ["null", kinds[str(f.type)]]} for f in table.schema]
            schema = {"type": "record", "name": "r", "fields": fields}
            with path.open("wb") as file:
                fastavro.writer(file, fastavro.parse_schema(schema), table.to_pylist())
        case _:
            pq.write_table(table, path)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))


def planned(folder: Path, catalog: DeclaredColumns | None = None) -> ReadPlan:
    return read_plan.plan(table_folder.at(str(folder)), catalog)


def rows(plan: ReadPlan) -> list[tuple[Any, ...]]:
    return sorted(table_rows.read(plan).rows, key=repr)


@pytest.mark.parametrize("kind", ["parquet", "orc", "avro"])
def test_a_column_that_was_added_at_the_end_is_null_in_older_files(
    kind: str, tmp_path: Path
) -> None:
    write(tmp_path / f"new.{kind}", 1, id=[2], B=["x"])
    write(tmp_path / f"old.{kind}", 2, ID=[1])
    plan = planned(tmp_path)
    assert [part.name for part in plan.columns] == ["id", "B"]
    assert rows(plan) == [(1, None), (2, "x")]
    assert plan.undecided == ()


@pytest.mark.parametrize(
    ("older", "why"),
    [
        ({"id": [1], "was": ["y"]}, "old.parquet: it has was and lacks b: a column may have"),
        ({"b": ["y"], "id": [1]}, "old.parquet: it has b, id: readers go by name or by place"),
        ({"id": pa.array([1], pa.int32())}, "old.parquet: id is int, in the table long"),
    ],
)
def test_what_no_rule_decides_is_said(older: Mapping[str, Any], why: str, tmp_path: Path) -> None:
    write(tmp_path / "new.parquet", 1, id=[2], b=["x"])
    write(tmp_path / "old.parquet", 2, **older)
    (sentence,) = planned(tmp_path).undecided
    assert sentence.startswith(why)


def test_partitions_are_those_of_folders_whatever_files_hold(tmp_path: Path) -> None:
    write(tmp_path / "P=a%2Fb" / "1.parquet", 1, id=[1], p=["other"])
    write(tmp_path / "P=__HIVE_DEFAULT_PARTITION__" / "_temporary" / "2.parquet", 1, id=[9])
    write(tmp_path / "P=__HIVE_DEFAULT_PARTITION__" / "2.parquet", 1, id=[2])
    catalog = DeclaredColumns((("id", "bigint"),), (("p", "string"),))
    for columns in (None, catalog):
        assert rows(planned(tmp_path, columns)) == [(1, "a/b"), (2, None)]
    assert planned(tmp_path, catalog).undecided == ()
    assert "names of folders" in planned(tmp_path).undecided[0]


def test_a_catalog_says_columns_and_types(tmp_path: Path) -> None:
    write(tmp_path / "p=7" / "1.parquet", 1, id=pa.array([1], pa.int32()), s=[{"A": 1}])
    columns = (("id", "bigint"), ("s", "struct<a:bigint,b:string>"), ("c", "decimal(9,2)"))
    plan = planned(tmp_path, DeclaredColumns(columns, (("p", "int"),)))
    assert rows(plan) == [(1, {"a": 1, "b": None}, None, 7)]
    assert plan.undecided == (
        "p=7/1.parquet: id is int, in the table long: no rule says how it is read",
    )


def test_a_column_with_a_dot_in_its_name_is_no_part_of_a_struct(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", 1, **{"a.b": [7], "a": [{"b": 5}]})
    catalog = DeclaredColumns((("a.b", "bigint"), ("a", "struct<b:bigint>")))
    for columns in (None, catalog):
        plan = planned(tmp_path, columns)
        assert (rows(plan), plan.undecided) == ([(7, {"b": 5})], ())


def test_old_orc_files_without_names_go_by_places(tmp_path: Path) -> None:
    write(tmp_path / "1.orc", 1, _col0=[1], _col1=["x"])
    catalog = DeclaredColumns((("id", "bigint"), ("s", "string"), ("new", "int")))
    plan = planned(tmp_path, catalog)
    assert (rows(plan), plan.undecided) == ([(1, "x", None)], ())


def test_a_folder_that_says_no_columns_has_no_plan(tmp_path: Path) -> None:
    with pytest.raises(FileFactError, match="no file"):
        planned(tmp_path)
    write(tmp_path / "p=1" / "1.parquet", 1, id=[1])
    write(tmp_path / "q=1" / "1.parquet", 1, id=[1])
    with pytest.raises(FileFactError, match="not of the same columns"):
        planned(tmp_path)


def entry(columns: str, read_by: str = PARQUET, library: str = "", **serde: str) -> CatalogEntry:
    """Return the entry of a table at /x with columns such as `id int, s string`."""
    table = metastore_table(read_by=read_by, library=library, serde=serde)
    table.sd.cols = [ttypes.FieldSchema(*column.split(" ", 1)) for column in columns.split(", ")]
    return CatalogEntry("t", encode(table))


def with_partition(of: CatalogEntry, folder: Path, columns: str) -> CatalogEntry:
    keys = [{"name": "p", "type": "int"}]
    names = [column.split(" ", 1) for column in columns.split(", ")]
    storage = {"location": str(folder), "cols": [{"name": n, "type": t} for n, t in names]}
    part = {"values": ["7"], "sd": storage}
    return replace(of, table={**of.table, "partitionKeys": keys}, partitions=(part,))


def test_the_catalog_says_where_a_partition_lies_and_what_it_holds(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "1.parquet", 1, id=[1])
    write(tmp_path / "t" / "p=8" / "1.parquet", 1, id=[2])
    table = with_partition(entry("id bigint, b string"), tmp_path / "elsewhere", "id bigint")
    plan = planned(tmp_path / "t", DeclaredColumns.of(table))
    assert rows(plan) == [(1, None, 7)]
    (sentence,) = plan.undecided
    assert "it lies outside of the table's folder" in sentence


@pytest.mark.parametrize(
    ("file", "of_partition", "why"),
    [
        ({"id": [1], "b": ["x"]}, "id bigint", "columns that the catalog does not have for its"),
        ({"id": [1], "b": ["x"]}, "id bigint, c string", "the catalog has id, c for its partition"),
        ({"id": [1]}, "id bigint", ""),
    ],
)
def test_a_partition_with_other_columns_is_not_decided_where_its_files_have_them(
    file: Mapping[str, Any], of_partition: str, why: str, tmp_path: Path
) -> None:
    write(tmp_path / "p=7" / "1.parquet", 1, **file)
    table = with_partition(entry("id bigint, b string"), tmp_path / "p=7", of_partition)
    sentences = planned(tmp_path, DeclaredColumns.of(table)).undecided
    assert [why in sentence for sentence in sentences] == [True] * bool(why)


@pytest.mark.parametrize(
    ("kind", "read_by", "decided"), [("parquet", PARQUET, 1), ("avro", AVRO, 1), ("orc", ORC, 0)]
)
def test_hive_finds_columns_by_name_but_for_those_of_orc(
    kind: str, read_by: str, decided: int, tmp_path: Path
) -> None:
    write(tmp_path / f"1.{kind}", 1, b=["x"], id=[1])
    plan = planned(tmp_path, DeclaredColumns.of(entry("id bigint, b string", read_by)))
    assert rows(plan) == [(1, "x")]
    assert bool(plan.undecided) == (not decided)


def text_rows(folder: Path, table: CatalogEntry, content: bytes) -> ReadPlan:
    (folder / "1.txt").write_bytes(content)
    return planned(folder, DeclaredColumns.of(table))


def test_columns_of_text_go_by_their_places(tmp_path: Path) -> None:
    table = entry("id int, s string, a array<int>, m map<string,int>", TEXT, DELIMITED)
    plan = text_rows(
        tmp_path, table, b"1\x01\\N\x015\x026\x01k\x037\x02l\x03\\N\n2\n3\x01\x01\x01\x01beyond\n"
    )
    assert rows(plan) == [
        (1, None, (5, 6), MapValue.of([("k", 7), ("l", None)])),
        (2, None, None, None),
        (3, "", (), MapValue.of([])),
    ]
    assert plan.undecided == ()


def test_the_properties_of_a_serializer_say_how_text_is_written(tmp_path: Path) -> None:
    properties = {"field.delim": ",", "escape.delim": "\\", "serialization.null.format": "-"}
    table = entry("id int, s string, v varchar(2)", TEXT, DELIMITED, **properties)
    header = {"skip.header.line.count": "1", "skip.footer.line.count": "1"}
    table.table["parameters"] = header
    plan = text_rows(tmp_path, table, b"id,s,v\r\n1,a\\,b,xyz\r\n-,-,\r\nend")
    assert rows(plan) == [(1, "a,b", "xy"), (None, None, "")]


def test_what_is_no_value_of_its_type_is_null_and_not_decided(tmp_path: Path) -> None:
    plan = text_rows(tmp_path, entry("id int", TEXT, DELIMITED), b"x\n300\n99999999999\n")
    assert rows(plan) == [(300,), (None,), (None,)]
    (sentence,) = plan.undecided
    assert "a text is no int: Hive shows NULL" in sentence


def test_csv_has_texts_alone(tmp_path: Path) -> None:
    table = entry("id int, s string", TEXT, CSV, separatorChar=";")
    plan = text_rows(tmp_path, table, b'1;"a;""b"\n2\n')
    assert rows(plan) == [("1", 'a;"b'), ("2", None)]


def test_compressed_text_is_known_by_its_name(tmp_path: Path) -> None:
    catalog = DeclaredColumns.of(entry("id int", TEXT, DELIMITED))
    (tmp_path / "1.gz").write_bytes(gzip.compress(b"1\n"))
    assert rows(planned(tmp_path, catalog)) == [(1,)]
    (tmp_path / "2.snappy").write_bytes(b"1\n")
    with pytest.raises(FileFactError, match=r"2\.snappy: text that is compressed by snappy"):
        planned(tmp_path, catalog)

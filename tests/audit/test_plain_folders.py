"""Plans of plain folders of files: what is decided by them, and what is not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

from harness.audit import table_rows
from harness.formats.api import FileFactError
from harness.formats.files import table_folder
from harness.formats.hive import read_plan
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.read_plan import ReadPlan


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


def test_a_folder_that_says_no_columns_has_no_plan(tmp_path: Path) -> None:
    with pytest.raises(FileFactError, match="no file"):
        planned(tmp_path)
    write(tmp_path / "p=1" / "1.parquet", 1, id=[1])
    write(tmp_path / "q=1" / "1.parquet", 1, id=[1])
    with pytest.raises(FileFactError, match="not of the same columns"):
        planned(tmp_path)

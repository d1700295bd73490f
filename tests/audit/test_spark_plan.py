"""What Spark is given of a read plan, and what it is not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.audit import table_rows
from harness.audit.spark_plan import SparkPlan, literal, spellings
from harness.audit.spark_reader import SparkFaultError, SparkReader, SparkTable
from harness.core.progress import Progress
from harness.engines.spark.session import Session, SparkRows
from harness.formats.files import table_folder
from harness.formats.hive import read_plan
from harness.formats.hive.read_plan import DeclaredColumns
from harness.formats.read_plan import FileColumns, PlannedFile, ReadPlan


def planned(folder: Path, declared: Sequence[tuple[str, str]], **files: pa.Table) -> ReadPlan:
    for name, table in files.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return read_plan.plan(table_folder.at(str(folder)), DeclaredColumns(tuple(declared)))


def given(plan: ReadPlan, folder: Path) -> tuple[SparkPlan, Any]:
    (folder / "given").mkdir()
    result = SparkPlan(plan, folder / "given")
    return result, result.request("v")


def test_files_of_one_schema_are_one_group_and_older_ones_another(tmp_path: Path) -> None:
    old, new = pa.table({"a": pa.array([1], pa.int32())}), pa.table({"a": [2], "b": ["x"]})
    plan = planned(tmp_path, [("a", "bigint"), ("b", "string")], o=old, p=old, q=new)
    _, request = given(plan, tmp_path)
    selects = [(len(group["paths"]), group["select"][:2]) for group in request["groups"]]
    assert selects == [
        (2, ["cast(c0 as bigint) as `a`", "cast(null as string) as `b`"]),
        (1, ["c0 as `a`", "c1 as `b`"]),
    ]


def test_a_text_is_no_variable_of_spark() -> None:
    assert literal("a file's ${env:x}") == "'a file\\'s \\u0024{env:x}'"


@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        ("string", pa.array([1.5])),
        ("double", pa.array([2**53])),
        ("timestamp", pa.array([1000], pa.timestamp("ns"))),
        ("map<string,bigint>", pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32()))),
    ],
)
def test_what_spark_makes_other_values_of_is_read_here(
    tmp_path: Path, declared: str, stored: pa.Array
) -> None:
    plan = planned(tmp_path, [("a", declared), ("n", "bigint")], f=pa.table({"a": stored}))
    spark, request = given(plan, tmp_path)
    assert request["groups"] == []
    assert list(spark.read_here) == ["f.parquet"]
    (ready,) = request["ready"]
    assert pq.read_table(ready).num_rows == 1


def test_a_file_whose_name_spark_passes_over_is_read_here(tmp_path: Path) -> None:
    plan = planned(tmp_path, [("a", "bigint")], f=pa.table({"a": [1]}))
    (file,) = plan.files
    hidden = tmp_path / "_f.parquet"
    Path(file.location).rename(hidden)
    moved = replace(plan, files=(replace(file, location=str(hidden)),))
    spark, request = given(moved, tmp_path)
    assert (request["groups"], list(spark.read_here)) == ([], [file.path])


def test_a_path_is_spelt_as_spark_spells_it() -> None:
    file = PlannedFile("f", "/t/p=a%2Fb/x y/é[1]#?.parquet", FileColumns())
    path = "/t/p=a%252Fb/x%20y/é%5B1%5D%23%3F.parquet"
    assert spellings(file) == (f"file:{path}", f"file://{path}")


@dataclass
class SimulatedSession:
    """Answers as Spark would by what it reads, which `change` may alter."""

    plan: ReadPlan
    change: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]

    def run(self, sql: str, *, timeout_s: float) -> SparkRows:
        del timeout_s
        read = table_rows.read(self.plan)
        rows = self.change(
            [
                (*row, spellings(file.file)[0], position)
                for file in read.files
                for row, position in zip(
                    zip(*(c.to_pylist() for c in file.rows.columns), strict=True),
                    file.positions,
                    strict=True,
                )
            ]
        )
        if "count(*)" not in sql:
            asked = [row for row in rows if f"'{row[-2]}'" in sql]
            return SparkRows((), tuple(asked), 0.0)
        files = {row[-2] for row in rows}
        counts = ((file, sum(row[-2] == file for row in rows)) for file in files)
        return SparkRows((), tuple(counts), 0.0)


FAULTS: dict[str, tuple[Callable[[list[Any]], list[Any]], str]] = {
    "a value": (lambda rows: [(9, *row[1:]) for row in rows], "reads a of row 0 as 9, PyArrow as"),
    "a row lost": (lambda rows: rows[:-1], "reads 1 rows of it, by its footer"),
    "a row twice": (lambda rows: [*rows, rows[0]], "reads 3 rows of it, by its footer"),
    "places": (lambda rows: [(*row[:-1], row[-1] + 1) for row in rows], "only PyArrow reads row 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_spark_is_laid_to_spark(tmp_path: Path, fault: str) -> None:
    change, says = FAULTS[fault]
    plan = planned(
        tmp_path, [("a", "bigint")], f=pa.table({"a": [1, 2]}), g=pa.table({"a": [3, 4]})
    )
    for faulty in (False, True):
        spark = SparkPlan(plan, tmp_path / f"given-{faulty}")
        spark.folder.mkdir()
        spark.request("v")
        simulated = cast("Session", SimulatedSession(plan, change if faulty else list))
        table = SparkTable(SparkReader("spark-x", simulated, tmp_path, Progress()), spark, "v")
        if faulty:
            with pytest.raises(SparkFaultError, match=says):
                table.check()
        else:
            table.check()

import datetime
import math
from pathlib import Path

import pytest
from pyarrow import parquet as pq

from harness import formats
from harness.formats.files import data_files
from harness.scenario.statements import ArrowFile
from harness.write import send_step

COLUMNS = (("id", "string"), ("x", "double"), ("at", "timestamp"), ("l", "array<struct<a: int>>"))
AT = datetime.datetime(1500, 1, 1)  # noqa: DTZ001 - canonical moments have no zone
ROWS = (("1", math.nan, AT, ({"a": 1}, None)), ("2", 1.5, None, None))


@pytest.mark.parametrize(("int96", "kind"), [(True, "INT96"), (False, "INT64")])
def test_a_file_of_pyarrow_holds_the_values_and_its_bounds_leave_nan_out(
    tmp_path: Path, kind: str, *, int96: bool
) -> None:
    path = send_step.write_parquet(tmp_path, ArrowFile("p=1", COLUMNS, ROWS, int96))
    _, (first, second) = data_files.content(path)
    assert second == ROWS[1]
    assert isinstance(first[1], float)
    assert math.isnan(first[1])
    assert first[2:] == ROWS[0][2:]
    with pq.ParquetFile(path) as file:
        group = file.metadata.row_group(0)
    assert (group.column(1).statistics.min, group.column(1).statistics.max) == (1.5, 1.5)
    assert group.column(2).physical_type == kind
    fact = formats.load("hive-parquet").facts(tmp_path, "id")[0]
    assert (fact.path, fact.keys) == (path.relative_to(tmp_path).as_posix(), ("1", "2"))


def test_the_files_of_a_write_of_hive_have_the_name_of_one_write(tmp_path: Path) -> None:
    """What Hive still writes, in a hidden folder, is none of the table's."""
    file = ArrowFile("p=1", COLUMNS, ROWS, int96=False)
    spark = send_step.write_parquet(tmp_path, file)
    made = ["p=1/000000_0", "p=1/000001_0_copy_2", "p=2/000000_0", ".hive-staging_1/000000_0"]
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(spark.read_bytes())
    (tmp_path / "p=1/.000000_0.crc").touch()
    send_step.name_files(tmp_path)
    shape = formats.load("hive-parquet")
    assert len(shape.instants(tmp_path)) == 2
    paths = [fact.path for fact in shape.facts(tmp_path, "id")]
    assert sorted(path.rpartition("/")[0] for path in paths) == ["p=1", "p=1", "p=1", "p=2"]
    assert sum(path.endswith(("-000000_0", "-000001_0_copy_2")) for path in paths) == 3
    assert not list(tmp_path.rglob("*.crc"))


def test_a_column_that_the_folder_is_named_by_is_none_of_the_file_s_to_readers_of_facts(
    tmp_path: Path,
) -> None:
    columns = (("id", "string"), ("p", "int"))
    send_step.write_parquet(tmp_path, ArrowFile("p=1", columns, (("1", 99),), int96=False))
    (fact,) = formats.load("hive-parquet").facts(tmp_path, "id")
    assert [name for name, _ in fact.columns] == ["id"]
    content = formats.load("hive-parquet").file_rows(tmp_path / fact.path, fact)
    assert content == (("id",), (("1",),))

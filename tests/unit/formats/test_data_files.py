import datetime
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Final
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from harness import formats
from harness.core.records import FileValues
from harness.formats.api import FileFactError
from harness.formats.files import arrow_file, data_files
from harness.model.canonical import MapValue, Value, same
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation.column_resolution import META

LOGS = Path(__file__).parent / "hudi_logs"
MOMENT = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)  # noqa: DTZ001 - canonical ones have none
UTC = MOMENT.replace(tzinfo=datetime.UTC)
PLAIN = {
    "flag": (pa.bool_(), True, True),
    "number": (pa.int64(), 7, 7),
    "single": (pa.float32(), 0.5, 0.5),
    "text": (pa.string(), "é", "é"),
    "bytes": (pa.binary(), b"\0", b"\0"),
    "exact": (pa.decimal128(10, 2), Decimal("1.50"), Decimal("1.50")),
    "day": (pa.date32(), MOMENT.date(), MOMENT.date()),
    "moment": (pa.timestamp("us", tz="UTC"), UTC, MOMENT),
    "zoneless": (pa.timestamp("us"), MOMENT, MOMENT),
    "nothing": (pa.string(), None, None),
    "parts": (pa.struct({"a": pa.timestamp("us", tz="UTC")}), {"a": UTC}, {"a": MOMENT}),
    "many": (pa.list_(pa.int32()), [1, None], (1, None)),
    "pairs": (pa.map_(pa.string(), pa.int32()), [("b", 2), ("a", 1)], None),
}


def fact(path: str, *keys: str, instant: str = "1", kind: FileKind = FileKind.BASE) -> FileFact:
    return FileFact(path, kind, "group", instant, (), keys)


def written(folder: Path, **columns: tuple[pa.DataType, object, object]) -> FileValues:
    arrays = {name: pa.array([value], type_) for name, (type_, value, _) in columns.items()}
    pq.write_table(pa.table(arrays), folder / "f.parquet")
    (actual,) = data_files.read(folder, [fact("f.parquet", "1")], [0])
    return actual


@pytest.mark.parametrize("name", ["f.parquet", "part-00000"], ids=["Parquet", "ORC"])
def test_values_of_every_type_are_canonical_in_files_told_by_their_first_bytes(
    tmp_path: Path, name: str
) -> None:
    arrays = {column: pa.array([value], type_) for column, (type_, value, _) in PLAIN.items()}
    write = pq.write_table if name.endswith("parquet") else orc.write_table
    write(pa.table(arrays), tmp_path / name)
    (actual,) = data_files.read(tmp_path, [fact(name, "1")], [0])
    expected = tuple(value for _, _, value in PLAIN.values())[:-1]
    assert (actual.unread, actual.columns, actual.rows[0][:-1]) == ("", tuple(PLAIN), expected)
    assert [type(value) for value in actual.rows[0][:-1]] == [type(value) for value in expected]
    assert actual.rows[0][-1] == MapValue((("a", 1), ("b", 2)))


def test_a_timestamp_that_has_no_canonical_form_is_not_cut(tmp_path: Path) -> None:
    actual = written(tmp_path, at=(pa.timestamp("ns"), 1, None))
    assert actual.rows == ()
    assert "finer than a microsecond" in actual.unread


def test_what_hudi_adds_to_each_row_is_given_where_it_is_asked_for(tmp_path: Path) -> None:
    added = dict.fromkeys(META, (pa.string(), "x", "x")) | {"f1": PLAIN["text"]}
    assert written(tmp_path, **added).meta == ()
    (actual,) = data_files.read(tmp_path, [fact("f.parquet", "1")], [0], meta=True)
    assert (actual.columns, actual.rows, actual.meta) == (("f1",), (("é",),), (("x",) * 5,))
    written(tmp_path, _hoodie_record_key=(pa.string(), "1", "1"), f1=PLAIN["text"])
    (actual,) = data_files.read(tmp_path, [fact("f.parquet", "1")], [0], meta=True)
    assert (actual.columns, actual.rows, actual.meta) == (("f1",), (("é",),), ()), "not all there"


def test_when_each_row_was_committed_is_given_where_the_file_says_it_of_all(tmp_path: Path) -> None:
    at = pa.array(["20240101000000001", "20240101000000002"])
    pq.write_table(pa.table({"_hoodie_commit_time": at, "f1": at}), tmp_path / "f.parquet")
    (actual,) = data_files.read(tmp_path, [fact("f.parquet", "1", "2")], [0])
    assert (actual.columns, actual.commits) == (("f1",), tuple(at.to_pylist()))
    assert written(tmp_path, _hoodie_commit_time=PLAIN["nothing"], f1=PLAIN["text"]).commits == ()
    assert written(tmp_path, f1=PLAIN["text"]).commits == ()


def test_a_log_block_tells_the_values_of_its_records(tmp_path: Path) -> None:
    shutil.copy(LOGS / "update-1.0.2.log", tmp_path / "l")
    instant = "20261121150656636"
    (actual,) = data_files.read(tmp_path, [fact("l", "1", instant=instant, kind=FileKind.LOG)], [0])
    assert actual.columns == ("id", "ts", "f1_new", "f3")
    assert actual.rows == (("1", 2, "a1u", None),)
    assert actual.commits == (instant,)
    (actual,) = data_files.read(tmp_path, [fact("l", "1", kind=FileKind.LOG)], [0])
    assert (actual.rows, actual.unread) == ((), "l: it has no block 0 of instant 1")


def test_a_block_is_its_place_in_the_file_and_not_the_keys_in_it(tmp_path: Path) -> None:
    written = (LOGS / "update-1.0.2.log").read_bytes()
    (tmp_path / "l").write_bytes(written + written.replace(b"a1u", b"b2v"))
    facts = [
        replace(fact("l", "1", instant="20261121150656636", kind=FileKind.LOG), block=place)
        for place in (0, 1)
    ]
    blocks = data_files.read(tmp_path, facts, [0, 1])
    assert [block.rows for block in blocks] == [(("1", 2, text, None),) for text in ("a1u", "b2v")]


def test_files_without_rows_and_those_not_asked_for_are_left_out(tmp_path: Path) -> None:
    files = [fact("a"), fact("b", "1"), fact("c", "2")]
    assert [values.file for values in data_files.read(tmp_path, files, [0, 2])] == [2]


@pytest.mark.parametrize("kind", FileKind)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, kind: FileKind) -> None:
    (actual,) = data_files.read(tmp_path, [fact("gone", "1", kind=kind)], [0])
    assert "gone" in actual.unread


MOMENTS: Final = [
    datetime.datetime(1, 1, 3, microsecond=1),  # noqa: DTZ001 - canonical timestamps have no zone
    datetime.datetime(1969, 12, 31, 23, 59, 59, 123456),  # noqa: DTZ001
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
]


def read_back(folder: Path, values: list[Value], type_: pa.DataType, **how: object) -> list[Value]:
    path = folder / "a.parquet"
    table = pa.table({"v": pa.array(values, type_)})
    pq.write_table(table, path, **how)
    columns, rows = data_files.content(path)
    assert columns == ("v",)
    return [value for (value,) in rows]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([-(2**63), None, 2**63 - 1], pa.int64()),
        ([float("nan"), -0.0, 0.0, float("-inf"), 5e-324], pa.float64()),
        ([float("nan"), -0.0, 3.4028234663852886e38], pa.float32()),
        ([Decimal("9" * 38), Decimal(1 - 10**38)], pa.decimal128(38, 0)),
        ([datetime.date(1, 1, 2), datetime.date(9999, 12, 31)], pa.date32()),
        (MOMENTS, pa.timestamp("us")),
        (["", "e\u0301", "\U0001f600"], pa.string()),
    ],
    ids=str,
)
def test_hard_values_are_what_stands_in_the_file(
    values: list[Value], type_: pa.DataType, tmp_path: Path
) -> None:
    actual = read_back(tmp_path, values, type_)
    assert len(actual) == len(values)
    assert all(map(same, actual, values))


def test_times_of_a_hive_in_another_zone_are_those_that_were_written(tmp_path: Path) -> None:
    """Clocks of Los Angeles were 7:52:58 behind before 1883, and are 7 hours in summer."""
    at = [datetime.datetime(1880, 1, 1, 7, 52, 58), datetime.datetime(2024, 7, 1, 7)]  # noqa: DTZ001
    table = pa.table({"id": ["1", "2"], "at": pa.array(at, pa.timestamp("us"))})
    zone = {"writer.time.zone": "America/Los_Angeles"}
    path = tmp_path / f"part-00000-{UUID(int=1)}-000000_0"
    pq.write_table(table.replace_schema_metadata(zone), path, use_deprecated_int96_timestamps=True)
    shape = formats.load("hive-parquet")
    (made,) = shape.facts(tmp_path, "id")
    _, rows = shape.file_rows(path, made)
    midnight = datetime.datetime(1880, 1, 1), datetime.datetime(2024, 7, 1)  # noqa: DTZ001
    assert [row[1] for row in rows] == [*midnight]


def test_times_of_96_bits_keep_their_century(tmp_path: Path) -> None:
    late = MOMENTS[1:2] + [datetime.datetime(2262, 4, 12)]  # noqa: DTZ001, RUF005
    actual = read_back(tmp_path, late, pa.timestamp("us"), use_deprecated_int96_timestamps=True)
    assert actual == late


@pytest.mark.parametrize("name", ["f.parquet", "f.orc"])
def test_of_a_file_the_rows_at_some_positions_are_read(tmp_path: Path, name: str) -> None:
    table, path = pa.table({"a": range(10), "b": [[at] for at in range(10)]}), tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(table, path, row_group_size=3)
    else:
        orc.write_table(table, path)
    for only in ([], [0], [2, 3], [1, 6, 9], [*range(10)]):
        rows = arrow_file.read(str(path), only)
        assert rows.to_pylist() == [{"a": at, "b": [at]} for at in only]
    with pytest.raises(FileFactError, match=f"^{name}: "):
        arrow_file.read(str(path), [1, 10])

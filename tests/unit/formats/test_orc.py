import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.orc as files
import pytest

from harness.formats.api import FileFactError
from harness.formats.files import data_files, orc
from harness.model.canonical import Value
from harness.model.file_facts import ColumnStatistics, bound

LATE = datetime.datetime(9999, 12, 31)  # noqa: DTZ001 - canonical timestamps have no zone


def written(folder: Path, **columns: pa.Array) -> Path:
    path = folder / "part-00000"
    files.write_table(pa.table(columns), path)
    return path


def test_what_is_no_orc_file_or_lacks_the_key_is_reported_by_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"ORC and no more")
    with pytest.raises(FileFactError, match="broken: "):
        data_files.content(broken)
    with pytest.raises(FileFactError, match="part-00000: it has no column id"):
        data_files.read_footer(written(tmp_path, a=pa.array([1])), "id")


def test_a_time_that_nanoseconds_of_64_bits_cannot_hold_is_read(tmp_path: Path) -> None:
    at = pa.array([LATE, None], pa.timestamp("us"))
    path = written(tmp_path, at=at, inside=pa.StructArray.from_arrays([at], ["at"]))
    assert data_files.content(path)[1] == ((LATE, {"at": LATE}), (None, {"at": None}))


DAY = datetime.date(2024, 1, 2)
TIME = datetime.datetime(2024, 1, 2, 3, 4, 5, 6007)  # noqa: DTZ001 - written in UTC
MILLISECOND = datetime.timedelta(milliseconds=1)
FLOOR = TIME.replace(microsecond=6000)


def stripes(path: Path, **columns: pa.Array) -> tuple[ColumnStatistics, ...]:
    pyarrow.orc.write_table(pa.table(columns), path)
    return orc.statistics(path, "file")


@pytest.mark.parametrize(
    ("values", "type_", "least", "greatest"),
    [
        ([3, None, -5], pa.int32(), -5, 3),
        ([Decimal("1.50"), Decimal("-2.00")], pa.decimal128(5, 2), Decimal(-2), Decimal("1.5")),
        (["ü", "b"], pa.string(), "b", "ü"),
        ([True, False], pa.bool_(), False, True),
        ([DAY, datetime.date(1, 1, 1)], pa.date32(), datetime.date(1, 1, 1), DAY),
        ([TIME], pa.timestamp("us"), FLOOR, FLOOR + MILLISECOND),
        ([TIME], pa.timestamp("us", "UTC"), FLOOR, FLOOR + MILLISECOND),
        ([b"\xff"], pa.binary(), None, None),
        ([None], pa.bool_(), None, None),
    ],
)
def test_a_bound_is_a_value_as_the_values_of_its_column_are_read(
    tmp_path: Path, values: list[Value], type_: pa.DataType, least: Value, greatest: Value
) -> None:
    (actual,) = stripes(tmp_path / "f", x=pa.array(values, type_))
    assert (actual.least, actual.greatest) == (bound(least), bound(greatest))
    assert (actual.rows, actual.nulls) == (len(values), values.count(None))
    assert not actual.contradicted_by(values)


def test_parts_of_structs_have_statistics_and_elements_none(tmp_path: Path) -> None:
    actual = stripes(
        tmp_path / "f", a=pa.array([{"b": 1}, None]), c=pa.array([[1], None]), d=pa.array([2, 3])
    )
    assert [(statistics.column, statistics.nulls, statistics.least) for statistics in actual] == [
        ("a.b", 1, "1"),
        ("d", 0, "2"),
    ]


def test_each_stripe_tells_of_its_own_rows(tmp_path: Path) -> None:
    import pyorc  # noqa: PLC0415

    texts = (f"{number:09}" * 20 for number in range(20_000))
    with (
        (tmp_path / "f").open("wb") as file,
        pyorc.Writer(
            file,
            "struct<n:int,t:string>",
            stripe_size=100_000,
            compression=pyorc.CompressionKind.NONE,
            dict_key_size_threshold=0.0,
        ) as writer,
    ):
        writer.writerows(enumerate(texts))
    actual = [
        statistics for statistics in orc.statistics(tmp_path / "f", "f") if statistics.column == "n"
    ]
    rows = [number for statistics in actual for number in statistics.row_numbers()]
    assert rows == list(range(20_000))
    assert len(actual) > 1
    assert [(statistics.least, statistics.greatest) for statistics in actual] == [
        (str(statistics.first), str(statistics.first + statistics.rows - 1))
        for statistics in actual
    ]


@pytest.mark.parametrize("damage", [b"", b"ORC", b"ORC and no more"])
def test_statistics_of_what_is_no_orc_file_name_it(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "broken").write_bytes(damage)
    with pytest.raises(FileFactError, match="broken: "):
        orc.statistics(tmp_path / "broken", "broken")

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.formats.files import parquet
from harness.model.canonical import Value, same

MOMENTS: Final = [
    datetime.datetime(1, 1, 3, microsecond=1),  # noqa: DTZ001 - canonical timestamps have no zone
    datetime.datetime(1969, 12, 31, 23, 59, 59, 123456),  # noqa: DTZ001
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),  # noqa: DTZ001
]


def read_back(folder: Path, values: list[Value], type_: pa.DataType, **how: object) -> list[Value]:
    path = folder / "a.parquet"
    table = pa.table({"v": pa.array(values, type_)})
    pq.write_table(table, path, **how)
    columns, rows = parquet.content(path)
    assert columns == ("v",)
    return [value for (value,) in rows]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([-128, None, 127], pa.int8()),
        ([-(2**15), 2**15 - 1], pa.int16()),
        ([-(2**63), 2**63 - 1], pa.int64()),
        ([float("nan"), -0.0, 0.0, float("-inf"), 5e-324], pa.float64()),
        ([float("nan"), -0.0, 3.4028234663852886e38], pa.float32()),
        ([Decimal("9" * 38), Decimal(1 - 10**38)], pa.decimal128(38, 0)),
        ([datetime.date(1, 1, 2), datetime.date(9999, 12, 31)], pa.date32()),
        (MOMENTS, pa.timestamp("us")),
        ([b"", b"\x00\xff"], pa.binary()),
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


def test_times_of_96_bits_keep_their_century(tmp_path: Path) -> None:
    late = MOMENTS[1:2] + [datetime.datetime(2262, 4, 12)]  # noqa: DTZ001, RUF005
    actual = read_back(tmp_path, late, pa.timestamp("us"), use_deprecated_int96_timestamps=True)
    assert actual == late

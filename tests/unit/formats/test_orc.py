from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as files
import pytest

from harness.formats.api import FileFactError
from harness.formats.files import orc

LATE = datetime.datetime(9999, 12, 31)  # noqa: DTZ001 - canonical timestamps have no zone


def written(folder: Path, **columns: pa.Array) -> Path:
    path = folder / "part-00000"
    files.write_table(pa.table(columns), path)
    return path


def test_columns_are_told_in_the_files_order_and_keys_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, f2=pa.array(["b"]), id=pa.array([7], pa.int64()))
    footer = orc.read(path, "id")
    assert footer.columns == (("f2", "string"), ("id", "int64"))
    assert footer.keys == ("7",)


def test_what_is_no_orc_file_or_lacks_the_key_is_told_by_its_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"ORC and no more")
    with pytest.raises(FileFactError, match="broken: "):
        orc.content(broken)
    with pytest.raises(FileFactError, match="part-00000: Invalid column selected id"):
        orc.read(written(tmp_path, a=pa.array([1])), "id")


def test_a_time_that_arrow_cannot_hold_is_not_another_time(tmp_path: Path) -> None:
    path = written(tmp_path, at=pa.array([LATE], pa.timestamp("us")))
    with pytest.raises(FileFactError, match="out of range"):
        orc.content(path)

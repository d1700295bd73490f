from __future__ import annotations

from pathlib import Path

import pytest

from harness.runtime import work_folders


def test_a_new_folder_has_the_first_number_that_is_free(tmp_path: Path) -> None:
    names = [
        work_folders.numbered(tmp_path / "engines", name).name for name in ("hive", "hive", "spark")
    ]
    assert names == ["hive-0", "hive-1", "spark-0"]
    assert work_folders.numbered(tmp_path, "table", iter([3])).name == "table-3"


def test_a_folder_that_somebody_else_just_made_is_left_to_him(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hive-0").mkdir()
    monkeypatch.setattr(Path, "exists", lambda _: False)  # nobody saw it come
    assert work_folders.numbered(tmp_path, "hive").name == "hive-1"

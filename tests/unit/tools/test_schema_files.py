"""The tool that counts the files which each step of a Hudi table leaves."""

from __future__ import annotations

from pathlib import Path

from tools.measure import schema_files
from tools.measure.schema_files import Left

ROW = ("spark", "hudi-cow", "write", "yes")


def left(schema: int, other: int, removed: int = 0) -> Left:
    """Return a step that left so many files of ten bytes."""
    files = {f".hoodie/.schema/{at}": 10 for at in range(schema)}
    files |= {f".hoodie/{at}": 10 for at in range(other)}
    return Left(ROW, files, removed)


def test_a_row_has_the_medians_of_its_steps() -> None:
    *_, row = schema_files.page([left(3, 3), left(3, 5, removed=1), left(0, 4, removed=1)])
    assert row == "| spark | hudi-cow | write | yes | 3 | 3 | 1 | 30 | 4 | 0 | 60 |"


def test_files_of_the_metadata_table_are_counted_apart() -> None:
    found = Left(ROW, {".hoodie/metadata/files/a": 7, ".hoodie/1.commit": 5}, 0)
    *_, row = schema_files.page([found])
    assert row.endswith("| 0 | 0 | 0 | 1 | 1 | 12 |")


def test_checksums_and_folders_are_no_files_of_hudi(tmp_path: Path) -> None:
    (tmp_path / ".hoodie" / ".schema").mkdir(parents=True)
    for name, text in (("1.commit", "{}"), (".1.commit.crc", "x"), (".schema/1", "")):
        (tmp_path / ".hoodie" / name).write_text(text)
    assert schema_files.sizes(tmp_path) == {".hoodie/1.commit": 2, ".hoodie/.schema/1": 0}

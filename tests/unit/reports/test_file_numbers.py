"""Files are numbered by age, and a path is called by the numbers of all that it holds."""

from __future__ import annotations

from harness.model.file_facts import FileFact, FileKind
from harness.reports.html_cells import number_files

STEPS = {"20": 1, "10": 2}


def fact(path: str, instant: str, group: str, kind: FileKind = FileKind.BASE) -> FileFact:
    return FileFact(path, kind, group, instant, (), ())


def test_files_are_numbered_by_the_step_that_wrote_them() -> None:
    late, other, early = fact("a", "10", "a"), fact("c", "20", "y"), fact("b", "20", "x")
    files = number_files([late, other, early], STEPS)
    assert files.facts == (early, other, late)
    assert [files.name(file_fact) for file_fact in (early, other, late)] == ["#1", "#2", "#3"]
    assert files.name(fact("z", "10", "z")) == files.name(None) == files.names("z") == ""


def test_a_log_file_has_a_number_for_each_of_its_blocks() -> None:
    blocks = [fact("log", "10", "a", FileKind.LOG) for _ in range(2)]
    files = number_files([*blocks, fact("a", "20", "a")], STEPS)
    assert [files.name(block) for block in blocks] == ["#2", "#3"]
    assert files.names("log") == "#2 or #3"

"""Which files hold a row: of each slice the base file and the log files after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation import row_files
from harness.model.simulation.column_resolution import LayoutError
from harness.model.simulation.row_files import RowFile
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import Story, history


def steps_of(
    story: Story, facts: Sequence[FileFact], steps: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    found = row_files.lying(story.history, facts, steps)
    return {key: tuple(file.step for file in files) for key, files in found.items()}


def held(text: str, *, mor: bool) -> dict[str, tuple[int, ...]]:
    story = history(text, mor=mor)
    steps = {instant_of(step): step for step in range(len(story.history))}
    return steps_of(story, [file.fact() for file in story.disk.files], steps)


def test_a_file_written_again_holds_all_its_rows() -> None:
    assert held("insert 1,2; upsert 1; insert 3", mor=False) == {"1": (2,), "2": (2,), "3": (3,)}


def test_log_files_hold_rows_beside_the_base_file() -> None:
    assert held("insert 1,2; upsert 1; upsert 1", mor=True) == {"1": (1, 2, 3), "2": (1,)}


def test_compaction_leaves_the_base_file_alone() -> None:
    assert held("insert 1,2; upsert 1; compact", mor=True) == {"1": (3,), "2": (3,)}


def test_a_file_that_no_step_made_tells_nothing() -> None:
    story = history("insert 1", mor=True)
    with pytest.raises(LayoutError, match="no step made the instant"):
        row_files.lying(story.history, [file.fact() for file in story.disk.files], {})


def test_a_key_may_be_written_with_its_column() -> None:
    story = history("insert 1", mor=False)
    (fact,) = (file.fact() for file in story.disk.files)
    named = [replace(fact, keys=("id:1",))]
    assert steps_of(story, named, {instant_of(1): 1}) == {"1": (1,)}


def mapped(path: str, *stored: str) -> RowFile:
    columns = (("id", "string"), ("g", "string"))
    return RowFile(1, FileFact(path, FileKind.BASE, path, "1", columns, stored_names=stored))


def test_a_file_calls_its_columns_by_the_names_of_then_or_by_physical_ones() -> None:
    assert mapped("a.parquet").stored_as("g") == {"g"}
    assert mapped("a.parquet", "id", "f1").stored_as("g") == {"f1"}
    assert mapped("a.parquet", "id", "f1").stored_as("g.a") == {"f1.a"}


def test_a_partition_column_is_called_as_the_folder_says() -> None:
    assert mapped("q=1/p%20=p0/a.parquet", "id", "f1").stored_as("r") == {"q", "p "}
    assert mapped("a8/a.parquet", "id", "f1").stored_as("r") == {"a8"}

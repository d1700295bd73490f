"""Column resolution by file facts; tests/quality compares whole answers with simulated readers."""

from dataclasses import replace

import pytest

from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import LayoutError, WrittenFiles, slices
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from tests.builders.simulated_disk import META, instant_of
from tests.builders.table_story import Story, history

STEPS = {instant_of(step): step for step in range(9)}
STORY = history("insert 1,2; move f1 after f2; upsert 1; delete 2", mor=True)
FILES = [file.fact() for file in STORY.disk.files]


def texts(
    story: Story, files: list[FileFact], by: ColumnMapping, *, base_only: bool
) -> list[tuple[str, ...]]:
    strategy = ReadStrategy(by, Logs.IGNORED if base_only else Logs.MERGED)
    rows = Simulation(story.history, files, STEPS).rows(strategy)
    return [tuple(map(str, row.values)) for row in rows]


def test_logs_replace_and_delete_rows_of_the_base_file() -> None:
    assert texts(STORY, FILES, ColumnMapping.ID, base_only=False) == [
        ("1", "203001", "f4s3r1", "f3s3r1")
    ]
    assert texts(STORY, FILES, ColumnMapping.ID, base_only=True) == [
        ("1", "201001", "f4s1r1", "f3s1r1"),
        ("2", "201002", "f4s1r2", "f3s1r2"),
    ]


def test_an_instant_that_no_step_made_is_no_layout() -> None:
    with pytest.raises(LayoutError, match="no step made the instant 1999"):
        list(slices([replace(FILES[0], instant="1999")], STEPS))


def test_meta_columns_count_for_nothing() -> None:
    bare = [replace(file, columns=file.columns[len(META) :]) for file in FILES]
    assert not any(name.startswith("_hoodie") for name, _ in bare[0].columns)
    for by in (ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION):
        with_meta = texts(STORY, FILES, by, base_only=True)
        assert texts(STORY, bare, by, base_only=True) == with_meta


@pytest.mark.parametrize(
    ("columns", "text", "ways_"),
    [
        ("id string, a string, b string", "insert 1; move a after b", ()),
        ("id string, a string, n int", "insert 1; move a after n", (ColumnMapping.POSITION,)),
        (
            "id string, a string, n int",
            "insert 1; drop n; add x; add n",
            (ColumnMapping.NAME, ColumnMapping.POSITION),
        ),
        (
            "id string, a string, n int",
            "insert 1; type n long",
            (ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION),
        ),
        ("id string, s struct<a: string>", "insert 1; add s.b int", ()),
        (
            "id string, s struct<a: string>",
            "insert 1; rename s.a c; add s.a int",
            (ColumnMapping.NAME, ColumnMapping.POSITION),
        ),
        ("id string, a string, n int", "insert 1; move a after n; upsert 1", ()),
    ],
)
def test_the_ways_that_meet_a_column_of_another_type(
    columns: str, text: str, ways_: tuple[ColumnMapping, ...]
) -> None:
    story = history(text, columns)
    files = [file.fact() for file in story.disk.files]
    assert WrittenFiles(story.history, files, STEPS).meeting_other_types(counted=False) == ways_

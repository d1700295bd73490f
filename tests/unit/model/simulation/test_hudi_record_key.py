"""Record keys from the third column: which rows are beside each other, and where it is tried."""

from __future__ import annotations

import pytest

from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation.hudi import NO_META, Meta, rekeyed
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, Logs, ReadStrategy
from tests.builders.simulated_disk import instant_of
from tests.builders.simulated_reader import Reader, rows_of
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, f2 string"
STORY = "insert 1,2; insert 3; upsert 1"
WAY = ReadStrategy(ColumnMapping.ID, rekeyed=True)
BY_NAME = ReadStrategy(ColumnMapping.NAME, Logs.BY_ID, rekeyed=True)


def reading(story: Story, *, bare: bool = True, without: FileKind | None = None) -> Simulation:
    facts: list[FileFact] = [file.fact() for file in story.disk.files if file.kind is not without]
    meta: Meta = {
        file.path: [tuple(file.added(key).values()) for key in file.records]
        for file in story.disk.files
    }
    steps = {instant_of(step): step for step in range(len(story.history))}
    return Simulation(story.history, facts, steps, meta if bare else NO_META)


def rows(story: Story, way: ReadStrategy = WAY) -> list[tuple[object, ...]]:
    return sorted((row.values for row in reading(story).rows(way)), key=str)


def test_rows_of_base_files_are_beside_those_of_their_log_files() -> None:
    assert rows(history(STORY, COLUMNS, mor=True)) == [
        ("1", 201001, "f3s1r1", "f4s1r1"),
        ("1", 203001, "f3s3r1", "f4s3r1"),
        ("2", 201002, "f3s1r2", "f4s1r2"),
        ("3", 202003, "f3s2r3", "f4s2r3"),
    ]


def test_a_delete_deletes_nothing() -> None:
    story = history("insert 1,2; delete 1", COLUMNS, mor=True)
    assert [row[0] for row in rows(story)] == ["1", "2"]


def test_a_record_changes_or_deletes_all_rows_that_have_its_key_in_the_third_column() -> None:
    keys = "row id=1 f1=2; row id=2 f1=2; row id=3 f1=1"
    story = history(f"insert 1..3; {keys}; compact; upsert 2; delete 1", COLUMNS, mor=True)
    newer = ("2", 206002, "f3s6r2", "f4s6r2")
    assert rows(story) == [newer, newer]


@pytest.mark.parametrize("change", ["drop f1", "rename f2 g", "move f1 after id"])
@pytest.mark.parametrize("parts", [(), ("p",)])
@pytest.mark.parametrize("by", ["id", "name"])
def test_a_simulated_reader_shows_the_same(change: str, parts: tuple[str, ...], by: str) -> None:
    columns = "id string, p string, ts string, f1 string, f2 string"
    steps = f"insert 1..3; insert 4; {change}; upsert 1; delete 4"
    story = history(steps, columns, mor=True, partition_by=parts)
    reader = Reader(by, logs_by="id", rekeyed=True)
    wanted = rows_of(story.disk, story.truth.step, story.truth.schema, reader)
    found = rows(story, WAY if by == "id" else BY_NAME)
    assert found == sorted((read.values for read in wanted), key=str)


@pytest.mark.parametrize(
    ("columns", "steps"),
    [(COLUMNS, "insert 1,2; add g after ts; upsert 1"), ("id string, ts long", STORY)],
)
def test_nothing_is_predicted_where_the_third_column_is_null_or_is_not_there(
    columns: str, steps: str
) -> None:
    with pytest.raises(ValueError, match=r"NULL is taken|not in list"):
        rows(history(steps, columns, mor=True))


def test_a_null_does_not_matter_in_a_group_without_log_files() -> None:
    story = history("insert 1,2; add g after ts; insert 3; upsert 3", COLUMNS, mor=True)
    assert [row[0] for row in rows(story)] == ["1", "2", "3", "3"]


@pytest.mark.parametrize(
    ("value", "shown"), [("1", ["new"]), (1, ["new"]), (1.0, ["old", "new"]), (2, ["old", "new"])]
)
def test_a_value_is_the_key_that_java_writes_so(value: str | float, shown: list[str]) -> None:
    assert list(rekeyed([(value, "old")], {"1": "new"})) == shown


@pytest.mark.parametrize(
    ("mor", "bare", "steps", "tried"),
    [
        (True, True, STORY, True),
        (True, False, STORY, False),
        (False, True, STORY, False),
        (True, True, f"{STORY}; compact", False),
        (True, True, "insert 1,2; insert 3", False),
    ],
)
def test_it_is_tried_where_log_files_are_merged_and_the_catalog_lists_none_of_hudis_columns(
    *, mor: bool, bare: bool, steps: str, tried: bool
) -> None:
    ways = reading(history(steps, COLUMNS, mor=mor), bare=bare).strategies()
    assert {WAY, BY_NAME} & {*ways} == ({WAY, BY_NAME} if tried else set())


def test_it_is_not_tried_where_there_are_log_files_alone() -> None:
    ways = reading(history(STORY, COLUMNS, mor=True), without=FileKind.BASE).strategies()
    assert not any(way.rekeyed for way in ways)

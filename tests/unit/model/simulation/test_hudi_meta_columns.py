"""Hudi's columns in the places of the table's: of which rows, which, and where it is tried."""

from __future__ import annotations

import pytest

from harness.model.canonical import Unpredicted
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import META
from harness.model.simulation.hudi import NO_META, Meta
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from tests.builders.simulated_disk import instant_of
from tests.builders.simulated_reader import Reader, rows_of
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, f2 string, f3 string"
STORY = "insert 1,2; insert 3; rename f3 g; upsert 1"
OVERLAID = ReadStrategy(ColumnMapping.ID, overlaid=True)


def reading(story: Story, *, bare: bool = True) -> Simulation:
    facts: list[FileFact] = [file.fact() for file in story.disk.files]
    meta: Meta = {
        file.path: [tuple(file.added(key).values()) for key in file.records]
        for file in story.disk.files
    }
    steps = {instant_of(step): step for step in range(len(story.history))}
    return Simulation(story.history, facts, steps, meta if bare else NO_META)


def rows(story: Story) -> dict[str, tuple[object, ...]]:
    return {row.key: row.values for row in reading(story).rows(OVERLAID)}


def test_rows_of_base_files_show_them_first_third_and_fourth_and_those_of_logs_do_not() -> None:
    found = rows(history(STORY, COLUMNS, mor=True))
    assert found == {
        "1": ("1", 204001, "f3s4r1", "f4s4r1", "f5s4r1"),
        "2": (instant_of(1), 201002, "2", "", "f5s1r2"),
        "3": (instant_of(2), 202003, "3", "", "f5s2r3"),
    }


@pytest.mark.parametrize("change", ["drop f1", "move f3 after id", "add g string first"])
@pytest.mark.parametrize("parts", [(), ("p",)])
def test_a_simulated_reader_shows_the_same(change: str, parts: tuple[str, ...]) -> None:
    columns = "id string, ts string, p string, f1 string, f2 string, f3 string"
    story = history(f"insert 1..3; {change}; upsert 1", columns, mor=True, partition_by=parts)
    reader = Reader("id", overlaid=True)
    wanted = rows_of(story.disk, story.truth.step, story.truth.schema, reader)
    assert rows(story) == {str(read.key): read.values for read in wanted}


def test_a_table_of_fewer_columns_shows_fewer() -> None:
    found = rows(history("insert 1,2; upsert 1", "id string, ts long", mor=True))
    assert found["2"] == (instant_of(1), 201002)


def test_what_a_column_of_another_type_shows_is_not_predicted() -> None:
    story = history("insert 1,2; upsert 1", "id string, ts long, f1 int, f2 string", mor=True)
    shown = rows(story)["2"]
    assert isinstance(shown[2], Unpredicted)
    assert shown[3] == ""


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
def test_it_is_tried_where_log_files_are_merged_and_the_catalog_lists_none_of_them(
    *, mor: bool, bare: bool, steps: str, tried: bool
) -> None:
    ways = reading(history(steps, COLUMNS, mor=mor), bare=bare).strategies()
    assert any(way.overlaid for way in ways) is tried


def test_whose_each_value_is_is_known() -> None:
    story = reading(history(STORY, COLUMNS, mor=True))
    row = next(row for row in story.rows(OVERLAID) if row.key == "3")
    whose = {field.name: source for field, source in story.sources(OVERLAID, row.file)}
    assert whose["f1"] is META["_hoodie_record_key"]
    assert whose["g"] is not None
    assert whose["g"].name == "f3"

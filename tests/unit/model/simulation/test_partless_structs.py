"""Structs and arrays are NULL where a file has none of their parts."""

from __future__ import annotations

import pytest

from harness.model.canonical import Value
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from tests.builders.table_story import history
from tests.unit.model.simulation.test_matching import fitting
from tests.unit.model.simulation.test_reader import reading

EMPTIED = "insert 1; add s.b string; drop s.a"


def shown(text: str, type_: str, way: ReadStrategy) -> Value:
    (row,) = reading(history(text, f"id string, ts long, s {type_}, f string")).rows(way)
    return row.values[2]


@pytest.mark.parametrize("by", [ColumnMapping.ID, ColumnMapping.NAME, ColumnMapping.POSITION])
def test_a_struct_without_a_part_in_the_file_is_null(by: ColumnMapping) -> None:
    assert shown(EMPTIED, "struct<a: string>", ReadStrategy(by)) == {"b": None}
    assert shown(EMPTIED, "struct<a: string>", ReadStrategy(by, partless=True)) is None


def test_so_is_an_array_of_them_and_a_struct_of_one() -> None:
    way = ReadStrategy(ColumnMapping.ID, partless=True)
    inside = EMPTIED.replace("s.", "s.element.")
    assert shown(inside, "array<struct<a: string>>", way) is None
    deeper = EMPTIED.replace("s.", "s.c.")
    assert shown(deeper, "struct<c: struct<a: string>>", way) is None
    assert shown(deeper, "struct<c: struct<a: string>, d: int>", way) == {"c": None, "d": 701001}


def test_a_part_that_is_there_tells_that_the_struct_is() -> None:
    found = reading(history("insert 1; add s.b string", "id string, ts long, s struct<a: string>"))
    assert not any(way.partless for way in found.strategies())


def test_a_part_of_a_renamed_name_is_there_by_id_alone() -> None:
    ways = reading(history("insert 1; rename s.a b", "id string, s struct<a: string>")).strategies()
    assert {way.mapping for way in ways if way.partless} == {
        ColumnMapping.NAME,
        ColumnMapping.POSITION,
    }


def test_records_of_log_files_have_their_structs_whatever_is_in_them() -> None:
    story = history(
        f"insert 1,2; upsert 1; {EMPTIED[10:]}", "id string, ts long, s struct<a: string>", mor=True
    )
    rows = {
        row.key: row.values[2]
        for row in reading(story).rows(ReadStrategy(ColumnMapping.ID, partless=True))
    }
    assert rows == {"1": {"b": None}, "2": None}


def test_the_way_is_found_where_columns_tell_how_they_are_found() -> None:
    columns = "id string, ts long, s struct<a: string>, f string"
    story = history(f"{EMPTIED}; rename f g; add f string after ts", columns)
    assert fitting(story, story.read("name", partless=True)) == [
        "by name, structs without a part in the file are NULL"
    ]

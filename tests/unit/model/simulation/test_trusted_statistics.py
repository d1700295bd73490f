"""Rows that a reader leaves out which trusts statistics."""

from __future__ import annotations

from harness.model.column_statistics import ColumnStatistics, StatisticsSource
from harness.model.query import Comparison, Condition
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import ColumnMapping, ReadStrategy
from tests.builders.table_story import Story, history

WHERE = (Condition("g", Comparison.NOT_NULL),)


def keys(found: Story, bounds: ColumnStatistics, where: tuple[Condition, ...] = WHERE) -> list[str]:
    reading = Simulation(found.history, found.facts, found.steps, statistics=[bounds])
    rows = reading.rows(ReadStrategy(ColumnMapping.ID, trusted=str(bounds.source)), where)
    return sorted(row.key for row in rows)


def story(path: str, column: str, source: StatisticsSource) -> ColumnStatistics:
    return ColumnStatistics(source, path, column, 2, 2)


def test_the_columns_of_a_file_are_looked_up_by_its_own_name_or_todays() -> None:
    found = history("insert 1,2; rename f1 g; insert 3")
    path = found.disk.files[0].path
    for column, left in (("f1", ["3"]), ("g", ["3"]), ("f2", ["1", "2", "3"])):
        assert keys(found, story(path, column, StatisticsSource.PARQUET)) == left


def test_a_file_with_log_records_is_read_whatever_its_own_statistics_say() -> None:
    found = history("insert 1,2; rename f1 g; insert 3; upsert 1", mor=True)
    path = found.disk.files[0].path
    assert keys(found, story(path, "f1", StatisticsSource.PARQUET)) == ["1", "2", "3"]


def test_a_folder_is_left_out_with_all_its_files() -> None:
    found = history("insert 1,2; rename f1 g; insert 3; upsert 1", mor=True)
    assert keys(found, story("", "f1", StatisticsSource.HUDI_PARTITION)) == ["3"]
    assert keys(found, story("", "g", StatisticsSource.HUDI_PARTITION)) == []


def test_parts_of_structs_are_found_by_the_names_in_the_file() -> None:
    found = history("insert 1; rename a.b c", "id string, ts long, a struct<b: int, d: int>")
    path = found.disk.files[0].path
    where = (Condition("a.c", Comparison.NOT_NULL),)
    stored = ColumnStatistics(StatisticsSource.PARQUET, path, "a.b", 1, 1)
    assert keys(found, stored, where) == []
    assert keys(found, ColumnStatistics(StatisticsSource.PARQUET, path, "a.d", 1, 1), where) == [
        "1"
    ]

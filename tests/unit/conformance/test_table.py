"""The tables of the kit: as they were written, and found again."""

from pathlib import Path

import pytest
from pyarrow import parquet

from harness.artifacts.cache import Cache
from harness.conformance import table
from harness.core.progress import Progress
from harness.model.datatypes import NULL_ALONE, PRIMITIVES
from harness.scenario.cells import parse_reader


def test_a_table_has_every_type_that_its_format_has() -> None:
    # For one column of these most readers refuse the whole table.
    every = {*PRIMITIVES, "decimal", "struct", "array", "map"} - {"variant", *NULL_ALONE}
    for format_ in (table.HIVE, *table.LIBRARIES):
        columns = table.columns(format_)
        kinds = {type_.partition("<")[0].partition("(")[0] for _, type_, _ in columns}
        assert kinds == every - table.MISSING_TYPES.get(format_, set())


@pytest.mark.parametrize(
    ("reader", "formats"),
    [
        ("spark-3.5.8-delta-3.3.2", ("hive-parquet",)),
        ("polars-2.1.0", ("iceberg", "delta")),
        ("polars-2.1.0{iceberg-reader=native}", ("iceberg",)),
        ("duckdb-1.5.5", ("hive-parquet", "iceberg", "delta")),
        ("duckdb-2.0.1", ("hive-parquet",)),
        ("chdb-4.4.0", ("hive-parquet", "iceberg", "delta")),
    ],
)
def test_a_library_is_asked_about_each_format_that_it_reads_and_others_about_hive_tables(
    reader: str, formats: tuple[str, ...]
) -> None:
    assert table.formats_for(parse_reader(reader)) == (formats, "")


def test_the_file_has_a_row_of_values_and_a_row_of_nulls(tmp_path: Path) -> None:
    table.write(tmp_path / "types")
    full, empty = parquet.read_table(tmp_path / "types" / "f.parquet").to_pylist()
    assert list(full) == [name for name, _, _ in table.columns(table.HIVE)]
    assert None not in full.values()
    assert set(empty.values()) == {None}
    assert (full["l"], full["ar"], full["m"]) == (2**53 + 1, [1, None], [(1, None), (2, "b")])


def test_the_state_is_written_once_and_its_entries_lie_in_folders_of_their_own(
    tmp_path: Path,
) -> None:
    cache = Cache(tmp_path / "cache")
    first = table.state(cache, table.HIVE, Progress())
    before = first.frozen.listing
    again = table.state(cache, table.HIVE, Progress())
    assert (again.digest, again.frozen.listing) == (first.digest, before)
    assert list(again.columns) == [table.TYPES, table.MANY]
    assert (again.home / table.MANY / "f.parquet").is_file()
    locations = [entry.table["sd"]["location"] for entry in again.frozen.entries]
    assert locations == ["file:{location}/types", "file:{location}/many"]

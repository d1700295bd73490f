"""The tables of the kit: as they were written, and found again."""

from __future__ import annotations

from pathlib import Path

from pyarrow import parquet

from harness.artifacts.cache import Cache
from harness.conformance import table
from harness.model.datatypes import PRIMITIVES


def test_the_table_has_every_type_that_a_plain_hive_table_can_have() -> None:
    kinds = {type_.partition("<")[0].partition("(")[0] for _, type_, _ in table.COLUMNS}
    # Hive has no such type; the text of others is a string in a file.
    assert kinds == {*PRIMITIVES, "decimal", "struct", "array", "map"} - {"timestamp_ntz"}


def test_the_file_has_a_row_of_values_and_a_row_of_nulls(tmp_path: Path) -> None:
    table.write(tmp_path / "types")
    full, empty = parquet.read_table(tmp_path / "types" / "f.parquet").to_pylist()
    assert list(full) == [name for name, _, _ in table.COLUMNS]
    assert None not in full.values()
    assert set(empty.values()) == {None}
    assert (full["l"], full["ar"], full["m"]) == (2**53 + 1, [1, None], [(1, None), (2, "b")])


def test_the_state_is_written_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    first = table.state(cache)
    before = first.frozen.listing
    again = table.state(cache)
    assert (again.digest, again.frozen.listing) == (first.digest, before)
    assert list(again.columns) == [table.TYPES, table.MANY]
    assert (again.home / table.MANY / "f.parquet").is_file()


def test_its_entries_lie_in_folders_of_their_own(tmp_path: Path) -> None:
    locations = [e.table["sd"]["location"] for e in table.state(Cache(tmp_path)).frozen.entries]
    assert locations == ["file:{location}/types", "file:{location}/many"]

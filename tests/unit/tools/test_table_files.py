"""`tools/table_files.py` reads tables by the formats' read plans, and plain folders as they lie."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import orc

from tests.builders import audited_tables
from tools import table_files
from tools.table_files import StoredRow, rows_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    entries(tmp_path)
    (tmp_path / "table").mkdir()
    return tmp_path / "table"


def entries(folder: Path, **more: object) -> None:
    entry = {"name": "t", "table": {"parameters": {}}, **more}
    (folder / "state.json").write_text(json.dumps({"entries": [entry]}))


def shown(rows: list[StoredRow], *columns: str) -> list[tuple[object, ...]]:
    values = ((row.values if row.current is None else row.current) for row in rows)
    return sorted(tuple(value.get(column) for column in columns) for value in values)


def test_text_files_have_fields_by_number_and_folders_give_values(table: Path) -> None:
    (table / "p=a%2Fb").mkdir()
    (table / "p=a%2Fb" / "f").write_text("1\x01x\n")
    (table / "_SUCCESS").write_text("")
    assert [dict(row.values) for row in rows_of(table)] == [{"0": "1", "1": "x", "p": "a/b"}]


@pytest.mark.parametrize("name", ["mapped_by_name", "history_of_schema"])
def test_rows_have_the_names_of_now_where_the_table_s_own_records_say_them(
    table: Path, name: str
) -> None:
    plan, expected = audited_tables.TABLES[name](table)
    columns = [column.name for column in plan.columns]
    assert [tuple((row.current or {})[c] for c in columns) for row in rows_of(table)] == expected


def test_rows_of_hudi_without_such_records_have_the_names_of_their_files(table: Path) -> None:
    _, expected = audited_tables.TABLES["merged_by_ordering"](table)
    rows = rows_of(table)
    assert shown(rows, "id", "ts", "v") == sorted(expected)
    assert {row.current for row in rows} == {None}
    assert shown(rows_of(table, base_only=True), "id") == [(at,) for at in range(6)]


def test_partial_rows_of_hudi_are_whole_and_values_of_folders_are_in_them(table: Path) -> None:
    _, expected = audited_tables.TABLES["partial_updates"](table)
    assert shown(rows_of(table), "id", "ts", "v") == sorted(expected)


def acid(path: Path, *operations: tuple[int, int, int, str]) -> None:
    """Write operations: what is done, by which write, to which row (by number), with what value."""
    path.parent.mkdir(parents=True)
    rows = [
        {
            "operation": what,
            "originalTransaction": 1,
            "bucket": 0,
            "rowId": number,
            "currentTransaction": by,
            "row": {"id": number, "a": value},
        }
        for what, by, number, value in operations
    ]
    orc.write_table(pa.Table.from_pylist(rows), path)


def test_hives_deletes_compacted_deltas_and_aborted_writes(table: Path) -> None:
    acid(table / "delta_0000001_0000001_0000" / "b", (0, 1, 1, "old"), (0, 1, 2, "gone"))
    acid(table / "base_0000002_v0000009" / "b", (0, 1, 1, "x"), (0, 1, 2, "gone"))
    acid(table / "delete_delta_0000003_0000003_0000" / "b", (2, 3, 2, ""))
    acid(table / "delta_0000004_0000004_0000" / "b", (0, 4, 5, "aborted"))
    acid(table / "delta_0000005_0000006" / "b", (0, 5, 6, "y"))
    acid(table / "delta_0000005_0000005_0000" / "b", (0, 5, 6, "y"))
    entries(table.parent, write_ids={"highest": 6, "aborted": [4], "open": []})
    assert shown(rows_of(table), "id", "a") == [(1, "x"), (6, "y")]


def test_parts_of_structs_and_of_elements_are_found_by_their_ids() -> None:
    then = {1: "s", 2: "s.a", 3: "s.b", 4: "l", 5: "l.element", 6: "l.element.c"}
    now = {1: "s", 3: "s.a", 7: "s.b", 4: "l", 5: "l.element", 6: "l.element.d"}
    row = {"s": {"a": "dropped", "b": "renamed"}, "l": [{"c": 1}, None]}
    expected = {"s": {"a": "renamed", "b": None}, "l": [{"d": 1}, None]}
    assert table_files.by_ids(row, then, now) == expected

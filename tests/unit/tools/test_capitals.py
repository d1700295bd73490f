"""Copies of data files whose columns are called in capitals, and what a reader makes of them."""

from __future__ import annotations

import json
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc, parquet

from harness.formats.files import data_files
from tools.measure import capitals

STRUCT = pa.struct([("a", pa.int32())])
ROWS = pa.table(
    {
        "id": ["1"],
        "f": pa.array([{"a": 2}], STRUCT),
        "l": pa.array([[{"a": 3}]], pa.list_(STRUCT)),
        "m": pa.array([[("k", 4)]], pa.map_(pa.string(), pa.int32())),
    }
)


@pytest.mark.parametrize(
    ("name", "write"), [("hive-parquet", parquet.write_table), ("hive-orc", orc.write_table)]
)
def test_a_copy_has_the_values_of_the_file_under_names_in_capitals(
    name: str, write: object, tmp_path: Path
) -> None:
    assert callable(write)
    write(ROWS, tmp_path / "own")
    capitals.WRITERS[name](tmp_path / "own", tmp_path / "copy")
    (names, (own,)), (others, (copied,)) = (
        data_files.content(tmp_path / each) for each in ("own", "copy")
    )
    assert others == tuple(each.upper() for each in names)
    assert (copied[0], copied[3]) == (own[0], own[3])
    assert copied[1:3] == ({"A": 2}, ({"A": 3},))


def test_a_copy_of_avro_too(tmp_path: Path) -> None:
    part = {"type": "record", "name": "p", "fields": [{"name": "a", "type": "int"}]}
    fields = [{"name": "id", "type": "string"}, {"name": "f", "type": ["null", part]}]
    schema = {"type": "record", "name": "r", "fields": fields}
    with (tmp_path / "own").open("wb") as file:
        fastavro.writer(file, schema, [{"id": "1", "f": {"a": 2}}])
    capitals.WRITERS["hive-avro"](tmp_path / "own", tmp_path / "copy")
    assert data_files.content(tmp_path / "copy") == (("ID", "F"), (("1", {"A": 2}),))


def told(*rows: list[object]) -> str:
    return json.dumps([[["id", "string"], ["f", "int"]], [json.dumps(each) for each in rows]])


@pytest.mark.parametrize(
    ("copied", "what"),
    [
        (told(["1", 2]), "the same"),
        (told(["1", None]), "NULL: f"),
        (told([None, None]), capitals.EMPTY),
        ("refused: E: no such column", "refused: E: no such column"),
    ],
)
def test_what_a_reader_no_longer_finds_is_told(copied: str, what: str) -> None:
    assert capitals.came(told(["1", 2]), copied) == what


def test_values_that_are_others_are_told_as_they_are() -> None:
    other = told(["1", 3])
    assert capitals.came(told(["1", 2]), other) == f"other values: {other}"
    assert capitals.came("refused: E: e", "refused: E: f") == "refused: E: e"

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest

from harness.formats.api import FileFactError
from harness.formats.files import avro, data_files
from harness.model.canonical import MapValue
from harness.model.datatypes import parse_type

DAY = {"type": "int", "logicalType": "date"}
EXACT = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
PAIR = {
    "type": "record",
    "name": "pair",
    "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": ["null", "string"]}],
}
MAP = {"type": "array", "logicalType": "map", "items": PAIR}
"""A map whose keys are no texts (Iceberg specification, "Appendix A", "Avro")."""
FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "string"},
    {"name": "day", "type": ["null", DAY]},
    {"name": "d", "type": ["null", EXACT]},
    {"name": "m", "type": ["null", MAP]},
]
ROW = {
    "id": "1",
    "day": datetime.date(2024, 2, 29),
    "d": Decimal("1.50"),
    "m": [{"key": 7, "value": "x"}, {"key": 8, "value": None}],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "f.avro"
    with made.open("wb") as file:
        schema = {"type": "record", "name": "r", "fields": FIELDS}
        fastavro.writer(file, schema, [ROW, {"id": "2"}])
    return made


def test_columns_and_keys_are_read_as_of_other_files(path: Path) -> None:
    columns = (("id", "string"), ("day", "date"), ("d", "decimal(4, 2)"), ("m", "map"))
    actual = data_files.read_footer(path, "id")
    assert (actual.columns, actual.keys) == (columns, ("1", "2"))


def test_values_are_canonical(path: Path) -> None:
    columns, rows = data_files.content(path)
    assert columns == ("id", "day", "d", "m")
    pairs = MapValue.of([(7, "x"), (8, None)])
    assert rows == (("1", ROW["day"], ROW["d"], pairs), ("2", None, None, None))


def test_what_is_no_such_file_is_reported(path: Path) -> None:
    with pytest.raises(FileFactError, match=r"f\.avro: it has no column gone"):
        avro.read(path, "gone")
    path.write_bytes(avro.MAGIC + b"?")
    with pytest.raises(FileFactError, match=r"f\.avro: "):
        avro.content(path)


@pytest.mark.parametrize(
    ("type_", "schema"),
    [
        ("int", '"int"'),
        ("binary", '"bytes"'),
        ("date", '{"type": "int", "logicalType": "date"}'),
        ("timestamp", '{"type": "long", "logicalType": "timestamp-micros"}'),
        ("timestamp_ntz", '{"type": "long", "logicalType": "local-timestamp-micros"}'),
        ("map<string, int>", '{"type": "map", "values": ["null", "int"]}'),
    ],
)
def test_a_type_has_the_schema_of_avros_specification(type_: str, schema: str) -> None:
    assert avro.schema(parse_type(type_), "c") == json.loads(schema)


@pytest.mark.parametrize(
    ("precision", "size"), [(2, 1), (4, 2), (9, 4), (10, 5), (18, 8), (38, 16)]
)
def test_a_decimal_has_the_bytes_that_spark_gives_it(precision: int, size: int) -> None:
    made = avro.schema(parse_type(f"decimal({precision}, 1)"), "c")
    assert (made["size"], made["precision"], made["scale"]) == (size, precision, 1)


def test_the_parts_of_a_type_may_be_null_and_each_struct_has_a_name_of_its_own() -> None:
    made = avro.schema(parse_type("struct<a: struct<b: int>, c: array<struct<d: int>>>"), "n")
    assert made["fields"][0]["type"] == [
        "null",
        {
            "type": "record",
            "name": "n_a",
            "fields": [{"name": "b", "type": ["null", "int"], "default": None}],
        },
    ]
    assert made["fields"][1]["type"][1]["items"][1]["name"] == "n_c_element"
    assert avro.text(made) == "struct<a: struct<b: int>, c: array<struct<d: int>>>"


def test_what_avro_has_not_has_no_schema() -> None:
    with pytest.raises(ValueError, match=r"Avro has no type char\(3\)"):
        avro.schema(parse_type("char(3)"), "c")

"""What Avro data files say of themselves."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest

from harness.formats.api import FileFactError
from harness.formats.files import avro, data_files
from harness.model.canonical import MapValue

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
    found = data_files.read_footer(path, "id")
    assert (found.columns, found.keys) == (columns, ("1", "2"))


def test_values_are_canonical(path: Path) -> None:
    columns, rows = data_files.content(path)
    assert columns == ("id", "day", "d", "m")
    pairs = MapValue.of([(7, "x"), (8, None)])
    assert rows == (("1", ROW["day"], ROW["d"], pairs), ("2", None, None, None))


def test_what_is_no_such_file_is_told(path: Path) -> None:
    with pytest.raises(FileFactError, match=r"f\.avro: it has no column gone"):
        avro.read(path, "gone")
    path.write_bytes(avro.MAGIC + b"?")
    with pytest.raises(FileFactError, match=r"f\.avro: "):
        avro.content(path)

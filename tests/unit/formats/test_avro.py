import datetime
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from harness.engines.arrow_values import canonical
from harness.formats.api import FileFactError
from harness.formats.files import avro, avro_table, data_files
from harness.formats.files.column_parts import FIELD_ID
from harness.model.canonical import MapValue, Value
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
        data_files.read_footer(path, "gone")
    path.write_bytes(avro.MAGIC + b"?")
    with pytest.raises(FileFactError, match=r"f\.avro: "):
        data_files.content(path)


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


NOON = datetime.datetime(2024, 1, 2, 12, tzinfo=datetime.UTC)
PLAIN_NOON = NOON.replace(tzinfo=None)

CASES: list[tuple[Any, Any, pa.DataType, Value]] = [
    ("int", 1, pa.int32(), 1),
    ("long", 2**40, pa.int64(), 2**40),
    ("bytes", b"a", pa.binary(), b"a"),
    ({"type": "int", "logicalType": "date"}, NOON.date(), pa.date32(), NOON.date()),
    (
        {"type": "long", "logicalType": "time-micros"},
        datetime.time(1, 2, 3),
        pa.time64("us"),
        "01:02:03.000000",
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": True},
        NOON,
        pa.timestamp("us", "UTC"),
        PLAIN_NOON,
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": False},
        NOON,
        pa.timestamp("us"),
        PLAIN_NOON,
    ),
    (
        {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": False},
        1,
        pa.timestamp("ns"),
        "1970-01-01 00:00:00.000000001",
    ),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
        Decimal("1.50"),
        pa.decimal128(5, 2),
        Decimal("1.50"),
    ),
    (
        {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"},
        bytes(16),
        pa.binary(16),
        bytes(16),
    ),
]


def table(type_: Any, *values: Any, **holder: int) -> pa.Table:  # noqa: ANN401 - Avro's JSON
    field = {"name": "c", "type": ["null", type_], **holder}
    file = io.BytesIO()
    schema = {"type": "record", "name": "r", "fields": [field]}
    fastavro.writer(file, schema, [{"c": value} for value in values])
    return avro_table.read(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(("type_", "given", "arrow", "value"), CASES, ids=str)
def test_a_value_keeps_its_type_and_null_is_null(
    type_: object, given: object, arrow: pa.DataType, value: Value
) -> None:
    read = table(type_, given, None)
    assert read.schema.field("c").type == arrow
    assert [canonical(scalar) for scalar in read.column("c")] == [value, None]


def test_every_part_has_the_id_that_the_schema_gives_it() -> None:
    entry = {
        "type": "record",
        "name": "entry",
        "fields": [
            {"name": "key", "type": "int", "field-id": 5},
            {"name": "value", "type": ["null", "string"], "field-id": 6},
        ],
    }
    pairs = {"type": "array", "logicalType": "map", "items": entry}
    fields = [
        {"name": "l", "type": {"type": "array", "items": "int", "element-id": 4}, "field-id": 2},
        {"name": "m", "type": pairs, "field-id": 3},
        {
            "name": "t",
            "type": {"type": "map", "values": "long", "key-id": 8, "value-id": 9},
            "field-id": 7,
        },
        {"name": "no", "type": "int"},
    ]
    struct = {"type": "record", "name": "s", "fields": fields}
    row = {"l": [1], "m": [{"key": 2, "value": "b"}], "t": {"k": 1}, "no": 0}
    read = table(struct, row, **{"field-id": 1})
    assert canonical(read.column("c")[0]) == {
        "l": (1,),
        "m": MapValue(((2, "b"),)),
        "t": MapValue((("k", 1),)),
        "no": 0,
    }
    column = read.schema.field("c")
    l, m, t, no = column.type  # noqa: E741 - the names of the parts
    inner = [column, l, l.type.value_field, m, m.type.key_field, m.type.item_field]
    inner += [t, t.type.key_field, t.type.item_field]
    assert [int(field.metadata[FIELD_ID]) for field in inner] == [1, 2, 4, 3, 5, 6, 7, 8, 9]
    assert no.metadata is None


def test_a_union_of_two_types_is_an_error() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "c", "type": ["int", "string"]}]}
    file = io.BytesIO()
    fastavro.writer(file, schema, [{"c": 1}])
    with pytest.raises(ValueError, match="is no type of Avro"):
        avro_table.read(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("whole", [True, False], ids=["rows", "schema"])
def test_a_head_with_a_letter_changed_is_an_error_like_any_other(whole: bool) -> None:  # noqa: FBT001
    file = io.BytesIO()
    schema = {"type": "record", "name": "r", "fields": [{"name": "c", "type": "int"}]}
    fastavro.writer(file, schema, [{"c": 1}])
    broken = io.BytesIO(file.getvalue().replace(b'"name": "c"', b'"nAme": "c"'))
    with pytest.raises(ValueError, match="missing 'name'"):
        (avro_table.read if whole else avro_table.schema)(broken)

import datetime
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from harness.engines.arrow_values import canonical
from harness.engines.arrow_values import variant as variant_type
from harness.formats.files import data_files, parquet, stored_columns, variant
from harness.formats.iceberg import column_types
from harness.model.canonical import Value

NO_NAMES = b"\x01\x00\x00"
A_AND_B = b"\x01\x02\x00\x01\x02ab"
ONE = b"\x0c\x01"
"""`1` in eight bits."""
UNSHREDDED = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])


def primitive(number: int, content: bytes = b"") -> bytes:
    return bytes([number << 2]) + content


def decoded(row: dict[str, Any] | None, type_: pa.DataType = UNSHREDDED) -> Value:
    return canonical(variant.decoded(pa.array([row], type_))[0])


PRIMITIVES: list[tuple[bytes, str, Value]] = [
    (primitive(0), "null", None),
    (primitive(1), "boolean", True),
    (primitive(2), "boolean", False),
    (primitive(3, b"\xfe"), "int8", -2),
    (primitive(4, struct.pack("<h", -300)), "int16", -300),
    (primitive(5, struct.pack("<i", 70_000)), "int32", 70_000),
    (primitive(6, struct.pack("<q", -(2**40))), "int64", -(2**40)),
    (primitive(7, struct.pack("<d", 0.1)), "double", 0.1),
    (primitive(8, b"\x02" + struct.pack("<i", -150)), "decimal4", Decimal("-1.50")),
    (primitive(9, b"\x00" + struct.pack("<q", 7)), "decimal8", Decimal(7)),
    (
        primitive(10, b"\x01" + (10**37 + 1).to_bytes(16, "little")),
        "decimal16",
        Decimal("1000000000000000000000000000000000000.1"),
    ),
    (primitive(11, struct.pack("<i", -1)), "date", datetime.date(1969, 12, 31)),
    (
        primitive(12, struct.pack("<q", -1)),
        "timestamptz",
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001 - canonical
    ),
    (
        primitive(13, struct.pack("<q", 0)),
        "timestamp",
        datetime.datetime(1970, 1, 1),  # noqa: DTZ001 - canonical
    ),
    (primitive(14, struct.pack("<f", 0.5)), "float", 0.5),
    (primitive(15, b"\x02\x00\x00\x00\x00\xff"), "binary", b"\x00\xff"),
    (primitive(16, b"\x02\x00\x00\x00\xc3\xa9"), "string", "é"),
    (primitive(17, struct.pack("<q", 3_661_000_001)), "time", "01:01:01.000001"),
    (primitive(18, struct.pack("<q", 1)), "timestamptz_ns", "1970-01-01 00:00:00.000000001"),
    (
        primitive(19, struct.pack("<q", 1_000)),
        "timestamp_ns",
        datetime.datetime(1970, 1, 1, 0, 0, 0, 1),  # noqa: DTZ001 - canonical
    ),
    (primitive(20, bytes(range(16))), "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    (b"\x05a", "string", "a"),
]


@pytest.mark.parametrize(("content", "name", "value"), PRIMITIVES, ids=str)
def test_a_primitive_variant_is_its_value_with_its_physical_type(
    content: bytes, name: str, value: Value
) -> None:
    assert decoded({"metadata": NO_NAMES, "value": content}) == {"t": name, "v": value}


def test_fields_of_an_object_are_found_by_their_numbers_and_stand_in_the_order_of_names() -> None:
    # Two fields, `b` first; their values stand in the other order.
    content = bytes([0b10, 2, 1, 0, 2, 0, 7]) + ONE + primitive(5, b"\x02\x00\x00\x00")
    value = decoded({"metadata": A_AND_B, "value": content})
    assert value == {"t": "object", "v": {"a": {"t": "int8", "v": 1}, "b": {"t": "int32", "v": 2}}}
    assert list(value["v"]) == ["a", "b"]


def test_elements_of_an_array_keep_their_order_and_an_empty_one_is_none() -> None:
    content = bytes([0b11, 2, 0, 2, 3]) + ONE + primitive(0)
    assert decoded({"metadata": NO_NAMES, "value": content}) == {
        "t": "array",
        "v": ({"t": "int8", "v": 1}, {"t": "null", "v": None}),
    }
    assert decoded({"metadata": NO_NAMES, "value": bytes([0b11, 0, 0])}) == {"t": "array", "v": ()}


def test_a_null_of_sql_is_not_the_null_of_a_variant() -> None:
    assert decoded(None) is None
    assert decoded({"metadata": NO_NAMES, "value": primitive(0)}) == {"t": "null", "v": None}


def test_a_shredded_value_is_put_together_of_its_columns() -> None:
    typed = pa.struct([("value", pa.binary()), ("typed_value", pa.int32())])
    id_ = pa.struct([("value", pa.binary()), ("typed_value", pa.binary(16))])
    listed = pa.struct([("value", pa.binary()), ("typed_value", pa.list_(typed))])
    inner = pa.struct([("a", typed), ("c", id_), ("d", listed), ("e", typed)])
    type_ = pa.struct([("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", inner)])
    value = decoded(
        {
            "metadata": A_AND_B,
            "value": bytes([0b10, 1, 1, 0, 2]) + ONE,  # {"b": 1}
            "typed_value": {
                "a": {"typed_value": 7},
                "c": {"typed_value": UUID(int=1).bytes},
                "d": {"typed_value": [{"value": ONE}, {"typed_value": 2}]},
                "e": {},
            },
        },
        type_,
    )
    assert value["v"] == {
        "a": {"t": "int32", "v": 7},
        "b": {"t": "int8", "v": 1},
        "c": {"t": "uuid", "v": "00000000-0000-0000-0000-000000000001"},
        "d": {"t": "array", "v": ({"t": "int8", "v": 1}, {"t": "int32", "v": 2})},
    }


@pytest.mark.parametrize(
    ("metadata", "value", "why"),
    [
        (b"\x02\x00\x00", ONE, "version 2 of variants is not known"),
        (NO_NAMES, primitive(21), "primitive type 21 of variants is not known"),
        (NO_NAMES, primitive(6, b"\x01"), "it holds no variant"),
        (NO_NAMES, bytes([0b10, 1, 0, 0, 1]) + ONE, "it holds no variant"),
        (b"", ONE, "it holds no variant"),
    ],
)
def test_bytes_that_are_no_variant_are_an_error(metadata: bytes, value: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        decoded({"metadata": metadata, "value": value})


OF_TYPES = [PRIMITIVES[at] for at in (0, 1, 4, 7, 8, 11, 16)]


def test_in_the_rows_of_a_file_variants_are_json_and_their_columns_have_no_statistics(
    tmp_path: Path,
) -> None:
    object_ = bytes([0b10, 2, 1, 0, 2, 0, 7]) + ONE + primitive(5, b"\x02\x00\x00\x00")
    contents = [stored for stored, _, _ in OF_TYPES]
    contents += [object_, bytes([0b11, 2, 0, 2, 3]) + ONE + primitive(0)]
    rows = [*({"metadata": A_AND_B, "value": stored} for stored in contents), None]
    pq.write_table(pa.table({"v": pa.array(rows, UNSHREDDED)}), tmp_path / "f")
    names, values = data_files.content(tmp_path / "f")
    plain = ["null", "true", "-300", "0.1", "-1.5", '"1969-12-31"', '"é"']
    texts = [*plain, '{"a":1,"b":2}', "[1,null]", None]
    assert (names, [value for (value,) in values]) == (("v",), texts)
    assert parquet.statistics(tmp_path / "f", "f") == ()
    assert not variant.is_variant(pa.struct([("metadata", pa.binary()), ("more", pa.binary())]))
    assert not variant.is_variant(pa.struct([("metadata", pa.string()), ("value", pa.binary())]))


def test_a_column_that_says_itself_that_it_holds_variants_is_one() -> None:
    rows = [{"metadata": NO_NAMES, "value": ONE}]
    stored = pa.array(rows, UNSHREDDED).cast(pa.opaque(UNSHREDDED, "variant", "a writer"))
    assert column_types.may_become(stored.type, variant_type())
    (value,) = stored_columns.converted(stored, variant_type())
    assert canonical(value) == {"t": "int8", "v": 1}

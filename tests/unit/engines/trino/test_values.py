import datetime
import json
from decimal import Decimal
from typing import Any

import pytest

from harness.core import tolerances
from harness.core.tolerances import Tally
from harness.engines.query_sql import raw_texts
from harness.engines.trino import values
from harness.engines.trino.client import whole
from harness.engines.trino.values import WireType, canonical
from harness.model.canonical import MapValue, Value, same, single
from harness.model.datatypes import parse_type


def plain(name: str, *numbers: int) -> dict[str, Any]:
    return {"rawType": name, "arguments": [{"kind": "LONG", "value": number} for number in numbers]}


def over(name: str, *inner: dict[str, Any]) -> dict[str, Any]:
    return {"rawType": name, "arguments": [{"kind": "TYPE", "value": type_} for type_ in inner]}


def row(**children: dict[str, Any]) -> dict[str, Any]:
    arguments = [
        {"kind": "NAMED_TYPE", "value": {"fieldName": {"name": name}, "typeSignature": signature}}
        for name, signature in children.items()
    ]
    return {"rawType": "row", "arguments": arguments}


VARCHAR = plain("varchar", 2147483647)
INTEGER = plain("integer")
TALLY = Tally(tolerances.declared_for_format("trino", "hive-parquet"))
OF_DELTA = Tally(tolerances.declared_for_format("trino", "delta"))
ZONED = "2024-01-01 00:00:00.000 UTC"
ONE = Decimal("1.0")
DAY = datetime.date(2024, 2, 29)


def decoded(signature: dict[str, Any], value: Any) -> Value:  # noqa: ANN401 - any JSON
    described = [{"name": "c", "type": "as told", "typeSignature": signature}]
    ((result,),) = values.rows(described, [[value]], TALLY)
    return result


@pytest.mark.parametrize(
    ("signature", "sent", "value"),
    [
        (plain("boolean"), True, True),
        (plain("real"), 503002.1, 503002.09375),
        (plain("real"), "Infinity", float("inf")),
        (plain("real"), "NaN", float("nan")),
        (plain("double"), 1, 1.0),
        (plain("decimal", 10, 2), "1.10", Decimal("1.10")),
        (plain("date"), "2024-02-29", DAY),
        (plain("varbinary"), "AP8=", b"\x00\xff"),
        (over("array", INTEGER), [1, None], (1, None)),
        (row(a=INTEGER, n=row(x=VARCHAR)), [1, ["y"]], {"a": 1, "n": {"x": "y"}}),
        (over("map", INTEGER, VARCHAR), {"2": "b", "1": None}, MapValue(((1, None), (2, "b")))),
        (over("map", plain("date"), INTEGER), {"2024-02-29": 1}, MapValue(((DAY, 1),))),
        (over("map", plain("decimal", 3, 1), INTEGER), {"1.0": 1}, MapValue(((ONE, 1),))),
        (plain("time", 3), "01:02:03.004", "01:02:03.004"),
        (plain("timestamp with time zone", 3), ZONED, ZONED),
    ],
)  # fmt: skip
def test_a_value_becomes_the_canonical_one_of_its_type(
    signature: dict[str, Any],
    sent: Any,  # noqa: ANN401 - any JSON
    value: Value,
) -> None:
    assert same(decoded(signature, sent), value)


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        (ZONED, datetime.datetime(2024, 1, 1)),  # noqa: DTZ001 - canonical moments have no zone
        ("2024-01-01 00:00:00.000 Europe/Vienna", "2024-01-01 00:00:00.000 Europe/Vienna"),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_a_timestamp_in_utc_is_a_moment_of_a_delta_table(sent: str, value: Value) -> None:
    signature = plain("timestamp with time zone", 3)
    described = [{"name": "c", "type": "as told", "typeSignature": signature}]
    assert values.rows(described, [[sent]], OF_DELTA) == ((value,),)
    assert [column.canonical for column in values.columns(described, OF_DELTA)] == ["timestamp"]


MOMENT = plain("timestamp", 3)


@pytest.mark.parametrize(
    ("signature", "sent"),
    [
        (plain("tinyint"), True),
        (plain("bigint"), 201001.25),
        (plain("real"), 401001.509),
        (plain("real"), 1e39),
        (plain("real"), "nan"),
        (plain("double"), "1.5"),
        (plain("double"), 2**53 + 1),
        (plain("boolean"), 1),
        (plain("decimal", 10, 2), 1.25),
        (plain("decimal", 10, 0), True),
        (plain("decimal", 10, 0), "1E1"),
        (VARCHAR, 7),
        (plain("date"), "20240229"),
        (plain("date"), "-0044-03-15"),
        (plain("timestamp", 9), "2024-01-02 03:04:05.678901001"),
        (MOMENT, "2024-01-02T03:04:05.000"),
        (MOMENT, "2024-01-02 03:04:05.000 UTC"),
        (plain("varbinary"), "AP9="),
    ],
)  # fmt: skip
def test_what_is_not_of_its_types_form_stays_as_it_came(
    signature: dict[str, Any],
    sent: Any,  # noqa: ANN401 - any JSON
) -> None:
    assert same(decoded(signature, sent), sent)
    assert same(decoded(over("array", signature), [sent]), (sent,))


@pytest.mark.parametrize(
    ("key", "sent"),
    [
        (INTEGER, "1.0"),
        (INTEGER, "\u0661"),
        (plain("double"), "1_0.5"),
        (MOMENT, "2024-01-02 03:04:05Z"),
        (plain("varbinary"), "AP8="),
        (over("array", INTEGER), "[1]"),
    ],
)  # fmt: skip
def test_a_key_that_is_not_of_its_types_form_stays_as_it_came(
    key: dict[str, Any], sent: str
) -> None:
    assert same(decoded(over("map", key, INTEGER), {sent: 1}), MapValue(((sent, 1),)))


@pytest.mark.parametrize(
    ("key", "sent", "value"),
    [
        (plain("real"), "503002.1", 503002.09375),
        (plain("double"), "1.0E10", 1e10),
        (plain("double"), "-0.0", -0.0),
        (plain("bigint"), "-9223372036854775808", -(2**63)),
    ],
)
def test_the_text_of_a_key_is_read_by_its_type(
    key: dict[str, Any], sent: str, value: Value
) -> None:
    assert same(decoded(over("map", key, INTEGER), {sent: 1}), MapValue(((value, 1),)))


@pytest.mark.parametrize("sent", [[1], {"a": 1}])
def test_a_value_with_parts_where_the_type_has_none_is_not_taken(sent: Any) -> None:  # noqa: ANN401
    with pytest.raises(TypeError, match="is not a bigint"):
        decoded(plain("bigint"), sent)


MAPPED = over("map", VARCHAR, INTEGER)


def replied(data: str) -> bytes:
    columns = json.dumps([{"name": "m", "type": "any", "typeSignature": MAPPED}])
    return f'{{"columns": {columns}, "data": {data}}}'.encode()


def test_both_entries_of_a_map_with_one_key_are_kept() -> None:
    reply = json.loads(whole(replied('[[{"a": 1, "b": 5, "a": 2}], [{"a": 3}]]')))
    ((twice,), (once,)) = values.rows(reply["columns"], reply["data"], TALLY)
    assert twice == MapValue((("a", 1), ("a", 2), ("b", 5)))
    assert once == MapValue((("a", 3),))
    ((_, _, text), _) = raw_texts(reply["data"], [(twice,), (once,)])
    assert text == '[["a", 1], ["b", 5], ["a", 2]]'


@pytest.mark.parametrize(
    "body",
    [
        replied('[[{"a":  1.50}]]'),
        b'{"a": 1, "a": 2}',
        b'"map" and no JSON',
        b'{"rawType": "map", "x":' + b"[" * 100_000,
    ],
)
def test_a_reply_without_such_a_map_stays_as_it_is(body: bytes) -> None:
    assert whole(body) is body


@pytest.mark.parametrize(
    ("sent", "micros"),
    [
        ("2024-01-02 03:04:05", 0),
        ("2024-01-02 03:04:05.678901", 678901),
        ("2024-01-02 03:04:05.678901000", 678901),
    ],
)
def test_a_timestamp_keeps_every_digit_up_to_microseconds(sent: str, micros: int) -> None:
    expected = datetime.datetime(2024, 1, 2, 3, 4, 5, micros)  # noqa: DTZ001 - canonical
    assert decoded(plain("timestamp", 9), sent) == expected


@pytest.mark.parametrize(
    ("signature", "text"),
    [
        (INTEGER, "int"),
        (plain("bigint"), "long"),
        (plain("varchar", 5), "varchar(5)"),
        (plain("char", 3), "char(3)"),
        (plain("timestamp"), "timestamp"),
        (plain("real"), "float"),
        (plain("decimal", 10, 2), "decimal(10, 2)"),
        (plain("timestamp", 6), "timestamp"),
        (VARCHAR, "string"),
        (over("array", row(a=INTEGER)), "array<struct<a: int>>"),
        (over("map", VARCHAR, plain("double")), "map<string, double>"),
        (plain("time", 3), ""),
        (row(a=INTEGER, b=plain("json")), ""),
    ],
)
def test_a_type_is_reported_in_our_words(signature: dict[str, Any], text: str) -> None:
    value = canonical(WireType.read(signature), TALLY)
    assert value == text
    assert not value or str(parse_type(value)) == value


# As PrestoDB 0.283 sent it for row(a integer,n row(x varchar,f real)), the keys of no use left out.
def named(name: str, type_: str) -> dict[str, Any]:
    value = {"fieldName": {"name": name}, "typeSignature": type_}
    return {"kind": "NAMED_TYPE_SIGNATURE", "value": value}


LONG_TEXT = {"kind": "LONG_LITERAL", "value": 2147483647}
PARTS = [
    {"rawType": "varchar", "typeArguments": [], "arguments": [LONG_TEXT]},
    {"rawType": "real", "typeArguments": [], "arguments": []},
]
INNER = {
    "rawType": "row",
    "typeArguments": PARTS,
    "arguments": [named("x", "varchar"), named("f", "real")],
}
BY_PRESTODB: dict[str, Any] = {
    "rawType": "row",
    "typeArguments": [{"rawType": "integer", "typeArguments": [], "arguments": []}, INNER],
    "arguments": [named("a", "integer"), named("n", "row(x varchar,f real)")],
}


def test_a_row_described_by_prestodb_is_read_with_the_names_of_its_children() -> None:
    assert decoded(BY_PRESTODB, [1, ["y", 0.1]]) == {"a": 1, "n": {"x": "y", "f": single(0.1)}}
    text = "struct<a: int, n: struct<x: string, f: float>>"
    assert canonical(WireType.read(BY_PRESTODB), TALLY) == text


@pytest.mark.parametrize(
    ("signature", "sent", "value"),
    [
        # As PrestoDB 0.287 sent them.
        (BY_PRESTODB, '[ 1, "[ \\"y\\", 0.1 ]" ]', {"a": 1, "n": {"x": "y", "f": single(0.1)}}),
        (over("array", over("array", INTEGER)), '[ "[ 1, null ]", "[ ]" ]', ((1, None), ())),
        (over("array", VARCHAR), '[ "[ 1 ]", "" ]', ("[ 1 ]", "")),
        (over("array", plain("decimal", 3, 1)), '[ "1.0" ]', (ONE,)),
        (over("array", plain("double")), '[ 1.0E300, "NaN" ]', (1e300, float("nan"))),
        (over("map", INTEGER, VARCHAR), '{\n  "1" : null\n}', MapValue(((1, None),))),
        (over("map", INTEGER, over("array", INTEGER)), '{ "1" : "[ 5 ]" }', MapValue(((1, (5,)),))),
        (over("map", INTEGER, INTEGER), '{ "1" : 2, "1" : 3 }', MapValue(((1, 2), (1, 3)))),
    ],
)
def test_values_with_parts_that_are_sent_as_json_text_are_read_by_their_type(
    signature: dict[str, Any], sent: str, value: Value
) -> None:
    assert same(decoded(signature, sent), value)


@pytest.mark.parametrize("sent", ["ab", '"ab"', "7", "[ 1"])
@pytest.mark.parametrize(
    "signature", [over("array", VARCHAR), row(a=VARCHAR, b=VARCHAR), over("map", VARCHAR, VARCHAR)]
)
def test_a_text_that_is_no_value_with_parts_is_not_taken_apart_letter_by_letter(
    signature: dict[str, Any], sent: str
) -> None:
    with pytest.raises((TypeError, ValueError)):
        decoded(signature, sent)


def test_a_row_that_is_too_short_for_its_columns_is_not_taken() -> None:
    described = [{"name": n, "type": "integer", "typeSignature": INTEGER} for n in "ab"]
    with pytest.raises(ValueError, match="longer"):
        values.rows(described, [[1]], TALLY)

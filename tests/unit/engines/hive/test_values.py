import datetime
import decimal
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core import tolerances
from harness.core.tolerances import Tally
from harness.engines.hive.values import canonical, canonical_type, children, parse_nested
from harness.model.canonical import MapValue, Value, same, single

D = decimal.Decimal
TALLY = Tally(tolerances.declared_for("hive"))


def value(text: Any, kind: str) -> Value:  # noqa: ANN401 - raw values are of any type
    type_ = canonical_type(kind)
    assert type_ is not None
    return canonical(text, type_, TALLY)


@pytest.mark.parametrize(
    ("hive", "ours"),
    [
        ("decimal(10,2)", "decimal(10, 2)"),
        ("struct<bigint:bigint,b:array<char(3)>>", "struct<bigint: long, b: array<char(3)>>"),
        ("map<bigint,struct<a:date>>", "map<long, struct<a: date>>"),
        ("map<string,map<bigint,timestamp>>", "map<string, map<long, timestamp>>"),
    ],
)
def test_types_of_hive_have_names_of_ours(hive: str, ours: str) -> None:
    assert str(canonical_type(hive)) == ours


@pytest.mark.parametrize(
    "text", ["void", "interval_day_time", "uniontype<int>", "array<void>", "struct", ""]
)
def test_types_without_a_name_of_ours_have_none(text: str) -> None:
    assert canonical_type(text) is None


@pytest.mark.parametrize(
    ("raw", "kind", "expected"),
    [
        (b"\x00\xff", "binary", b"\x00\xff"),
        ("ab  ", "char(4)", "ab  "),
        (1.5, "float", 1.5),
        (503002.1, "float", 503002.09375),
        ('{"f":0.1}', "struct<f:float>", {"f": single(0.1)}),
        ("2024-02-29", "date", datetime.date(2024, 2, 29)),
        (D("1.1"), "decimal(10,2)", D("1.10")),
        (D("7"), "decimal(38,38)", D(7).quantize(D(1).scaleb(-38), context=decimal.Context(76))),
        ("[1,null,3]", "array<int>", (1, None, 3)),
        ("[1.1,2]", "array<decimal(5,2)>", (D("1.10"), D("2.00"))),
        ("[1.5,1.0E10,NaN]", "array<double>", (1.5, 1e10, math.nan)),
        ('{"a":1,"b":null}', "struct<a:int,b:string>", {"a": 1, "b": None}),
        ('{1:"z",-2:"y"}', "map<int,string>", MapValue(((-2, "y"), (1, "z")))),
        ("{1.1:1}", "map<decimal(5,2),int>", MapValue(((D("1.10"), 1),))),
        ("{1.5:[]}", "map<double,array<int>>", MapValue(((1.5, ()),))),
        ('{"2024-02-28":1}', "map<date,int>", MapValue(((datetime.date(2024, 2, 28), 1),))),
        ('{"1":"{2:3}"}', "map<string,string>", MapValue((("1", "{2:3}"),))),
    ],
)
def test_values_become_canonical_by_their_type(
    raw: Any,  # noqa: ANN401
    kind: str,
    expected: Value,
) -> None:
    assert same(value(raw, kind), expected)


def test_a_timestamp_keeps_its_microseconds_and_has_no_zone() -> None:
    moment = datetime.datetime(2024, 2, 29, 1, 2, 3, 456000)  # noqa: DTZ001
    assert value("2024-02-29 01:02:03.456", "timestamp") == moment
    assert value('["2024-02-29 01:02:03.456000000"]', "array<timestamp>") == (moment,)


def test_nanoseconds_stay_text_and_are_not_cut_off() -> None:
    sent = "2024-02-29 01:02:03.456000001"
    assert value(sent, "timestamp") == sent
    assert value(f'["{sent}"]', "array<timestamp>") == (sent,)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("30000-01-01", "date"),
        ("{}", "array<int>"),
        ("[1]", "map<int,int>"),
        ('{"a":1}', "struct<b:int>"),
        ('["1"]', "array<int>"),
        ('["1.5"]', "array<decimal(5,2)>"),
        ('{1:"2"}', "map<int,int>"),
        ('{x:"2"}', "map<int,string>"),
        ('{"a":-7,"b":1,"a":2}', "struct<a:int,b:int>"),
        ("401001.25000", "decimal(10,2)"),
        (D("1.234"), "decimal(10,2)"),
        ("1E+2", "decimal(5,2)"),
        ("[1E2]", "array<decimal(5,2)>"),
        (401001.509, "float"),
        (1e39, "float"),
        ("[9007199254740993]", "array<double>"),
        ("2024-02-29T01:02:03", "timestamp"),
        ("2024-02-29 01:02:03+01:00", "timestamp"),
    ],
)
def test_what_is_not_of_its_type_stays_as_it_came(raw: str | float | D, kind: str) -> None:
    type_ = canonical_type(kind)
    assert same(canonical(raw, type_, TALLY), raw)


def test_a_day_or_time_of_another_form_stays_text_inside_of_a_value_too() -> None:
    zoned = "2024-02-29 01:02:03+01:00"
    assert value(f'{{"t":"{zoned}","n":1}}', "struct<t:timestamp,n:int>") == {"t": zoned, "n": 1}
    assert value('["20240229"]', "array<date>") == ("20240229",)


def test_a_map_keeps_both_entries_of_one_key() -> None:
    assert value('{"a":1,"a":2}', "map<string,int>") == MapValue((("a", 1), ("a", 2)))


@settings(max_examples=25)
@given(st.dictionaries(st.integers(), st.text(max_size=6), max_size=4))
def test_any_text_survives_beside_bare_keys(pairs: dict[int, str]) -> None:
    def quoted(text: str) -> str:
        for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
            text = text.replace(plain, escaped)
        return f'"{text}"'

    hive = "{" + ",".join(f"{key}:{quoted(text)}" for key, text in pairs.items()) + "}"
    assert value(hive, "map<int,string>") == MapValue.of(list(pairs.items()))


def test_a_key_that_looks_bare_inside_a_text_is_left_alone() -> None:
    assert parse_nested('["a:1, b:2","{c:3}"]') == ["a:1, b:2", "{c:3}"]


def test_the_children_of_a_struct_are_told_apart() -> None:
    text = "struct<a:decimal(10,2),b:struct<c:map<int,string>,d:int>,e:array<int>>"
    assert children(text) == {
        "a": "decimal(10,2)",
        "b": "struct<c:map<int,string>,d:int>",
        "e": "array<int>",
    }
    assert children("array<int>") == {}


MOMENTS = (
    "struct<s:timestamp with local time zone,m:map<string,array<timestamp with local time zone>>>"
)
WITH_ZONE = {"moments": "timestamptz"}


@pytest.mark.parametrize(
    ("format_name", "tables", "ours"),
    [
        ("iceberg", WITH_ZONE, "struct<s: timestamp, m: map<string, array<timestamp>>>"),
        ("iceberg", {}, "None"),
        ("hive-parquet", WITH_ZONE, "None"),
    ],
)
def test_a_timestamp_with_a_zone_is_a_moment_only_in_icebergs_tables_that_have_it(
    format_name: str, tables: dict[str, str], ours: str
) -> None:
    declared = tolerances.declared_for_format("hive", format_name, tables)
    assert str(canonical_type(MOMENTS, declared)) == ours
    alone = [canonical_type(text, declared) for text in ("timestamplocaltz", "timestamp")]
    assert [str(kind) for kind in alone] == ["timestamp" if ours != "None" else "None", "timestamp"]
    for zone, right in (("UTC", ours != "None"), ("Europe/Berlin", False)):
        text = f"2024-01-02 03:04:05.678901 {zone}"
        shown = canonical(text, alone[1], Tally(declared))
        assert (shown != text) == right

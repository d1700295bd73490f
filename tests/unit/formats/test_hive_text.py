import datetime
import math
from decimal import Decimal
from pathlib import Path

import pytest

from harness import formats
from harness.formats.api import FileFactError
from harness.formats.files import hive_text
from harness.model.canonical import MapValue, Value, same, single
from harness.model.identifiers import TABLE
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory

JOB = "8b6c2d50-5a5e-4b0e-9d0b-0123456789ab"
FILE = f"part-00000-{JOB}-c000"


def written(folder: Path, *lines: str) -> Path:
    path = folder / FILE
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "a\tb", "a\tb"),
        ("string", r"\N", None),
        ("bigint", "-9223372036854775808", -9223372036854775808),
        ("boolean", "true", True),
        ("float", "3.4028235E38", single(3.4028234663852886e38)),
        ("double", "-Infinity", -math.inf),
        ("double", "-0.0", -0.0),
        ("decimal(6,2)", "1.5", Decimal("1.50")),
        ("date", "1969-12-31", datetime.date(1969, 12, 31)),
        ("timestamp", "2024-03-31 02:30:00", datetime.datetime(2024, 3, 31, 2, 30)),  # noqa: DTZ001
        ("binary", "AP8=", b"\x00\xff"),
        ("char(4)", "a   ", "a   "),
        ("array<int>", "1\x02\\N", (1, None)),
        ("array<int>", "", ()),
        ("struct<a:string,b:bigint>", "x\x02\\N", {"a": "x", "b": None}),
        ("map<string,double>", "x\x031.5\x02y\x03\\N", MapValue.of([("x", 1.5), ("y", None)])),
        ("boolean", "TRUE", True),
        ("int", "x", None),
        ("date", "9999-12-31\x02k", None),
        ("timestamp", "10000-01-01 00:00:00", "10000-01-01 00:00:00"),
        ("decimal(6,2)", "", None),
        ("struct<a:int,b:int>", "1", {"a": 1, "b": None}),
        ("struct<a:int>", "1\x022", {"a": 1}),
        ("map<string,int>", "x\x02y\x031", MapValue.of([("x", None), ("y", 1)])),
        (
            "map<string,array<struct<a:int,b:string>>>",
            "k\x031\x05x",
            MapValue.of([("k", ({"a": 1, "b": "x"},))]),
        ),
    ],
)
def test_a_value_has_the_type_of_its_column(
    kind: str, text: str, value: Value, tmp_path: Path
) -> None:
    path = written(tmp_path, f"first\x01{text}")
    names, ((_, actual),) = hive_text.content(path, (("id", "string"), ("f", kind)))
    assert names == ("id", "f")
    assert same(actual, value)


@pytest.mark.parametrize(("line", "row"), [("a", ("a", None)), ("a\x01b\x01c", ("a", "b"))])
def test_what_a_line_lacks_is_null_and_what_it_has_beyond_its_columns_is_passed_over(
    line: str, row: tuple[Value, ...], tmp_path: Path
) -> None:
    columns = ("id", "string"), ("f", "string")
    assert hive_text.content(written(tmp_path, line), columns)[1] == (row,)


@pytest.mark.parametrize(
    ("kind", "text", "why"),
    [
        ("uniontype<int>", "1", "no value can be read as uniontype<int>"),
        ("binary", "A", "Invalid base64"),
    ],
)
def test_what_no_rule_makes_a_value_of_is_reported(
    kind: str, text: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(FileFactError, match=why):
        hive_text.content(written(tmp_path, f"a\x01{text}"), (("id", "string"), ("f", kind)))


def test_a_file_that_is_cut_off_is_reported(tmp_path: Path) -> None:
    written(tmp_path).write_bytes(b"a\x01b")
    with pytest.raises(FileFactError, match="its last line has no end"):
        hive_text.content(tmp_path / FILE, (("id", "string"), ("f", "string")))


def entry(*columns: str) -> CatalogEntry:
    cols = [{"name": name, "type": "string"} for name in columns]
    table = {"sd": {"cols": cols}, "partitionKeys": [{"name": "p", "type": "string"}]}
    return CatalogEntry(TABLE, table)


def test_a_file_has_the_columns_of_the_step_that_wrote_it(tmp_path: Path) -> None:
    written(tmp_path, "x\x011", "y\x012")
    catalog = CatalogHistory((entry("id", "f"),), {JOB: (entry("f", "id"),)})
    plain = formats.load("hive-text")
    (fact,) = plain.facts(tmp_path, "id", catalog)
    assert fact.columns == (("f", "string"), ("id", "string"))
    assert (fact.instant, fact.keys) == (JOB, ("1", "2"))
    assert plain.file_rows(tmp_path / FILE, fact) == (("f", "id"), (("x", "1"), ("y", "2")))
    assert plain.statistics(tmp_path, (fact,)) == ()


def test_a_file_of_a_write_that_failed_has_the_columns_of_now(tmp_path: Path) -> None:
    written(tmp_path, "x\x011")
    (fact,) = formats.load("hive-text").facts(tmp_path, "id", CatalogHistory((entry("f", "id"),)))
    assert fact.keys == ("1",)


def test_a_table_that_the_catalog_does_not_know_says_nothing(tmp_path: Path) -> None:
    written(tmp_path, "x\x011")
    with pytest.raises(FileFactError):
        formats.load("hive-text").facts(tmp_path, "id")

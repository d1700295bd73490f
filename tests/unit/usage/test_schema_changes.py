from typing import Any

import pyarrow as pa
import pytest

from harness.formats.files import column_parts
from harness.formats.files.column_parts import ColumnPart, part_of
from harness.usage.schema_changes import between, by_names
from harness.usage.usage_file import OldFiles
from tests.builders.table_folders import short


def numbered(**columns: tuple[int, Any]) -> list[ColumnPart]:
    return [part_of(name, number, type_) for name, (number, type_) in columns.items()]


def changes_of(before: list[ColumnPart], after: list[ColumnPart]) -> list[str]:
    return short(list(between(before, after, OldFiles.YES)))


START = numbered(id=(1, "string"), f1=(2, "int"), f2=(3, "int"))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (START, []),
        (numbered(id=(1, "string"), g=(2, "int"), f2=(3, "int")), ["rename f1 g yes"]),
        (numbered(id=(1, "string"), f2=(3, "int")), ["drop f1 yes"]),
        ([*START, ColumnPart(4, "f3", "int")], ["add f3 end yes"]),
        ([START[0], ColumnPart(4, "f3", "int"), *START[1:]], ["add f3 middle yes"]),
        (numbered(id=(1, "string"), f2=(3, "int"), f1=(2, "int")), ["move f2 yes"]),
        (numbered(id=(1, "string"), f1=(2, "long"), f2=(3, "int")), ["change f1 long yes"]),
        # Dropped, and another one added under its name.
        (
            numbered(id=(1, "string"), f2=(3, "int"), f1=(4, "int")),
            ["drop f1 yes", "add f1 end yes"],
        ),
    ],
)
def test_columns_with_ids_tell_each_change(after: list[ColumnPart], expected: list[str]) -> None:
    assert changes_of(START, after) == expected


@pytest.mark.parametrize(
    ("order", "moved"),
    [("abcde", 0), ("eabcd", 1), ("adbce", 1), ("bcdea", 1), ("cdabe", 2), ("aedcb", 3)],
)
def test_no_more_columns_were_moved_than_must_have_been(order: str, moved: int) -> None:
    before, after = (
        [ColumnPart(ord(text), text, "int") for text in side] for side in ("abcde", order)
    )
    assert len(changes_of(before, after)) == moved


def test_parts_of_columns_change_by_their_paths() -> None:
    hudi = {"type": "array", "element_id": 5, "element": {"type": "record", "fields": []}}
    hudi["element"] = {"type": "record", "fields": [{"id": 6, "name": "a", "type": "int"}]}
    iceberg = {"type": "list", "element-id": 5, "element": {"type": "struct", "fields": []}}
    iceberg["element"] = {"type": "struct", "fields": [{"id": 6, "name": "b", "type": "long"}]}
    changes = between([part_of("l", 4, hudi)], [part_of("l", 4, iceberg)], OldFiles.NO)
    assert short(list(changes)) == ["rename l.element.a b no", "change l.element.a long no"]


def from_file(file: dict[str, str], catalog: dict[str, str]) -> list[str]:
    arrow = pa.schema([(name, pa.type_for_alias(type_)) for name, type_ in file.items()])
    before, after = column_parts.of_arrow(arrow), column_parts.of_catalog(catalog.items())
    return short(list(by_names(column_parts.comparable(before, after), after)))


ID, THREE = {"id": "string", "f1": "int32"}, {"a": "int32", "b": "int32", "c": "int32"}


@pytest.mark.parametrize(
    ("file", "catalog", "expected"),
    [
        (ID, {"id": "string", "g": "int"}, "rename f1 g yes ?; drop f1 yes ?; add g end yes ?"),
        # A column of another type is none that was renamed.
        (ID, {"id": "string", "g": "double"}, "drop f1 yes; add g end yes"),
        (
            THREE,
            {"a": "int", "x": "double", "b_new": "int"},
            "rename b b_new yes ?; drop b yes ?; drop c yes ?; add x end yes; add b_new end yes ?",
        ),
        (THREE, {"a": "int", "c": "int", "b": "bigint"}, "move c yes; change b long yes"),
    ],
)
def test_of_files_nobody_can_tell_a_rename_from_a_drop_and_an_add(
    file: dict[str, str], catalog: dict[str, str], expected: str
) -> None:
    assert "; ".join(from_file(file, catalog)) == expected


def test_a_column_in_the_same_place_is_taken_for_the_renamed_one() -> None:
    assert "rename b x yes ?" in from_file(THREE, {"a": "int", "x": "int"})


@pytest.mark.parametrize(
    ("arrow", "hive"),
    [
        ("int32", "tinyint"),
        ("string", "varchar(10)"),
        ("binary", "string"),
        ("bool", "boolean"),
        ("int64", "interval_day_time"),  # what we do not know is no change
    ],
)
def test_types_that_files_do_not_tell_apart_are_the_same(arrow: str, hive: str) -> None:
    assert from_file({"ID": arrow}, {"id": hive}) == []


def test_nested_columns_of_files_are_compared() -> None:
    parts = pa.struct([("a", pa.int32()), ("t", pa.timestamp("us", "UTC"))])
    arrow = pa.schema([("l", pa.list_(parts)), ("m", pa.map_(pa.string(), pa.decimal128(5, 2)))])
    hive = {"l": "array<struct<t:timestamp,a:bigint>>", "m": "map<string,decimal(5,2)>"}
    before, after = column_parts.of_arrow(arrow), column_parts.of_catalog(hive.items())
    actual = short(list(by_names(before, after)))
    assert actual == ["move l.element.t yes", "change l.element.a long yes"]

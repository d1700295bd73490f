"""The fields of a partition spec, as scenario files write them."""

import datetime
import decimal

import pytest

from harness.model import partition_paths
from harness.model.canonical import Value, same
from harness.model.datatypes import parse_type
from harness.model.partition_fields import (
    PartitionField,
    Transform,
    added,
    dropped,
    identities,
    parse,
)
from harness.model.schema import Field, SchemaChangeError, schema_of
from tests.builders.table_story import history

TYPES = {"id": "string", "n": "long", "at": "timestamp", "day": "date", "s": "struct<a: int>"}
SCHEMA = schema_of(tuple((name, parse_type(text)) for name, text in TYPES.items()))


@pytest.mark.parametrize(
    ("text", "transform", "width", "column"),
    [
        ("id", Transform.IDENTITY, None, "id"),
        ("identity(id)", Transform.IDENTITY, None, "id"),
        ("bucket(4, n)", Transform.BUCKET, 4, "n"),
        ("truncate(10,id)", Transform.TRUNCATE, 10, "id"),
        ("hour( at )", Transform.HOUR, None, "at"),
        ("bucket(2, s.a)", Transform.BUCKET, 2, "s.a"),
    ],
)
def test_a_field_is_a_transform_of_a_column(
    text: str, transform: Transform, width: int | None, column: str
) -> None:
    partition_field = PartitionField(SCHEMA.find(column).id, transform, width)
    assert parse(text, SCHEMA) == (partition_field, column)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("gone", "there is no column 'gone'"),
        ("bucket(n)", "'bucket(n)' is no partition field; allowed: p, bucket(4, p)"),
        ("bucket(0, n)", "is no partition field"),
        ("week(at)", "is no partition field"),
        ("hour(day)", "'day' is date, and hour is for: timestamp, timestamp_ntz"),
        ("truncate(3, at)", "'at' is timestamp, and truncate is for: decimal, int, long, string"),
        ("s", "'s' is struct<a: int>, and identity is for: "),
    ],
)
def test_what_is_none_is_refused_with_what_is_allowed(text: str, problem: str) -> None:
    with pytest.raises(SchemaChangeError) as wrong:
        parse(text, SCHEMA)
    assert problem in str(wrong.value)


def test_a_field_is_there_once_and_goes_once() -> None:
    begun = identities(SCHEMA, ("id",))
    (by_id, _), (by_day, _) = parse("id", SCHEMA), parse("day(at)", SCHEMA)
    assert added(begun, by_day) == (by_id, by_day)
    with pytest.raises(SchemaChangeError, match="has that partition field already"):
        added(begun, by_id)
    assert dropped(begun, by_id) == ()
    with pytest.raises(SchemaChangeError, match="has no such partition field"):
        dropped(begun, by_day)


P = ("p",)


@pytest.mark.parametrize(
    ("folder", "columns", "texts"),
    [
        ("p=a", P, ("a",)),
        ("p=", P, ("",)),
        ("p=__HIVE_DEFAULT_PARTITION__", P, (None,)),
        ("p=a%3Db%2Fc%25", P, ("a=b/c%",)),
        ("p=%252F", P, ("%2F",)),
        ("a%20b", P, ("a b",)),
        ("p=gr%C3%B6%C3%9Fe", P, ("größe",)),
        ("p=%F6", P, ("ö",)),
        ("P=a", P, ("a",)),
        ("q=a", P, ("q=a",)),
        ("p=1/q=x", ("p", "q"), ("1", "x")),
        ("p=a/b", P, ()),  # an unescaped value with a slash
        ("data/p=a", P, ()),  # Iceberg's
        ("", P, ()),
    ],
)
def test_each_level_of_a_folder_tells_a_value(
    folder: str, columns: tuple[str, ...], texts: tuple[str | None, ...]
) -> None:
    assert partition_paths.texts(folder, columns) == texts


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [
        (None, "int", None),
        ("007", "string", "007"),
        ("007", "int", 7),
        ("2024-02-29", "date", datetime.date(2024, 2, 29)),
        ("1.5", "decimal(6, 2)", decimal.Decimal("1.50")),
        ("true", "boolean", True),
    ],
)
def test_a_text_is_a_value_of_the_columns_type(text: str | None, type_: str, value: Value) -> None:
    assert same(partition_paths.value_of(text, parse_type(type_)), value)


@pytest.mark.parametrize(("text", "type_"), [("yes", "boolean"), ("", "int")])
def test_a_text_that_is_none_is_reported(text: str, type_: str) -> None:
    with pytest.raises(ValueError, match="has no exact form as"):
        partition_paths.value_of(text, parse_type(type_))


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a=b", True), ("a%3Db", True), ("p=a%3Db", True), ("a", False), (None, False), (1, False)],
)
def test_a_name_says_a_value_in_any_of_its_forms(value: Value, *, expected: bool) -> None:
    field = Field(1, "p", parse_type("string"))
    assert partition_paths.says("p=a%3Db", P, field, value) is expected


def test_values_stand_under_the_ids_of_their_columns() -> None:
    story = history("insert 1", "id string, n int, p string", partition_by=("n", "p"))
    assert partition_paths.values(("1", None), story.truth) == {2: 1, 3: None}
    assert partition_paths.values((), story.truth) == {}

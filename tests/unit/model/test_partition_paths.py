"""What the names of folders say of partitions."""

from __future__ import annotations

import datetime
import decimal

import pytest

from harness.model import partition_paths
from harness.model.canonical import Value, same
from harness.model.datatypes import parse_type
from harness.model.schema import Field
from tests.builders.table_story import history

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

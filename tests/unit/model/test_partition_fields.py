"""The fields of a partition spec, as scenario files write them."""

from __future__ import annotations

import pytest

from harness.model.datatypes import parse_type
from harness.model.partition_fields import (
    PartitionField,
    Transform,
    added,
    dropped,
    identities,
    parse,
)
from harness.model.schema import SchemaChangeError, schema_of

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

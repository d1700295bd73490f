"""The fields of a partition spec: each is what a transform makes of a column. Pure.

Source: Iceberg table specification, "Partitioning" and "Partition Transforms". A reader derives
from them alone which files it leaves out; the rows that it shows are the same in every spec.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.model.schema import Schema, SchemaChangeError


class Transform(StrEnum):
    IDENTITY = "identity"
    BUCKET = "bucket"
    TRUNCATE = "truncate"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    HOUR = "hour"


_DAYS: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_HASHED: Final = frozenset({"int", "long", "decimal", "date", "string", "binary"})
TYPES: Final = {
    Transform.IDENTITY: _DAYS | _HASHED | {"boolean", "float", "double"},
    Transform.BUCKET: _DAYS | _HASHED,
    Transform.TRUNCATE: frozenset({"int", "long", "decimal", "string"}),
    Transform.YEAR: _DAYS,
    Transform.MONTH: _DAYS,
    Transform.DAY: _DAYS,
    Transform.HOUR: _DAYS - {"date"},
}
"""The types of columns that a transform takes, without parameters."""
WITH_WIDTH: Final = frozenset({Transform.BUCKET, Transform.TRUNCATE})
_CALL: Final = re.compile(r"(?P<transform>[a-z]+)\(((?P<width>\d+)\s*,)?\s*(?P<column>.+?)\s*\)")
ALLOWED: Final = "p, bucket(4, p), truncate(4, p), year(p), month(p), day(p), hour(p)"


@dataclass(frozen=True, slots=True)
class PartitionField:
    source: int
    """The id of the column."""
    transform: Transform
    width: int | None = None
    """The number of buckets, or what a value is cut to."""


def parse(text: str, schema: Schema) -> tuple[PartitionField, str]:
    """Return the field that a text such as `bucket(4, p)` means, and the path of its column."""
    match = _CALL.fullmatch(text)
    name = match["transform"] if match else str(Transform.IDENTITY)
    column = match["column"] if match else text
    width = int(match["width"]) if match and match["width"] else None
    if name not in list(Transform) or (name in WITH_WIDTH) != (width is not None) or width == 0:
        raise SchemaChangeError(f"'{text}' is no partition field; allowed: {ALLOWED}")
    source, transform = schema.find(column), Transform(name)
    if str(source.type).partition("(")[0] not in TYPES[transform]:
        allowed = ", ".join(sorted(TYPES[transform]))
        message = f"'{column}' is {source.type}, and {transform} is for: {allowed}"
        raise SchemaChangeError(message)
    return PartitionField(source.id, transform, width), column


def added(fields: Sequence[PartitionField], new: PartitionField) -> tuple[PartitionField, ...]:
    if new in fields:
        raise SchemaChangeError("the table has that partition field already")
    return (*fields, new)


def dropped(fields: Sequence[PartitionField], old: PartitionField) -> tuple[PartitionField, ...]:
    if old not in fields:
        raise SchemaChangeError("the table has no such partition field")
    return tuple(field for field in fields if field != old)


def identities(schema: Schema, columns: Sequence[str]) -> tuple[PartitionField, ...]:
    return tuple(PartitionField(schema.find(column).id, Transform.IDENTITY) for column in columns)

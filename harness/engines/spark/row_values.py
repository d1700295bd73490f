"""Rows that Spark answered, as canonical values in their JSON form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.model.canonical import MapValue, Value, to_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType


def collect(frame: DataFrame) -> dict[str, Any]:
    """Run a query: `columns` as [name, type in Spark's words], and `rows`."""
    schema = frame.schema
    types = [field.dataType for field in schema.fields]
    rows = [
        [to_json(canonical(value, type_)) for value, type_ in zip(row, types, strict=True)]
        for row in frame.collect()
    ]
    columns = [[field.name, field.dataType.simpleString()] for field in schema.fields]
    return {"columns": columns, "rows": rows}


def canonical(value: Any, type_: DataType) -> Value:  # noqa: ANN401 - of any type
    """Return PySpark's form of a value in canonical form.

    Timestamps come in the local time zone of this process, which runs in UTC. What is not seen: a
    map comes as a Python dict, so of two entries with one key the last is all that is left of them.
    Spark makes no such map itself (`spark.sql.mapKeyDedupPolicy`), but may read one from a file.
    """
    if value is None:
        return None
    match type(type_).__name__:
        case "StructType":
            return _struct(value, type_)  # type: ignore[arg-type]
        case "ArrayType":
            return tuple(canonical(each, type_.elementType) for each in value)  # type: ignore[attr-defined]
        case "MapType":
            key, part = type_.keyType, type_.valueType  # type: ignore[attr-defined]
            pairs = [(canonical(k, key), canonical(v, part)) for k, v in value.items()]
            return MapValue.of(pairs)
        case "BinaryType":
            return bytes(value)
    return value


def _struct(value: Any, type_: StructType) -> dict[str, Value]:  # noqa: ANN401 - a Row
    return {
        field.name: canonical(part, field.dataType)
        for part, field in zip(value, type_.fields, strict=True)
    }

"""Structs and arrays none of whose parts a file has, as readers of Parquet show them: NULL.

Parquet stores nothing but the innermost parts, and beside each of them whether what it is in is
NULL (Apache Parquet format, "Nested Encoding"). So a reader that looks for parts which a file does
not have learns nothing of the whole there, and takes it for NULL (Apache Spark 3.5,
`ParquetColumnVector`, where all children are missing; seen on Spark, Hive, Trino and PrestoDB).
"""

from __future__ import annotations

from harness.model.canonical import MapValue, Value
from harness.model.datatypes import Array, Struct
from harness.model.schema import Field
from harness.model.simulation.column_resolution import nested, part_in
from harness.model.simulation.strategies import ColumnMapping


def may_be_partless(field: Field, source: Field | None, by: ColumnMapping) -> bool:
    """Return whether a file has none of the parts of a column, or of something inside it."""
    if source is None or nested(source) is None or nested(field) != nested(source):
        return False
    pairs = _pairs(field, source, by)
    return _lacks_parts(field, source, by) or any(may_be_partless(*pair, by) for pair in pairs)


def without_partless(value: Value, field: Field, source: Field | None, by: ColumnMapping) -> Value:
    """Return what is shown with NULL for each struct or array none of whose parts the file has."""
    if value is None or source is None or nested(field) != nested(source):
        return value
    if _lacks_parts(field, source, by):
        return None
    pairs = _pairs(field, source, by)
    match value:
        case dict():
            return {
                pair.name: without_partless(value[pair.name], pair, of, by) for pair, of in pairs
            }
        case tuple():
            return tuple(without_partless(each, *pairs[0], by) for each in value)
        case MapValue():
            return MapValue(tuple((k, without_partless(v, *pairs[1], by)) for k, v in value.pairs))
    return value


def _lacks_parts(field: Field, source: Field | None, by: ColumnMapping) -> bool:
    """Return whether a file has no innermost part of a column; a map always has its keys."""
    if source is None:
        return True
    if not isinstance(field.type, Struct | Array) or nested(field) != nested(source):
        return False
    return all(_lacks_parts(*pair, by) for pair in _pairs(field, source, by))


def _pairs(field: Field, source: Field, by: ColumnMapping) -> list[tuple[Field, Field | None]]:
    """Return the parts of a column, each with that of the file which is taken for it."""
    if isinstance(field.type, Struct):
        return [(child, part_in(source, field, child, by)) for child in field.children]
    return list(zip(field.children, source.children, strict=True))

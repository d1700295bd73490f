"""Which types the parts of columns may have: those that every engine's answers tell.

Hive sends values with parts as text in which bytes stand as they are, without quotes
(`SerDeUtils.getJSONString` of 3.1.3); Trino and PrestoDB send a map as an object of JSON, whose
keys are texts: of bytes it is Trino's own print or base64, of values with parts a text of Java's.
Nobody can read these back, so a right answer would pass for a wrong one. Pure.
"""

from __future__ import annotations

from typing import Final

from harness.model.datatypes import Array, DataType, Map, Primitive, Struct, every_type

BINARY: Final = Primitive("binary")


def untold(type_: DataType) -> str:
    """Return which part of a column's type cannot be read from every engine, empty when all can.

    >>> from harness.model.datatypes import parse_type
    >>> untold(parse_type("map<array<int>, int>")), untold(parse_type("binary"))
    ('a map with keys of array<int>; allowed are keys without parts, and not binary', '')
    """
    for inner in every_type(type_):
        match inner:
            case Map(key, _) if key == BINARY or isinstance(key, Struct | Array | Map):
                return f"a map with keys of {key}; allowed are keys without parts, and not binary"
    if type_ != BINARY and BINARY in every_type(type_):
        return "binary inside of another type; allowed is binary as a column alone"
    return ""

"""Delta's types of columns as Arrow's, and the values of partition columns."""

from __future__ import annotations

import re
from typing import Final

from harness.core.arrow import pa
from harness.engines.arrow_values import variant
from harness.formats.files import typed_text
from harness.model.canonical import Value

_DECIMAL: Final = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_PLAIN: Final = {
    "string": "string",
    "long": "int64",
    "integer": "int32",
    "short": "int16",
    "byte": "int8",
    "float": "float32",
    "double": "float64",
    "boolean": "bool",
    "binary": "binary",
    "date": "date32",
    "void": "null",
}
"""Arrow's names for Delta's types (protocol, "Primitive Types"); Spark's `void` has no values."""


def arrow_type(type_: str) -> pa.DataType:
    """See `ArrowType`."""
    if type_ in _PLAIN:
        return pa.type_for_alias(_PLAIN[type_])
    if type_ == "variant":
        return variant()
    if type_.startswith("timestamp"):
        return pa.timestamp("us", None if type_ == "timestamp_ntz" else "UTC")
    if exact := _DECIMAL.fullmatch(type_):
        return pa.decimal128(int(exact[1]), int(exact[2]))
    raise ValueError(f"the type {type_} is not read")


def partition_value(text: str | None, type_: str) -> Value:
    """Return the value that a text of the log stands for; raises ValueError where there is none.

    An empty text is NULL, whatever the type (protocol, "Partition Value Serialization").
    """
    return typed_text.value(text or None, arrow_type(type_))

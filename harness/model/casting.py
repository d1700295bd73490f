"""What is shown of a text that is cast to a whole number where it is none: NULL.

Source: Spark's `Cast`, which is not ANSI's unless that is asked for, and what puts it there where a
file has a column with another type than the table (`HoodieParquetFileFormatHelper.
buildImplicitSchemaChangeInfo` and `generateUnsafeProjection`, Hudi 1.0.2); seen on merge-on-read
tables. A file read by the vectorized reader is refused instead.
"""

from __future__ import annotations

import re
from typing import Final

from harness.model.canonical import Value
from harness.model.conversion import INTEGERS, convert
from harness.model.datatypes import DataType, Primitive

_NUMBER: Final = re.compile(r"\s*[+-]?[\d.]+\s*")


def otherwise(source: DataType, to: DataType) -> bool:
    """Tell whether a cast from one type to another may give NULL."""
    match source, to:
        case Primitive("string"), Primitive(name):
            return name in INTEGERS
    return False


def taken(value: Value, to: DataType) -> Value:
    """Give what a text becomes as a whole number.

    >>> taken("f3s1r1", Primitive("int")) is None, taken("7", Primitive("int"))
    (True, 7)

    Raises:
        ValueError: it is a number that has no exact form in the type, or is too great for it.

    """
    other = isinstance(value, str) and not _NUMBER.fullmatch(value)
    return None if other else convert(value, to)

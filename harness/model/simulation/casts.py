"""What is shown of a text that is cast to a number where it is none: NULL.

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
from harness.model.datatypes import DataType, Decimal, Primitive

_WHOLE: Final = re.compile(r"\s*[+-]?[\d.]+\s*")
_NUMBER: Final = re.compile(
    r"\s*[+-]?(?:[\d.]+(?:e[+-]?\d+)?[fd]?|inf(?:inity)?|nan)\s*", re.IGNORECASE
)
"""With all that Spark takes for a number elsewhere: exponents, Java's `1d`, and what has no digits
(`Cast.processFloatingPointSpecialLiterals`)."""


def otherwise(source: DataType, to: DataType) -> bool:
    """Return whether a cast from one type to another may give NULL."""
    match source, to:
        case Primitive("string"), Primitive(name):
            return name in INTEGERS or name in {"float", "double"}
        case Primitive("string"), Decimal():
            return True
    return False


def taken(value: Value, to: DataType) -> Value:
    """Return what a text becomes as a number.

    >>> taken("f3s1r1", Primitive("int")) is None, taken("7", Primitive("int"))
    (True, 7)
    >>> taken("f3s1r1", Primitive("double")) is None, taken("7.5", Primitive("double"))
    (True, 7.5)

    Raises:
        ValueError: it is a number that has no exact form in the type, or is too great for it.

    """
    number = _WHOLE if str(to) in INTEGERS else _NUMBER
    other = isinstance(value, str) and not number.fullmatch(value)
    return None if other else convert(value, to)

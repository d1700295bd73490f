"""What a refusal means, where its text tells."""

from __future__ import annotations

import re
from typing import Final

from harness.record import Refusal

BY_POSITION: Final = "read by position"
"""The reader took a file's column at the table's position and met another type."""

MEANINGS: Final = (
    # PrestoDB 0.283/0.287: the type at that position in the file is not the declared one.
    (r"HIVE_PARTITION_SCHEMA_MISMATCH", BY_POSITION),
    # Trino 352-368, PrestoSQL 350: a page reader of another type; the message is the type's class.
    (r"GENERIC_INTERNAL_ERROR: .*\bspi\.type\.\w+Type\b", BY_POSITION),
    # Trino 476: "Unsupported Trino column type (bigint) for Parquet column ([f2] optional …)".
    (r"Unsupported Trino column type \(.*\) for Parquet column", BY_POSITION),
    # Spark: a renamed struct field under the vectorised reader.
    (r"cannot be read in vectorized mode", "the vectorised reader cannot read changed structs"),
)


def text(refusal: Refusal) -> str:
    """Give a refusal in one line."""
    code = f" ({refusal.code})" if refusal.code else ""
    cause = f"; cause: {refusal.cause}" if refusal.cause else ""
    return f"{refusal.kind}{code}: {refusal.message}{cause}"


def meaning(refusal: Refusal) -> str:
    """Give what a refusal means, empty when its text does not tell.

    >>> meaning(Refusal("GENERIC_INTERNAL_ERROR", "io.prestosql.spi.type.VarcharType"))
    'read by position'
    """
    said = text(refusal)
    return next((means for pattern, means in MEANINGS if re.search(pattern, said)), "")

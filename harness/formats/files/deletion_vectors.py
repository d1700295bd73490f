"""The bitmap of a deletion vector, which Iceberg and Delta store alike.

Source: Puffin specification, "deletion-vector-v1 blob type"; Delta protocol, "Deletion Vector
Format".
"""

from typing import Final

from harness.core.arrow import pyroaring

MAGIC: Final = bytes.fromhex("d1d33964")


def positions(stored: bytes) -> frozenset[int]:
    """Return the positions of rows that are gone; raises ValueError where there is no bitmap."""
    if not stored.startswith(MAGIC):
        raise ValueError(f"it begins with {stored[: len(MAGIC)].hex()}, which no bitmap does")
    return frozenset(pyroaring.BitMap64.deserialize(stored[len(MAGIC) :]))

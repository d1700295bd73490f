"""The bitmap of a deletion vector, which Iceberg and Delta store alike.

Source: Puffin specification, "deletion-vector-v1 blob type"; Delta transaction log protocol,
"Deletion Vector Format"; both have bitmaps of 64 bits as in the Roaring specification.
"""

from __future__ import annotations

from typing import Final

MAGIC: Final = bytes.fromhex("d1d33964")


def positions(stored: bytes) -> frozenset[int]:
    """Return the positions of the rows that are gone; `stored`: the magic number and the bitmap.

    Raises ValueError: it is none.
    """
    from pyroaring import BitMap64  # noqa: PLC0415 - only reading needs it

    if not stored.startswith(MAGIC):
        raise ValueError(f"it begins with {stored[: len(MAGIC)].hex()}, which no bitmap does")
    return frozenset(BitMap64.deserialize(stored[len(MAGIC) :]))

"""Deletion vectors of Delta: which rows of a data file are gone.

Source: Delta transaction log protocol, "Deletion Vectors", "Deletion Vector Descriptor Schema",
"Derived Fields" and "Deletion Vector Format"; the bitmaps are those of the Roaring specification
(RoaringFormatSpec), "General layout".
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from harness.formats.api import FileFactError
from harness.formats.files import deletion_vectors

_UUID_TEXT: Final = 20
"""The signs that a UUID has in base 85; a prefix of the folder's name stands before."""


def deleted(folder: Path, vector: Mapping[str, Any]) -> frozenset[int]:
    """Return the positions of the rows that a descriptor says are gone.

    Raises:
        FileFactError: it cannot be understood, or does not hold as many as it says.

    """
    try:
        positions = deletion_vectors.positions(_stored(folder, vector))
    except (ValueError, struct.error, OSError) as problem:
        raise FileFactError(f"deletion vector {vector['pathOrInlineDv']}: {problem}") from problem
    if len(positions) != vector["cardinality"]:
        counts = f"it has {len(positions)} rows, and says {vector['cardinality']}"
        raise FileFactError(f"deletion vector {vector['pathOrInlineDv']}: {counts}")
    return positions


def _stored(folder: Path, vector: Mapping[str, Any]) -> bytes:
    text, kind, length = str(vector["pathOrInlineDv"]), vector["storageType"], vector["sizeInBytes"]
    if kind == "i":
        return _base85(text)[: int(length)]
    if kind != "u":
        raise ValueError(f"its storage type is {kind}, an absolute path")
    prefix, name = text[:-_UUID_TEXT], UUID(bytes=_base85(text[-_UUID_TEXT:]))
    content = (folder / prefix / f"deletion_vector_{name}.bin").read_bytes()
    start = vector.get("offset", 0)
    (size,) = struct.unpack_from(">i", content, start)
    if size != length:
        raise ValueError(f"its file says {size} bytes, its descriptor {length}")
    return content[start + 4 : start + 4 + size]


def _base85(text: str) -> bytes:
    """Return bytes from Z85 (ZeroMQ), whose alphabet is another than Python's base 85."""
    return base64.b85decode(text.translate(_FROM_Z85))


_Z85: Final = (
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
)
_B85: Final = (
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
)
_FROM_Z85: Final = str.maketrans(_Z85, _B85)

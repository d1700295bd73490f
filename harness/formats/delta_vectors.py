"""Deletion vectors of Delta: which rows of a data file are gone.

Source: Delta transaction log protocol, "Deletion Vectors", "Deletion Vector Descriptor Schema",
"Derived Fields" and "Deletion Vector Format"; the bitmaps are those of the Roaring specification
(RoaringFormatSpec), "General layout".
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from harness.formats.api import FileFactError

_MAGIC: Final = 1681511377
_NO_RUNS: Final = 12346
_RUNS: Final = 12347
_NO_OFFSETS: Final = 4
"""With fewer containers than these a bitmap that has runs gives no offsets."""
_ARRAY: Final = 4096
"""So many values at most are listed one by one; of more there is a bit for each possible one."""
_UUID_TEXT: Final = 20
"""The signs that a UUID has in base 85; a prefix of the folder's name stands before."""


def deleted(folder: Path, vector: Mapping[str, Any]) -> frozenset[int]:
    """Return the positions of the rows that a descriptor says are gone.

    Raises:
        FileFactError: it cannot be understood, or does not hold as many as it says.

    """
    try:
        found = frozenset(_positions(_LittleEndian(_stored(folder, vector))))
    except (ValueError, struct.error, OSError) as problem:
        raise FileFactError(f"deletion vector {vector['pathOrInlineDv']}: {problem}") from problem
    if len(found) != vector["cardinality"]:
        told = f"it has {len(found)} rows, and says {vector['cardinality']}"
        raise FileFactError(f"deletion vector {vector['pathOrInlineDv']}: {told}")
    return found


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


class _LittleEndian:
    """Bytes that are read from the front."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def take(self, form: str) -> tuple[int, ...]:
        """Return numbers, the least byte first."""
        found = struct.unpack_from(f"<{form}", self._content, self._at)
        self._at += struct.calcsize(f"<{form}")
        return found


def _positions(found: _LittleEndian) -> Iterator[int]:
    magic, bitmaps = found.take("iq")
    if magic != _MAGIC:
        raise ValueError(f"it begins with {magic}")
    for _ in range(bitmaps):
        (high,) = found.take("I")
        yield from (high << 32 | low for low in _bitmap(found))


def _bitmap(found: _LittleEndian) -> Iterator[int]:
    """Yield the values of one bitmap of 32 bits."""
    (cookie,) = found.take("I")
    runs: set[int] = set()
    if cookie & 0xFFFF == _RUNS:
        containers = (cookie >> 16) + 1
        flags = found.take(f"{(containers + 7) // 8}B")
        runs = {at for at in range(containers) if flags[at // 8] >> at % 8 & 1}
    elif cookie == _NO_RUNS:
        (containers,) = found.take("I")
    else:
        raise ValueError(f"a bitmap begins with {cookie}")
    headers = [found.take("HH") for _ in range(containers)]
    if not runs or containers >= _NO_OFFSETS:
        found.take(f"{containers}I")
    for at, (high, less) in enumerate(headers):
        yield from (high << 16 | low for low in _container(found, less + 1, run=at in runs))


def _container(found: _LittleEndian, values: int, *, run: bool) -> Iterator[int]:
    if run:
        (number,) = found.take("H")
        for start, more in (found.take("HH") for _ in range(number)):
            yield from range(start, start + more + 1)
    elif values <= _ARRAY:
        yield from found.take(f"{values}H")
    else:
        bits = found.take("8192B")
        yield from (at for at in range(1 << 16) if bits[at // 8] >> at % 8 & 1)

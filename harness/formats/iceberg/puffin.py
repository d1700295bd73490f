"""Deletion vectors in Puffin files.

Source: Puffin specification, "Format specification", "Footer structure" and "deletion-vector-v1
blob type"; Iceberg table specification, "Deletion Vectors".
"""

import json
import struct
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.formats.files import deletion_vectors

MAGIC: Final = b"PFA1"
_LENGTH: Final = struct.Struct(">I")
"""How long the bitmap with its magic is; its checksum has the same form."""
_FOOTER_END: Final = struct.Struct("<i4s4s")
"""How long the footer's text is, flags, magic."""
_VECTOR: Final = "deletion-vector-v1"
_COMPRESSED: Final = b"\x01\x00\x00\x00"


def deleted_positions(content: bytes, entry: Mapping[str, Any]) -> frozenset[int]:
    """Return the positions of rows that the vector of a manifest's entry deletes.

    Raises ValueError where the file is no Puffin file, or has no such vector where the entry says.
    """
    begin, size = int(entry["content_offset"]), int(entry["content_size_in_bytes"])
    for blob in _blobs(content):
        if (blob["offset"], blob["length"]) == (begin, size) and blob["type"] == _VECTOR:
            break
    else:
        raise ValueError(f"its footer has no {_VECTOR} of {size} bytes at {begin}")
    positions = blob_positions(content[begin : begin + size])
    if len(positions) != entry["record_count"]:
        raise ValueError(
            f"it deletes {len(positions)} rows, its manifest says {entry['record_count']}"
        )
    return positions


def blob_positions(blob: bytes) -> frozenset[int]:
    """Return what a vector deletes; raises ValueError where its length or checksum is wrong."""
    if len(blob) < 2 * _LENGTH.size:
        raise ValueError(f"a deletion vector has more than {len(blob)} bytes")
    (length,) = _LENGTH.unpack_from(blob)
    stored = blob[_LENGTH.size : _LENGTH.size + length]
    if len(blob) != length + 2 * _LENGTH.size:
        raise ValueError(f"its length is given as {length}, it is {len(blob) - 2 * _LENGTH.size}")
    (checksum,) = _LENGTH.unpack_from(blob, len(blob) - _LENGTH.size)
    if checksum != zlib.crc32(stored):
        raise ValueError("the checksum of its bitmap is wrong")
    return deletion_vectors.positions(stored)


def _blobs(content: bytes) -> list[Mapping[str, Any]]:
    begin = _footer(content)
    try:
        blobs: list[Mapping[str, Any]] = _text(content, begin)["blobs"]
    except (ValueError, KeyError, TypeError) as problem:
        raise ValueError(f"its footer is not what the specification says: {problem}") from problem
    return blobs


def _footer(content: bytes) -> int:
    """Return where the footer's text begins; raises ValueError where the file has none."""
    if not is_framed(content):
        raise ValueError(f"it is no Puffin file: that begins and ends with {MAGIC.decode()}")
    size, flags, _ = _FOOTER_END.unpack_from(content, len(content) - _FOOTER_END.size)
    begin: int = len(content) - _FOOTER_END.size - size
    if flags == _COMPRESSED:
        raise ValueError("its footer is compressed, which is not read here")
    if begin < 0 or content[begin - len(MAGIC) : begin] != MAGIC:
        raise ValueError("its footer does not begin where it says")
    return begin


def _text(content: bytes, begin: int) -> Any:  # noqa: ANN401 - JSON
    return json.loads(content[begin : -_FOOTER_END.size])


def is_framed(content: bytes) -> bool:
    """Return whether a file has the frame of a Puffin file: else it is a bare blob."""
    enough = len(content) >= 2 * len(MAGIC) + _FOOTER_END.size
    return enough and content.startswith(MAGIC) and content.endswith(MAGIC)


def with_footer(content: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return a file with a changed footer; its blobs stay where they are. Raises ValueError."""
    begin = _footer(content)
    payload = json.dumps(change(_text(content, begin))).encode()
    _, flags, _ = _FOOTER_END.unpack_from(content, len(content) - _FOOTER_END.size)
    return content[:begin] + payload + _FOOTER_END.pack(len(payload), flags, MAGIC)

"""Rewrite UTF-8 constants and instructions of a compiled Java class. Pure.

Source: Java Virtual Machine Specification (Java SE 17), 4.1 and 4.4.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.artifacts.distribution import CodePatch

_MAGIC = b"\xca\xfe\xba\xbe"
_UTF8 = 1
_STRING = 8
_TWO_SLOTS = (5, 6)
_BODY_BYTES = {
    3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4,
    12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip


def replace_constants(compiled: bytes, replace: Mapping[str, str]) -> bytes:
    """`compiled` with every UTF-8 constant that equals a key replaced by its value.

    Raises ValueError when it is not a class file, or when a key is not among its constants:
    then the class is not the one the patch was written for.
    """
    if compiled[:4] != _MAGIC:
        message = "not a compiled Java class: wrong first bytes"
        raise ValueError(message)
    wanted = {_utf8(old): _utf8(new) for old, new in replace.items()}
    pool, end, found = _rewritten_pool(compiled, wanted)
    if absent := sorted(key[2:].decode() for key in wanted.keys() - found):
        message = f"the class has no UTF-8 constant {', '.join(absent)}"
        raise ValueError(message)
    return compiled[:10] + pool + compiled[end:]


def replace_code(compiled: bytes, code: CodePatch) -> bytes:
    """`compiled` with the instructions that `code` describes replaced, and its text added.

    Raises ValueError when they are not there exactly once: then the class is another one.
    """
    (slots,) = struct.unpack_from(">H", compiled, 8)
    pool, end, _ = _rewritten_pool(compiled, {})
    # Added after all others, so that every index in use stays: the text, and the string of it.
    added = bytes([_UTF8]) + _utf8(code.text) + struct.pack(">BH", _STRING, slots)
    find = b"".join(b"." if part == ".." else re.escape(_byte(part)) for part in code.find.split())
    index = struct.pack(">H", slots + 1)
    put = bytes.fromhex(code.put.replace("tt tt", index.hex()))
    body, count = re.subn(find, lambda _: put, compiled[end:], flags=re.DOTALL)
    if count != 1:
        message = f"the instructions to replace are there {count} times, not once"
        raise ValueError(message)
    return compiled[:8] + struct.pack(">H", slots + 2) + pool + added + body


def _byte(hexadecimal: str) -> bytes:
    return bytes.fromhex(hexadecimal)


def _utf8(text: str) -> bytes:
    """The body of a CONSTANT_Utf8 entry. Plain ASCII only, where modified UTF-8 is the same."""
    encoded = text.encode("ascii")
    return struct.pack(">H", len(encoded)) + encoded


def texts(compiled: bytes) -> Iterator[str]:
    """Yield every UTF-8 constant of plain ASCII; raise ValueError when it is not a class file."""
    if compiled[:4] != _MAGIC:
        message = "not a compiled Java class: wrong first bytes"
        raise ValueError(message)
    for tag, body in _entries(compiled):
        if tag == _UTF8 and body[2:].isascii():
            yield body[2:].decode("ascii")


def _rewritten_pool(
    compiled: bytes, wanted: Mapping[bytes, bytes]
) -> tuple[bytes, int, set[bytes]]:
    """The entries of the constant pool rewritten, where the pool ends, and which keys were met."""
    pool, found, end = bytearray(), set[bytes](), 10
    for tag, body in _entries(compiled):
        end += 1 + len(body)
        is_met = tag == _UTF8 and body in wanted
        found |= {body} if is_met else set()
        pool += bytes([tag]) + (wanted[body] if is_met else body)
    return bytes(pool), end, found


def _entries(compiled: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the tag and the rest of every entry of the constant pool."""
    (slots,) = struct.unpack_from(">H", compiled, 8)
    at, slot = 10, 1
    while slot < slots:
        tag = compiled[at]
        body = compiled[at + 1 : at + 1 + _body_bytes(compiled, at)]
        yield tag, body
        at += 1 + len(body)
        slot += 2 if tag in _TWO_SLOTS else 1


def _body_bytes(compiled: bytes, at: int) -> int:
    tag = compiled[at]
    if tag == _UTF8:
        (length,) = struct.unpack_from(">H", compiled, at + 1)
        return 2 + int(length)
    if tag not in _BODY_BYTES:
        message = f"unknown tag {tag} in the constant pool"
        raise ValueError(message)
    return _BODY_BYTES[tag]

"""Compiled classes of Java: constants and code of one are replaced, or a small one is written.

Source: Java Virtual Machine Specification (Java SE 17), 4.1 and 4.4.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from harness.artifacts.distribution import MainClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.artifacts.distribution import CodePatch


_MAGIC = b"\xca\xfe\xba\xbe"
_UTF8, _CLASS, _STRING, _METHOD, _NAME_AND_TYPE = 1, 7, 8, 10, 12
_TWO_SLOTS = (5, 6)
_BODY_BYTES = {
    3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4,
    12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}  # fmt: skip


def replace_constants(compiled: bytes, replace: Mapping[str, str]) -> bytes:
    """Return a class with constants replaced; ValueError: it is none, or lacks one of them."""
    needed = {_utf8(old): _utf8(new) for old, new in replace.items()}
    pool, end, result = _rewritten_pool(compiled, needed)
    if absent := sorted(key[2:].decode() for key in needed.keys() - result):
        raise ValueError(f"the class has no UTF-8 constant {', '.join(absent)}")
    return compiled[:10] + pool + compiled[end:]


def replace_code(compiled: bytes, code: CodePatch) -> bytes:
    """Return a class with instructions replaced; ValueError: they are not there exactly once."""
    (slots,) = struct.unpack_from(">H", compiled, 8)
    pool, end, _ = _rewritten_pool(compiled, {})
    # Added after all others, so that every index in use stays: the text, and the string of it.
    added = bytes([_UTF8]) + _utf8(code.text) + struct.pack(">BH", _STRING, slots)
    find = b"".join(
        b"." if part == ".." else re.escape(bytes.fromhex(part)) for part in code.find.split()
    )
    index = struct.pack(">H", slots + 1)
    put = bytes.fromhex(code.put.replace("tt tt", index.hex()))
    body, count = re.subn(find, lambda _: put, compiled[end:], flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the instructions to replace are there {count} times, not once")
    return compiled[:8] + struct.pack(">H", slots + 2) + pool + added + body


def _utf8(text: str) -> bytes:
    encoded = text.encode("ascii")  # where modified UTF-8 is the same
    return struct.pack(">H", len(encoded)) + encoded


def texts(compiled: bytes) -> Iterator[str]:
    for tag, body in _entries(compiled):
        if tag == _UTF8 and body[2:].isascii():
            yield body[2:].decode("ascii")


def _rewritten_pool(
    compiled: bytes, replace: Mapping[bytes, bytes]
) -> tuple[bytes, int, set[bytes]]:
    pool, result, end = bytearray(), set[bytes](), 10
    for tag, body in _entries(compiled):
        end += 1 + len(body)
        is_met = tag == _UTF8 and body in replace
        result |= {body} if is_met else set()
        pool += bytes([tag]) + (replace[body] if is_met else body)
    return bytes(pool), end, result


def _entries(compiled: bytes) -> Iterator[tuple[int, bytes]]:
    if compiled[:4] != _MAGIC:
        raise ValueError("not a compiled Java class: wrong first bytes")
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
        raise ValueError(f"unknown tag {tag} in the constant pool")
    return _BODY_BYTES[tag]


_VERSION: Final = 49
"""Of Java 5, which every newer one runs; from 50 on code comes with frames for its verifier."""
_PUBLIC: Final = 0x0001
_STATIC: Final = 0x0008
_SUPER: Final = 0x0020


@dataclass(slots=True)
class _Constants:
    """The constant pool; each method adds a constant and returns its index."""

    entries: list[bytes] = field(default_factory=list)

    def text(self, text: str) -> int:
        return self._add(bytes([_UTF8]) + _utf8(text))

    def string(self, text: str) -> int:
        return self._add(struct.pack(">BH", _STRING, self.text(text)))

    def class_(self, name: str) -> int:
        return self._add(struct.pack(">BH", _CLASS, self.text(name.replace(".", "/"))))

    def method(self, of: int, name: str, descriptor: str) -> int:
        both = struct.pack(">BHH", _NAME_AND_TYPE, self.text(name), self.text(descriptor))
        return self._add(struct.pack(">BHH", _METHOD, of, self._add(both)))

    def _add(self, entry: bytes) -> int:
        self.entries.append(entry)
        return len(self.entries)


@dataclass(frozen=True, slots=True)
class _Method:
    """A method; sizes of its stack and of its local variables."""

    name: str
    descriptor: str
    stack: int
    local: int
    code: bytes
    access: int = _PUBLIC

    def written(self, pool: _Constants) -> bytes:
        body = struct.pack(">HHI", self.stack, self.local, len(self.code)) + self.code
        body += struct.pack(">HH", 0, 0)  # neither handlers of exceptions nor attributes
        named = (pool.text(self.name), pool.text(self.descriptor))
        head = struct.pack(">HHHH", self.access, *named, 1)
        return head + struct.pack(">HI", pool.text("Code"), len(body)) + body


def written(main: MainClass) -> bytes:
    server, _, method = main.calls.rpartition(".")
    pool = _Constants()
    called = pool.class_(server)
    code = b"".join(
        (
            struct.pack(">BH", 0xBB, called),  # new
            struct.pack(">B", 0x59),  # dup
            struct.pack(">BH", 0xB7, pool.method(called, "<init>", "()V")),  # invokespecial
            struct.pack(">BH", 0x13, pool.string(main.argument)),  # ldc_w
            struct.pack(">BH", 0xB6, pool.method(called, method, "(Ljava/lang/String;)V")),
            struct.pack(">B", 0xB1),  # return; before it, invokevirtual
        )
    )
    body = _Method("main", "([Ljava/lang/String;)V", 2, 1, code, _PUBLIC | _STATIC)
    return _compiled(pool, main.name, (), (body,))


def login_module(name: str) -> bytes:
    """Return a class of this name that is a `LoginModule` of Java: it succeeds and adds nothing."""
    pool = _Constants()
    above = pool.method(pool.class_("java.lang.Object"), "<init>", "()V")
    made = struct.pack(">BBHB", 0x2A, 0xB7, above, 0xB1)  # aload_0, invokespecial, return
    given = "Ljavax/security/auth/Subject;Ljavax/security/auth/callback/CallbackHandler;"
    initialize = f"({given}Ljava/util/Map;Ljava/util/Map;)V"
    answers = ("login", "commit", "abort", "logout")
    methods = (
        _Method("<init>", "()V", 1, 1, made),
        _Method("initialize", initialize, 0, 5, b"\xb1"),
        *(_Method(answer, "()Z", 1, 1, b"\x04\xac") for answer in answers),  # iconst_1, ireturn
    )
    return _compiled(pool, name, ("javax.security.auth.spi.LoginModule",), methods)


def _compiled(
    pool: _Constants, name: str, interfaces: Sequence[str], methods: Sequence[_Method]
) -> bytes:
    this, above, *offered = map(pool.class_, (name, "java.lang.Object", *interfaces))
    head = struct.pack(">HHHH", _PUBLIC | _SUPER, this, above, len(offered))
    listed = b"".join(struct.pack(">H", number) for number in offered)
    bodies = b"".join(method.written(pool) for method in methods)
    constants = struct.pack(">H", len(pool.entries) + 1) + b"".join(pool.entries)
    start = struct.pack(">IHH", 0xCAFEBABE, 0, _VERSION)
    # No fields; and no attributes of the class.
    about = head + listed + struct.pack(">HH", 0, len(methods))
    return start + constants + about + bodies + struct.pack(">H", 0)

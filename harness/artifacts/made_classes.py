"""Write compiled Java classes that a server put together of jars lacks. Pure.

One starts a server which has no main class of its own; what it does is, in Java:
`public static void main(String[] args) { new Server().start("483"); }`

Source: Java Virtual Machine Specification (Java SE 17), 4.1, 4.4, 4.6, 4.7.3 and 6.5.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.artifacts.distribution import MainClass

_VERSION: Final = 49
"""Of Java 5, which every newer one runs; from 50 on code comes with frames for its verifier."""
_PUBLIC: Final = 0x0001
_STATIC: Final = 0x0008
_SUPER: Final = 0x0020
_UTF8, _CLASS, _STRING, _METHOD, _NAME_AND_TYPE = 1, 7, 8, 10, 12


@dataclass(slots=True)
class _Constants:
    """The constant pool; each method adds a constant and returns its index."""

    entries: list[bytes] = field(default_factory=list)

    def text(self, text: str) -> int:
        encoded = text.encode("ascii")  # where modified UTF-8 is the same
        return self._add(struct.pack(">BH", _UTF8, len(encoded)) + encoded)

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
        """Return it as a class file has it."""
        body = struct.pack(">HHI", self.stack, self.local, len(self.code)) + self.code
        body += struct.pack(">HH", 0, 0)  # neither handlers of exceptions nor attributes
        named = (pool.text(self.name), pool.text(self.descriptor))
        head = struct.pack(">HHHH", self.access, *named, 1)
        return head + struct.pack(">HI", pool.text("Code"), len(body)) + body


def written(main: MainClass) -> bytes:
    """Return the class file."""
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
        *(_Method(each, "()Z", 1, 1, b"\x04\xac") for each in answers),  # iconst_1, ireturn
    )
    return _compiled(pool, name, ("javax.security.auth.spi.LoginModule",), methods)


def _compiled(
    pool: _Constants, name: str, interfaces: Sequence[str], methods: Sequence[_Method]
) -> bytes:
    this, above, *offered = map(pool.class_, (name, "java.lang.Object", *interfaces))
    head = struct.pack(">HHHH", _PUBLIC | _SUPER, this, above, len(offered))
    listed = b"".join(struct.pack(">H", each) for each in offered)
    bodies = b"".join(each.written(pool) for each in methods)
    constants = struct.pack(">H", len(pool.entries) + 1) + b"".join(pool.entries)
    start = struct.pack(">IHH", 0xCAFEBABE, 0, _VERSION)
    # No fields; and no attributes of the class.
    about = head + listed + struct.pack(">HH", 0, len(methods))
    return start + constants + about + bodies + struct.pack(">H", 0)

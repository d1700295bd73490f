"""Write a compiled Java class that starts a server which has no main class of its own. Pure.

What it does is, in Java: `public static void main(String[] args) { new Server().start("483"); }`

Source: Java Virtual Machine Specification (Java SE 17), 4.1, 4.4, 4.6, 4.7.3 and 6.5.
"""

from __future__ import annotations

import struct
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


def written(main: MainClass) -> bytes:
    """Return the class file."""
    server, _, method = main.calls.rpartition(".")
    pool = _Constants()
    this, above, called = map(pool.class_, (main.name, "java.lang.Object", server))
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
    # Two places on the stack, one local variable; neither handlers of exceptions nor attributes.
    body = struct.pack(">HHI", 2, 1, len(code)) + code + struct.pack(">HH", 0, 0)
    named = (pool.text("main"), pool.text("([Ljava/lang/String;)V"))
    head = struct.pack(">HHHH", _PUBLIC | _STATIC, *named, 1)
    attribute = struct.pack(">HI", pool.text("Code"), len(body)) + body
    # No interfaces, no fields, one method, no attributes.
    about = struct.pack(">HHHHHH", _PUBLIC | _SUPER, this, above, 0, 0, 1)
    constants = struct.pack(">H", len(pool.entries) + 1) + b"".join(pool.entries)
    start = struct.pack(">IHH", 0xCAFEBABE, 0, _VERSION)
    return start + constants + about + head + attribute + struct.pack(">H", 0)

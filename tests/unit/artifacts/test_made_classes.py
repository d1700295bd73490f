"""The classes that are made for a server put together of jars: read back as a JVM reads them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from harness.artifacts.distribution import MainClass
from harness.artifacts.java_classes import login_module, written

MAIN = MainClass("TrinoServer", "io.trino.server.Server.start", "483")


class Constants:
    """The constant pool of a class file, and where it ends."""

    def __init__(self, compiled: bytes) -> None:
        (slots,) = struct.unpack_from(">H", compiled, 8)
        self.entries: dict[int, tuple[object, ...]] = {}
        at = 10
        for slot in range(1, slots):
            tag = compiled[at]
            if tag == 1:
                (size,) = struct.unpack_from(">H", compiled, at + 1)
                self.entries[slot] = (compiled[at + 3 : at + 3 + size].decode(),)
                at += 3 + size
            else:
                form = ">H" if tag in {7, 8} else ">HH"
                self.entries[slot] = struct.unpack_from(form, compiled, at + 1)
                at += 1 + struct.calcsize(form)
        self.end = at

    def text(self, slot: int) -> str:
        """Return what a constant says in the end, its parts joined."""
        parts = self.entries[slot]
        if isinstance(parts[0], str):
            return parts[0]
        return " ".join(self.text(int(str(part))) for part in parts)


def instructions(code: bytes, pool: Constants) -> Iterator[str]:
    """Yield the instructions, those that the class can have."""
    names = {0xBB: "new", 0xB7: "invokespecial", 0x13: "ldc_w", 0xB6: "invokevirtual"}
    at = 0
    while at < len(code):
        if code[at] in names:
            (slot,) = struct.unpack_from(">H", code, at + 1)
            yield f"{names[code[at]]} {pool.text(slot)}"
            at += 3
        else:
            yield {0x59: "dup", 0xB1: "return"}[code[at]]
            at += 1


def test_its_main_method_makes_a_server_and_starts_it_with_a_text() -> None:
    compiled = written(MAIN)
    assert struct.unpack_from(">IHH", compiled) == (0xCAFEBABE, 0, 49)
    pool = Constants(compiled)
    access, this, above, interfaces, fields, methods = struct.unpack_from(">6H", compiled, pool.end)
    assert (pool.text(this), pool.text(above)) == ("TrinoServer", "java/lang/Object")
    assert (access, interfaces, fields, methods) == (0x21, 0, 0, 1)
    method = struct.unpack_from(">HHHHHI", compiled, pool.end + 12)
    assert (method[0], *map(pool.text, (method[1], method[2], method[4]))) == (
        *(0x9, "main", "([Ljava/lang/String;)V"),
        "Code",
    )
    body = compiled[pool.end + 26 : -2]
    assert len(body) == method[5]
    stack, local, size = struct.unpack_from(">HHI", body)
    assert (stack, local) == (2, 1)
    assert list(instructions(body[8 : 8 + size], pool)) == [
        "new io/trino/server/Server",
        "dup",
        "invokespecial io/trino/server/Server <init> ()V",
        "ldc_w 483",
        "invokevirtual io/trino/server/Server start (Ljava/lang/String;)V",
        "return",
    ]
    # No handlers, no attributes: of the code, of the class.
    assert body[8 + size :] + compiled[-2:] == bytes(6)


def test_names_that_are_no_ascii_are_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        written(MainClass("Ä", "p.S.start", "1"))


def test_a_login_module_says_yes_to_everything_and_keeps_nothing() -> None:
    compiled = login_module("a.b.Login")
    pool = Constants(compiled)
    access, this, above, interfaces, offered, fields, methods = struct.unpack_from(
        ">7H", compiled, pool.end
    )
    assert (access, interfaces, fields, methods) == (0x21, 1, 0, 6)
    assert [pool.text(each) for each in (this, above, offered)] == [
        "a/b/Login",
        "java/lang/Object",
        "javax/security/auth/spi/LoginModule",
    ]
    at, found = pool.end + 14, {}
    for _ in range(methods):
        _, name, descriptor, _, _, length = struct.unpack_from(">HHHHHI", compiled, at)
        (size,) = struct.unpack_from(">I", compiled, at + 18)
        found[pool.text(name)] = (pool.text(descriptor), compiled[at + 22 : at + 22 + size])
        at += 14 + length
    assert at == len(compiled) - 2
    given = "Ljavax/security/auth/Subject;Ljavax/security/auth/callback/CallbackHandler;"
    assert found["initialize"] == (f"({given}Ljava/util/Map;Ljava/util/Map;)V", b"\xb1")
    for name in ("login", "commit", "abort", "logout"):
        assert found[name] == ("()Z", b"\x04\xac"), "iconst_1, ireturn"
    assert found["<init>"][0] == "()V"

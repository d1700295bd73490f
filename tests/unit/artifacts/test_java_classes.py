from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from harness.artifacts.distribution import CodePatch, MainClass
from harness.artifacts.java_classes import login_module, replace_code, replace_constants, written


def utf8(text: str) -> bytes:
    return b"\x01" + struct.pack(">H", len(text)) + text.encode()


def compiled(*entries: bytes, slots: int, rest: bytes = b"\x00\x21rest") -> bytes:
    return b"\xca\xfe\xba\xbe\x00\x00\x00\x34" + struct.pack(">H", slots) + b"".join(entries) + rest


def test_only_whole_constants_are_replaced_and_the_rest_is_retained() -> None:
    before = compiled(utf8("parent"), utf8("parentOffset"), utf8("grandparent"), slots=4)
    after = replace_constants(before, {"parent": "root"})
    assert after == compiled(utf8("root"), utf8("parentOffset"), utf8("grandparent"), slots=4)


def test_every_kind_of_entry_is_stepped_over() -> None:
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4}
    sizes |= {15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    # Filled with ones, so that a wrong step would take a body for the start of a UTF-8 entry.
    others = [bytes([tag]) + b"\x01" * size for tag, size in sizes.items()]
    slots = 1 + len(others) + 2 + 1  # long and double (tags 5 and 6) take two slots
    after = replace_constants(compiled(*others, utf8("old"), slots=slots), {"old": "newer"})
    assert after == compiled(*others, utf8("newer"), slots=slots)


LOOP = CodePatch(find="2a b6 .. .. 4d", put="13 tt tt 4b 00", text="here")


def test_instructions_are_replaced_and_refer_to_the_added_text() -> None:
    before = compiled(utf8("a"), slots=2, rest=b"<\x2a\xb6\x12\x0a\x4d>")
    string = b"\x08\x00\x02"  # of the text, which is entry 2; the string itself is entry 3
    after = replace_code(before, LOOP)
    assert after == compiled(
        utf8("a"), utf8("here"), string, slots=4, rest=b"<\x13\x00\x03\x4b\x00>"
    )


@pytest.mark.parametrize("times", [0, 2])
def test_instructions_that_are_not_there_once_are_an_error(times: int) -> None:
    before = compiled(utf8("a"), slots=2, rest=b"<\x2a\xb6\x12\x34\x4d>" * times)
    with pytest.raises(ValueError, match=f"there {times} times, not once"):
        replace_code(before, LOOP)


def test_a_constant_that_looks_like_the_instructions_is_left_alone() -> None:
    constant = b"\x01\x00\x05\x2a\xb6\x12\x34\x4d"
    before = compiled(constant, slots=2, rest=b"<\x2a\xb6\x12\x34\x4d>")
    assert constant in replace_code(before, LOOP)


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


def test_a_login_module_says_yes_to_everything_and_keeps_nothing() -> None:
    compiled = login_module("a.b.Login")
    pool = Constants(compiled)
    access, this, above, interfaces, offered, fields, methods = struct.unpack_from(
        ">7H", compiled, pool.end
    )
    assert (access, interfaces, fields, methods) == (0x21, 1, 0, 6)
    assert [pool.text(number) for number in (this, above, offered)] == [
        "a/b/Login",
        "java/lang/Object",
        "javax/security/auth/spi/LoginModule",
    ]
    at, code = pool.end + 14, {}
    for _ in range(methods):
        _, name, descriptor, _, _, length = struct.unpack_from(">HHHHHI", compiled, at)
        (size,) = struct.unpack_from(">I", compiled, at + 18)
        code[pool.text(name)] = (pool.text(descriptor), compiled[at + 22 : at + 22 + size])
        at += 14 + length
    assert at == len(compiled) - 2
    given = "Ljavax/security/auth/Subject;Ljavax/security/auth/callback/CallbackHandler;"
    assert code["initialize"] == (f"({given}Ljava/util/Map;Ljava/util/Map;)V", b"\xb1")
    for name in ("login", "commit", "abort", "logout"):
        assert code[name] == ("()Z", b"\x04\xac"), "iconst_1, ireturn"
    assert code["<init>"][0] == "()V"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (compiled(utf8("a"), slots=2), "no UTF-8 constant gone, lost"),
        (b"PK\x03\x04 and more", "not a compiled Java class"),
        (compiled(b"\x63\x00", slots=2), "unknown tag 99"),
    ],
)
def test_a_class_that_the_patch_was_not_made_for_is_an_error(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace_constants(content, {"a": "b", "lost": "x", "gone": "y"})

from __future__ import annotations

import struct

import pytest

from harness.artifacts.distribution import CodePatch, MainClass
from harness.artifacts.java_classes import (
    login_module,
    replace_code,
    replace_constants,
    texts,
    written,
)


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
    looks_so = b"\x01\x00\x05\x2a\xb6\x12\x34\x4d"  # and is a constant, which is left alone
    before = compiled(looks_so, slots=2, rest=b"<\x2a\xb6\x12\x0a\x4d>")
    string = b"\x08\x00\x02"  # of the text, which is entry 2; the string itself is entry 3
    after = replace_code(before, LOOP)
    assert after == compiled(
        looks_so, utf8("here"), string, slots=4, rest=b"<\x13\x00\x03\x4b\x00>"
    )


@pytest.mark.parametrize("times", [0, 2])
def test_instructions_that_are_not_there_once_are_an_error(times: int) -> None:
    before = compiled(utf8("a"), slots=2, rest=b"<\x2a\xb6\x12\x34\x4d>" * times)
    with pytest.raises(ValueError, match=f"there {times} times, not once"):
        replace_code(before, LOOP)


def test_a_class_that_is_written_names_what_it_calls_and_a_login_always_succeeds() -> None:
    main = written(MainClass("TrinoServer", "io.trino.server.Server.start", "483"))
    assert {"TrinoServer", "main", "io/trino/server/Server", "start", "483"} <= {*texts(main)}
    login = login_module("a.b.Login")
    methods = {"initialize", "login", "commit", "abort", "logout"}
    assert {"a/b/Login", "javax/security/auth/spi/LoginModule", *methods} <= {*texts(login)}
    assert login.count(b"\x04\xac") == 4, "iconst_1, ireturn"


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

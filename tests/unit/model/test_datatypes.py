from __future__ import annotations

import pytest
from hypothesis import given

from harness.model.datatypes import DataType, TypeTextError, parse_type
from tests.unit.model.types_strategy import TYPES


@given(TYPES)
def test_every_type_is_read_back_from_its_text(type_: DataType) -> None:
    assert parse_type(str(type_)) == type_


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("integer", "'integer' is not a type; allowed: boolean, tinyint"),
        ("", "is not a type"),
        ("int int", "nothing may follow 'int'"),
        ("decimal(39, 2)", "0 <= scale <= precision <= 38"),
        ("decimal(2, 3)", "0 <= scale <= precision <= 38"),
        ("decimal(a, 3)", "a number expected"),
        ("char(0)", "allowed is 1 to 255"),
        ("char(256)", "allowed is 1 to 255"),
        ("varchar(65536)", "allowed is 1 to 65535"),
        ("varchar", "'(' expected"),
        ("struct<>", "a child's name expected"),
        ("struct<a: int, a: long>", "names each child once"),
        ("struct<a: int", "',' or '>' expected, found 'the end'"),
        ("array<int", "'>' expected"),
        ("map<int>", "',' expected"),
        ("int;", "';' has no place in one"),
    ],
)
def test_what_is_no_type_is_refused_and_what_is_allowed_is_told(text: str, told: str) -> None:
    with pytest.raises(TypeTextError) as wrong:
        parse_type(text)
    assert told in str(wrong.value)

from __future__ import annotations

import pytest
from hypothesis import given, settings

from harness.model.datatypes import ALIASES, FORMS, PRIMITIVES, DataType, TypeTextError, parse_type
from tests.builders.random_scenarios import TYPES


@settings(max_examples=40)
@given(TYPES)
def test_every_type_is_read_back_from_its_text(type_: DataType) -> None:
    assert parse_type(str(type_)) == type_


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("number", "'number' is not a type; allowed: boolean, tinyint"),
        ("", "is not a type"),
        ("int int", "nothing may follow 'int'"),
        ("decimal(2, 3)", "0 <= scale <= precision <= 38"),
        ("decimal(a, 3)", "a number expected"),
        ("char(0)", "allowed is 1 to 255"),
        ("varchar(65536)", "allowed is 1 to 65535"),
        ("decimal", "'decimal' is not a whole type; write \"decimal(10, 2)\""),
        ("bigint", "'bigint' is not a type here; write long"),
        ("numeric(10, 2)", 'write "decimal(10, 2)"'),
        ("VARCHAR(20)", "'VARCHAR' is not a type here; write varchar(20)"),
        ("struct<>", "a child's name expected"),
        ("struct<a: int, a: long>", "names each child once"),
        ("struct<a: int", "',' or '>' expected, found 'the end'"),
        ("map<int>", "',' expected"),
        ("int;", "';' has no place in one"),
    ],
)
def test_what_is_no_type_is_refused_and_what_is_allowed_is_reported(
    text: str, problem: str
) -> None:
    with pytest.raises(TypeTextError) as wrong:
        parse_type(text)
    assert problem in str(wrong.value)


def test_what_is_written_instead_of_an_alias_is_a_type() -> None:
    written = [*ALIASES.values(), *FORMS.values()]
    assert written
    assert all(parse_type(text.strip('"')) for text in written)
    assert not set(ALIASES) & {*PRIMITIVES, *FORMS}

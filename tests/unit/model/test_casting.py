"""Texts that are cast to whole numbers."""

from __future__ import annotations

import pytest

from harness.model.casting import otherwise, taken
from harness.model.datatypes import Primitive

INT, LONG, TEXT = Primitive("int"), Primitive("long"), Primitive("string")


@pytest.mark.parametrize("text", ["f3s1r1", "", " ", "7s", "--7"])
def test_what_is_no_number_is_null(text: str) -> None:
    assert taken(text, INT) is None


def test_what_is_one_stays_it() -> None:
    assert (taken("7", INT), taken("-8000000000", LONG)) == (7, -8_000_000_000)


@pytest.mark.parametrize("text", ["7.5", "8000000000", " 7", "1.2.3"])
def test_nothing_is_said_of_a_number_without_an_exact_form(text: str) -> None:
    with pytest.raises(ValueError, match="no exact form"):
        taken(text, INT)


def test_only_texts_under_whole_numbers_may_become_null() -> None:
    assert otherwise(TEXT, INT)
    assert otherwise(TEXT, LONG)
    assert not any(otherwise(*each) for each in [(TEXT, TEXT), (INT, TEXT), (INT, LONG)])
    assert not otherwise(TEXT, Primitive("double"))

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.yaml_reader import parse
from harness.core.yaml_writer import block, written


def test_entries_of_a_block_get_a_line_each_and_what_is_in_them_has_only_one() -> None:
    steps = block([block({"insert": [1, "a"]}), "touch"])
    root = block({"about": "x " * 100, "key": {"a": "b", "c": [True, None]}, "steps": steps})
    assert written(root, offset=2) == (
        f'about: "{"x " * 100}"\nkey: {{a: b, c: [true, null]}}\n'
        "steps:\n  - insert: [1, a]\n  - touch\n"
    )


@pytest.mark.parametrize(
    "text", ["yes", "No", "on", "n", "null", "True", "7", "a b", "", "2031-12-24"]
)
def test_a_text_that_some_reader_takes_for_something_else_stands_in_quotes(text: str) -> None:
    assert written(block([text]), offset=0) == f'- "{text}"\n'


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5))
def test_every_text_is_read_back(texts: list[str]) -> None:
    text = written(block({"texts": texts, "each": block(texts)}), offset=2)
    assert parse(text, "a.yaml").data == {"texts": texts, "each": texts}

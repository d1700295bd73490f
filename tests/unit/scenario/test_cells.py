import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scenario.cells import Reader, parse_reader

WORDS = st.from_regex(r"[a-z][a-z0-9.-]{0,6}", fullmatch=True)
SETTINGS = st.lists(st.tuples(WORDS, WORDS), max_size=3, unique_by=lambda pair: pair[0])


@settings(max_examples=30)
@given(WORDS, SETTINGS)
def test_a_reader_is_read_back_from_its_text(
    distribution: str, pairs: list[tuple[str, str]]
) -> None:
    reader = Reader(distribution, tuple(pairs))
    assert parse_reader(str(reader)) == reader


def test_spaces_do_not_matter_and_empty_braces_are_none() -> None:
    assert str(parse_reader(" trino-476{ a = b,c=d } ")) == "trino-476{a=b, c=d}"
    assert str(parse_reader("trino-476{}")) == "trino-476"


@pytest.mark.parametrize(
    "text", ["", "a b", "a{", "a{b}", "a{b=c}d", "{a=b}", "a{b=c, b=d}", "a{=c}", "a{b=}"]
)
def test_what_is_no_reader_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write distribution|each setting once"):
        parse_reader(text)

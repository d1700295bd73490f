"""Lines of data about what is left open: strict, with the place of what is wrong in them."""

from __future__ import annotations

import pytest

from harness import formats
from harness.core import open_cases
from harness.core.errors import ScenarioProblem
from harness.core.open_cases import ADMITTED, OpenCondition, load

LINE = """\
- name: a-name
  formats: [iceberg]
  condition: parts-newer-than-file
  admits: null-struct
  what: what is left open
  specification: a paragraph
  silent: why it settles nothing
  seen: who answers so
"""
FORMATS = tuple(formats.names())


def problems(text: str) -> list[str]:
    with pytest.raises(ScenarioProblem) as raised:
        load(text, "open_cases.yaml", FORMATS)
    return str(raised.value).splitlines()


def test_a_line_has_all_that_identifies_an_open_answer() -> None:
    (case,) = load(LINE, "open_cases.yaml", FORMATS)
    assert case.text == "a-name: what is left open. a paragraph: why it settles nothing"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[iceberg]", "[iceberk]", "open_cases.yaml:2: there is no format 'iceberk'; allowed: "),
        ("[iceberg]", "[]", "open_cases.yaml:2: no format is named; name one at least"),
        ("null-struct", "rows-left-out", "open_cases.yaml:4: 'parts-newer-than-file' admits null-"),
        ("parts-newer-than-file", "any-answer", "open_cases.yaml:3: "),
        ("null-struct", "anything", "open_cases.yaml:4: "),
        (
            "a paragraph",
            '" "',
            "open_cases.yaml:6: 'specification' is empty; it must say something",
        ),
        ("  silent: why it settles nothing\n", "", "open_cases.yaml:"),
        ("  seen: who", "  reader: pyiceberg\n  seen: who", "open_cases.yaml:8: "),
    ],
    ids=[
        *("format", "no format", "another answer", "condition", "unknown answer", "empty"),
        *("left out", "a reader's name"),
    ],
)
def test_what_is_not_as_it_must_be_is_reported_with_its_line(
    old: str, new: str, problem: str
) -> None:
    old, new = (text.replace("\n", "\n") for text in (old, new))
    assert old in LINE
    lines = problems(LINE.replace(old, new))
    assert [line.startswith(problem) for line in lines] == [True]


def test_a_name_stands_once() -> None:
    assert problems(LINE + LINE) == [
        "open_cases.yaml:9: 'a-name' is there already; each name stands once"
    ]


def test_each_shipped_line_is_of_a_format_that_there_is_and_each_condition_has_its_answer() -> None:
    shipped = [(name, case) for name in FORMATS for case in open_cases.of_format(name)]
    assert shipped
    for name, case in shipped:
        assert set(case.formats) <= set(FORMATS)
        assert name in case.formats
    assert {case.condition for _, case in shipped} == set(OpenCondition) == set(ADMITTED)

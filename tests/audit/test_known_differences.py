"""The file of known differences: what is wrong with it, and what becomes of its lines."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest

from harness.audit.comparison import TableDifferenceKind
from harness.audit.known import KnownDifferences, dump, parse
from harness.core.errors import ScenarioProblem
from tests.builders.audited_answers import REFUSED, RIGHT, UNKNOWN, WRONG, table

TODAY = datetime.date(2031, 12, 24)
LINE = """
- table: orders
  reader: duckdb-1.5.5
  {what}
  owner: us
  date: "2031-01-01"
  because: so
"""
DIFFERS = LINE.format(what="differs: [value name]")
WRONG_NAME = replace(WRONG, places=((TableDifferenceKind.VALUE, "name", 6),))


def problems(text: str, *answers: object) -> tuple[str, ...]:
    known = KnownDifferences(parse(text, "known.yaml"), TODAY)
    return known.problems([table(*answers)])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (DIFFERS.replace("owner: us", "owner: ' '"), ":5: owner is empty; say whose it is"),
        (DIFFERS.replace("so", "''"), ":7: because is empty; say why"),
        (
            DIFFERS.replace('"2031-01-01"', "yesterday"),
            ":6: a line: date: 'yesterday' is not",
        ),
        (DIFFERS.replace('"2031-01-01"', "''"), ":6: a line: date: '' is not a date"),
        (LINE.format(what="refused: ''"), ":2: a line is about what differs or an error"),
        (
            DIFFERS.replace("value", "valeu"),
            ":4: differs: there is no 'valeu'; did you mean 'value'?",
        ),
        ("table: orders", ":1: this is a list of lines"),
        (DIFFERS.replace("owner: us", "ower: us"), ":5: a line has no 'ower'; did you mean"),
    ],
)
def test_what_is_wrong_with_a_line_is_told_by_file_and_line(text: str, problem: str) -> None:
    with pytest.raises(ScenarioProblem) as wrong:
        parse(text, "known.yaml")
    assert f"known.yaml{problem}" in str(wrong.value)


def test_a_line_wants_a_look_once_it_does_not_occur() -> None:
    assert problems(DIFFERS, WRONG_NAME) == ()
    assert problems(DIFFERS, RIGHT)[0].startswith("known.yaml:2: no longer occurs")
    assert problems(DIFFERS, UNKNOWN) == ()
    assert problems(DIFFERS.replace("orders", "other"), RIGHT) == ()
    late = f"{DIFFERS}  until: '2031-12-23'\n"
    assert "was valid until 2031-12-23" in problems(late, WRONG_NAME)[0]
    assert problems(late, RIGHT) == ()
    assert "no owner" in problems(DIFFERS.replace("owner: us", "owner: TODO"), WRONG_NAME)[0]


def test_an_error_is_known_by_its_beginning() -> None:
    line = LINE.format(what="refused: 'E: not'").replace("duckdb-1.5.5", "duckdb")
    known = KnownDifferences(parse(line, "known.yaml"), TODAY)
    one = table(REFUSED)
    assert known.by(one, REFUSED)
    assert known.by(one, replace(REFUSED, because="F: not this one")) is None
    assert known.by(one, WRONG_NAME) is None
    assert known.by(one, replace(REFUSED, reader="polars-2.1.0")) is None


def test_what_is_known_in_part_is_not_known_to_be_the_same() -> None:
    known = KnownDifferences(parse(DIFFERS, "known.yaml"), TODAY)
    one = table(WRONG_NAME)
    assert known.by(one, WRONG_NAME)
    assert known.by(one, replace(WRONG_NAME, in_part=True)) is None
    assert known.by(one, replace(WRONG_NAME, places=())) is None


def test_a_draft_has_a_line_for_each_reader_and_error() -> None:
    more = replace(WRONG, places=((TableDifferenceKind.LOST_ROW, "", 1),))
    answers = [(table(WRONG), answer) for answer in (WRONG_NAME, more, REFUSED, REFUSED)]
    lines = parse(dump(answers, TODAY), "known.yaml")
    assert [line.refused for line in lines] == ["", REFUSED.because]
    assert lines[0].differs == ("value name", "lost_row")
    assert not lines[0].reviewed

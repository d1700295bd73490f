"""What no specification settles is neither right nor wrong, and all else is judged."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest

from harness.core.records import Answer, Column, FindingKind, Verdict, VerdictKind
from harness.judge.verdicts import judge
from harness.model.canonical import UNSETTLED, Value, from_json, has_unsettled, same, to_json
from harness.model.datatypes import parse_type
from harness.model.schema import Field
from harness.model.truth import named, row_values
from tests.builders.judged_story import case_without_values, cell_at
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, n int, f1 string, f2 string"
Wrong = Callable[[list[Value]], None]


@pytest.fixture(scope="module")
def retyped() -> Story:
    """An int column became a date, which no specification has."""
    return history("insert 1..4; retype n date", COLUMNS)


def answered(story: Story, spoil: Wrong = lambda row: None) -> Answer:
    """Answer with the right table, but for what `spoil` does to its first row."""
    schema = story.truth.schema
    rows = [list(row_values(row, schema)) for row in story.truth.rows.values()]
    for number, row in enumerate(rows):
        row[2] = datetime.date(1970, 1, 1 + number)
    spoil(rows[0])
    columns = [Column(field.name, "", str(field.type)) for field in schema.fields]
    return Answer(cell_at(story).case, "select", tuple(columns), tuple(map(tuple, rows)))


def judged(story: Story, answer: Answer) -> Verdict:
    cell = cell_at(story)
    (verdict,) = judge(case_without_values(story), [cell], {cell.case: answer})
    return verdict


def test_an_answer_is_unknown_where_nothing_but_such_values_could_be_wrong(
    retyped: Story,
) -> None:
    verdict = judged(retyped, answered(retyped))
    assert (verdict.verdict, verdict.findings) == (VerdictKind.UNKNOWN, ())
    assert verdict.because == "no specification settles what became of values in another type: n"


def test_a_wrong_value_beside_such_a_column_is_wrong(retyped: Story) -> None:
    def swap(row: list[Value]) -> None:
        row[3], row[4] = row[4], row[3]

    verdict = judged(retyped, answered(retyped, swap))
    assert verdict.verdict is VerdictKind.WRONG
    assert {finding.kind for finding in verdict.findings} == {FindingKind.MISALIGNED}
    assert {name for finding in verdict.findings for name in finding.columns} == {"f1", "f2"}


def test_a_column_whose_values_are_exact_is_judged_as_ever() -> None:
    widened = history("insert 1..4; retype n long", COLUMNS)
    assert not any(
        has_unsettled(value)
        for row in widened.truth.rows.values()
        for value in row_values(row, widened.truth.schema)
    )
    assert judged(widened, answered(widened)).verdict is VerdictKind.WRONG  # days are no numbers


def test_a_refused_change_leaves_every_value_as_it_was() -> None:
    refused = history("insert 1..4; retype n date", COLUMNS, applied=[True, False])
    assert judged(refused, answered(refused)).verdict is VerdictKind.WRONG


@pytest.mark.parametrize("to", ["double", "string"])
@pytest.mark.parametrize(
    ("value", "settled"),
    [(0.10000000149011612, False), (3.4028234663852886e38, False), (0.5, True)],
)
def test_a_float_that_has_two_readings_is_not_settled(
    value: float, to: str, *, settled: bool
) -> None:
    field = Field(1, "n", parse_type(to), exact=False)
    assert (named(value, field) is not UNSETTLED) is settled


def test_a_float_in_a_column_that_must_be_exact_is_the_number_that_it_is() -> None:
    field = Field(1, "n", parse_type("double"))
    assert named(0.10000000149011612, field) == 0.10000000149011612


@pytest.mark.parametrize("value", [7, "x", None, (1, 2)])
def test_it_differs_from_nothing_and_comes_back_from_its_record(value: Value) -> None:
    assert same(UNSETTLED, value)
    assert same((UNSETTLED,), (value,))
    assert not same((UNSETTLED, 1), (value, 2))
    assert from_json(to_json(UNSETTLED)) is UNSETTLED

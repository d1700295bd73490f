"""Readers that lose rows by a condition, or show rows that do not meet it, are named and blamed."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

import pytest

from harness.core.records import FindingKind, Responsible, VerdictKind
from harness.model import query_shapes
from harness.model.canonical import text_of
from harness.model.conversion import convert
from harness.model.datatypes import parse_type
from harness.model.query import ALL, Query
from tests.builders.judged_story import blamed
from tests.builders.simulated_reader import Reader, Reply
from tests.builders.table_story import Story, history
from tests.quality.asked import ask
from tests.quality.test_wrong_statistics import told_of, verdicts, with_statistics

COLUMNS: Final = "id string, ts long, s string, n int, x float, m timestamp, p decimal(5, 2)"
MOMENT: Final = "2024-01-01 10:00:00.123456"
STORY: Final = (
    'rows [{"id":"1","s":"abc","n":5,"x":1.5,"m":"2024-01-01T10:00:00.123456","p":"1.25"},'
    '{"id":"2","s":null,"n":null,"x":NaN,"m":null,"p":null},'
    '{"id":"3","s":"b","n":7,"x":-0.0,"m":"2024-01-01T10:00:00.123","p":"7.50"}]; '
    "rename s t; type n long; type x double; type p decimal(12, 2); "
    'rows [{"id":"4","t":"abd","n":3000000000,"x":1e300,"m":"2024-02-29","p":"1234567.00"}]'
)
SAME: Final = 'rows [{"id":"1","s":"a"},{"id":"2","s":"a"},{"id":"3","s":null}]; rename s t'


@dataclass(frozen=True)
class Planted:
    """A reader that evaluates a condition in its own wrong way."""

    text: str
    shown: Collection[str]
    """The keys of the rows that it gives."""
    right: Collection[str]
    kinds: Collection[FindingKind]


LOST: Final = [FindingKind.LOST_ROW]
GHOST: Final = [FindingKind.GHOST_ROW]
PLANTED: Final = {
    "files left out as they lack the new name": Planted('where(t = "abc")', "", "1", LOST),
    "the new name taken for NULL in old files": Planted("where(t is null)", "123", "2", GHOST),
    "files left out as a bound of the old type overflows": Planted(
        "where(n < 3000000000)", "", "13", LOST
    ),
    "a literal cut to the old type": Planted("where(n >= 2147483648)", "134", "4", GHOST),
    "a decimal literal beyond the old precision": Planted("where(p < 10000)", "", "13", LOST),
    "NULL taken for a match under not (=)": Planted('where(t not = "abc")', "234", "34", GHOST),
    "NULL taken for a match by <>": Planted('where(t <> "abc")', "234", "34", GHOST),
    "NULL in a list left aside by not in": Planted('where(t not in "abc", null)', "34", "", GHOST),
    "NaN beyond the bounds": Planted("where(x is nan)", "", "2", LOST),
    "NaN equal to everything": Planted("where(x = 1.5)", "12", "1", GHOST),
    "-0.0 less than 0.0": Planted("where(x < 0.0)", "3", "", GHOST),
    "-0.0 other than 0.0": Planted("where(x = 0.0)", "", "3", LOST),
    "the first value of a list alone": Planted('where(t in "abc", "abd")', "1", "14", LOST),
    "a beginning taken for the whole": Planted('where(t starts with "ab")', "", "14", LOST),
    "a beginning sought anywhere": Planted('where(t starts with "b")', "134", "3", GHOST),
    "moments cut to milliseconds": Planted(f'where(m = "{MOMENT}")', "", "1", LOST),
    "moments compared by milliseconds": Planted(f'where(m = "{MOMENT}")', "13", "1", GHOST),
    "between without its bounds": Planted("where(n between 5, 7)", "", "13", LOST),
}


@pytest.fixture(scope="module")
def story() -> Story:
    return history(STORY, COLUMNS)


def with_keys(whole: Reply, keys: Collection[str]) -> Reply:
    at = [column.name for column in whole.columns].index("id")
    return replace(whole, rows=tuple(row for row in whole.rows if text_of(row[at]) in keys))


@pytest.mark.parametrize("name", PLANTED)
def test_rows_that_a_condition_loses_or_lets_through_are_the_readers(
    name: str, story: Story
) -> None:
    planted = PLANTED[name]
    asked, whole = query_shapes.query(planted.text, story.truth), ask(story, ALL, Reader("id"))
    right, wrong = with_keys(whole, planted.right), with_keys(whole, planted.shown)
    questions = [(ALL, whole), (asked, right), (asked, wrong)]
    _, of_right, of_wrong = verdicts(with_statistics(story), questions)
    assert of_right.verdict is VerdictKind.CORRECT
    assert {kind for kind, _ in blamed(of_wrong)} == {*planted.kinds}
    assert {responsible for _, responsible in blamed(of_wrong)} == {Responsible.READER}
    (finding,) = of_wrong.findings
    differ = {*planted.shown} ^ {*planted.right}
    assert {place.key for place in finding.witnesses} == differ


@pytest.mark.parametrize("name", PLANTED)
def test_a_count_that_is_wrong_by_as_many_is_the_readers(name: str, story: Story) -> None:
    planted = PLANTED[name]
    asked = query_shapes.query(f"count_{planted.text}", story.truth)
    right, whole = ask(story, Query(count=True), Reader("id")), ask(story, ALL, Reader("id"))
    number = len(planted.shown)
    questions = [
        (ALL, whole),
        (asked, replace(right, rows=((len(planted.right),),))),
        (asked, replace(right, rows=((number,),))),
    ]
    _, of_right, of_wrong = verdicts(with_statistics(story), questions)
    assert of_right.verdict is VerdictKind.CORRECT
    assert blamed(of_wrong) == {(kind, Responsible.READER) for kind in planted.kinds}


WRONG_BOUNDS: Final = {
    'where(t = "abc")': ("s", "b", "b"),
    'where(t not = "b")': ("s", "b", "b"),
    'where(t in "abc", "x")': ("s", "b", "c"),
    'where(t starts with "ab")': ("s", "b", "c"),
    "where(n < 6)": ("n", 7, 9),
    "where(n between 4, 5)": ("n", 7, 9),
    "where(x = 0.0)": ("x", 1.5, 2.5),
    "where(p <> 7.5)": ("p", Decimal("7.50"), Decimal("7.50")),
}


@pytest.mark.parametrize("text", WRONG_BOUNDS)
def test_rows_that_wrong_statistics_exclude_are_the_writers(text: str, story: Story) -> None:
    column, least, greatest = WRONG_BOUNDS[text]
    asked, whole = query_shapes.query(text, story.truth), ask(story, ALL, Reader("id"))
    stored = told_of(story.disk.files[0], column, least, greatest)
    condition = asked.where
    assert condition is not None
    assert stored.excludes(condition)
    in_other_file = condition.holds(
        dict(zip(story.truth.schema.names, whole.rows[-1], strict=True))[asked.filters[0]]
    )
    there = with_keys(whole, "4" if in_other_file else "")
    _, verdict = verdicts(with_statistics(story, stored), [(ALL, whole), (asked, there)])
    assert blamed(verdict) == {(FindingKind.LOST_ROW, Responsible.STATISTICS)}


def test_a_moment_that_may_be_lost_by_bounds_or_by_being_cut_is_nobodys(story: Story) -> None:
    asked = query_shapes.query(f'where(m = "{MOMENT}")', story.truth)
    whole = ask(story, ALL, Reader("id"))
    later = convert("2024-02-01", parse_type("timestamp"))
    stored = told_of(story.disk.files[0], "m", later, None)
    questions = [(ALL, whole), (asked, with_keys(whole, ""))]
    _, verdict = verdicts(with_statistics(story, stored), questions)
    assert blamed(verdict) == {(FindingKind.LOST_ROW, None)}


def test_bounds_say_nothing_of_nan_so_who_loses_it_by_them_is_wrong_itself(story: Story) -> None:
    asked, whole = query_shapes.query("where(x is nan)", story.truth), ask(story, ALL, Reader("id"))
    stored = told_of(story.disk.files[0], "x", -0.0, 1.5)
    condition = asked.where
    assert condition is not None
    assert not stored.excludes(condition)
    assert math.isnan(next(row[4] for row in whole.rows if row[0] == "2"))
    questions = [(ALL, whole), (asked, with_keys(whole, ""))]
    _, verdict = verdicts(with_statistics(story, stored), questions)
    assert blamed(verdict) == {(FindingKind.LOST_ROW, Responsible.READER)}


@pytest.mark.parametrize(
    ("keys", "kinds"),
    [("12", set()), ("34", set()), ("1", {FindingKind.LOST_ROW}), ("123", {FindingKind.GHOST_ROW})],
)
def test_any_so_many_of_the_right_rows_are_right(
    keys: str, kinds: set[FindingKind], story: Story
) -> None:
    whole = ask(story, ALL, Reader("id"))
    asked = query_shapes.query("limit(2)", story.truth)
    (verdict,) = verdicts(with_statistics(story), [(asked, with_keys(whole, keys))])
    assert {finding.kind for finding in verdict.findings} == kinds


def test_of_so_many_rows_a_wrong_value_is_reported_and_one_twice(story: Story) -> None:
    whole, asked = ask(story, ALL, Reader("id")), query_shapes.query("limit(2)", story.truth)
    one, other = with_keys(whole, "13").rows
    swapped = replace(whole, rows=(one, (*other[:2], one[2], *other[3:])))
    twice = replace(whole, rows=(one, one))
    of_swapped, of_twice = verdicts(with_statistics(story), [(asked, swapped), (asked, twice)])
    assert of_swapped.verdict is of_twice.verdict is VerdictKind.WRONG
    assert FindingKind.DUPLICATE in {finding.kind for finding in of_twice.findings}


def test_a_table_with_fewer_rows_than_asked_for_must_show_all_of_them(story: Story) -> None:
    whole, asked = ask(story, ALL, Reader("id")), query_shapes.query("limit(9)", story.truth)
    some = with_keys(whole, "123")
    right, wrong = verdicts(with_statistics(story), [(asked, whole), (asked, some)])
    assert right.verdict is VerdictKind.CORRECT
    assert [finding.kind for finding in wrong.findings] == [FindingKind.LOST_ROW]


def test_a_column_without_the_key_may_have_one_value_more_than_once() -> None:
    same = history(SAME, COLUMNS)
    asked = query_shapes.query("alone(t)", same.truth)
    right = ask(same, asked, Reader("id"))
    lost = replace(right, rows=right.rows[1:])
    other = replace(right, rows=(("b",), *right.rows[1:]))
    by_name = replace(right, rows=((None,),) * 3)
    answers = [(asked, reply) for reply in (right, lost, other, by_name)]
    of_right, *wrong = verdicts(with_statistics(same), answers)
    assert of_right.verdict is VerdictKind.CORRECT
    assert [verdict.verdict for verdict in wrong] == [VerdictKind.WRONG] * 3
    assert [finding.kind for finding in wrong[0].findings] == [FindingKind.LOST_ROW]
    assert "by name" in wrong[2].reproduces

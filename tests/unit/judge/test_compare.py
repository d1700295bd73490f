from decimal import Decimal

import pytest

from harness.judge.compare import match
from tests.builders.table_story import history

STORY = history("insert 1..4; delete 4", "id long, n long, f1 string")
"""The rows 1 to 3; 4 was there."""
NAMES = ("id", "n", "f1")
ROWS = STORY.read().rows


def keys(rows: list[tuple[object, ...]]) -> tuple[list[str], list[str], list[str]]:
    matching = match(STORY.state(), NAMES, rows)
    return (
        [str(row.key) for row, _ in matching.pairs],
        [key for key, _ in matching.second],
        [key for key, _ in matching.extra],
    )


def test_the_order_in_which_rows_come_changes_nothing() -> None:
    rows = [*ROWS, (1, None, "x"), (1, None, "y"), (9, None, "z")]
    assert match(STORY.state(), NAMES, rows) == match(STORY.state(), NAMES, rows[::-1])


def test_a_deleted_row_is_known_by_its_values() -> None:
    assert keys([(None, 201004, "f3s1r4")]) == ([], [], ["4"])


PRICED = history(
    'rows [{"id":1,"d":12.25},{"id":2,"d":12.5},{"id":3,"d":700},{"id":4,"d":90.75}]; delete 4',
    "id long, d decimal(6,2)",
)


def owners_alone(*shown: str) -> dict[str, str]:
    """Return whose row is taken for that of each value of a column that is asked alone."""
    matching = match(PRICED.state(), ["d"], [(Decimal(text),) for text in shown])
    pairs = {str(value): str(row.key) for row, (value,) in matching.pairs}
    return pairs | {str(value): "" for _, (value,) in matching.extra}


def test_an_altered_value_of_a_column_alone_is_of_the_one_row_that_it_may_be_of() -> None:
    assert owners_alone("12.25", "12.5", "700.3") == {"12.25": "1", "12.5": "2", "700.3": "3"}
    assert owners_alone("12", "12.5", "700") == {"12": "1", "12.5": "2", "700": "3"}


@pytest.mark.parametrize(
    "shown", [("12", "700"), ("90.7", "12.25", "12.5"), ("90.75", "12.25", "12.5"), ("800", "12.5")]
)
def test_what_may_be_of_two_rows_or_is_of_another_is_of_none(shown: tuple[str, ...]) -> None:
    assert owners_alone(*shown)[shown[0]] == ""


NOTHING = (None, None, None)


def test_rows_of_nothing_but_nulls_are_the_missing_ones_where_there_are_as_many() -> None:
    matching = match(STORY.state(), NAMES, [ROWS[0], NOTHING, NOTHING])
    assert [str(row.key) for row, _ in matching.empty] == ["2", "3"]
    assert matching.extra == ()
    assert matching.there == {"1", "2", "3"}


@pytest.mark.parametrize("number", [1, 3])
def test_more_or_fewer_of_them_are_nobodys(number: int) -> None:
    matching = match(STORY.state(), NAMES, [ROWS[0], *[NOTHING] * number])
    assert (matching.empty, len(matching.extra)) == ((), number)


def test_of_two_rows_with_a_key_the_better_one_is_the_row() -> None:
    worse, better = (1, None, "x"), ROWS[0]
    matching = match(STORY.state(), NAMES, [worse, better])
    assert [row for _, row in matching.pairs] == [better]
    assert matching.second == (("1", worse),)


def test_a_column_of_few_numbers_under_the_key_is_not_believed() -> None:
    assert keys([(1, *row[1:]) for row in ROWS]) == (["1", "2", "3"], [], [])


def test_a_number_that_is_another_rows_key_is_not_believed_where_that_row_is_there_too() -> None:
    shifted = [(2, *ROWS[0][1:]), (77, *ROWS[1][1:]), ROWS[2]]
    result, second, extra = keys(shifted)
    assert (sorted(result), second, extra) == (["1", "2", "3"], [], [])


def test_a_key_that_nobody_else_has_is_believed_whatever_the_values_say() -> None:
    assert keys([(2, *ROWS[0][1:]), ROWS[2]]) == (["2", "3"], [], [])


SMALL = history(
    "row id=1 n=3; row id=2 n=21; row id=3 n=1; row id=4 n=22; row id=5 n=23",
    "id long, n long, f1 string",
)


def of_small(*shown: int) -> list[tuple[str, int]]:
    matching = match(SMALL.state(), NAMES, [(value, None, None) for value in shown])
    return sorted((str(row.key), int(str(values[0]))) for row, values in matching.pairs)


def test_what_looks_like_a_key_is_the_number_that_other_rows_show_there() -> None:
    assert of_small(3, 21, 1, 22, 23) == [("1", 3), ("2", 21), ("3", 1), ("4", 22), ("5", 23)]

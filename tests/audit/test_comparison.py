"""Two tables without an order, and mostly without a key."""

from harness.audit.comparison import TableDifference, TableDifferenceKind, differences, key_column

NAMES = ("id", "name")
ROWS = ((1, "a"), (2, "b"), (3, None))


def test_tables_of_the_same_rows_in_another_order_are_equal() -> None:
    shown = [(name, id_) for id_, name in reversed(ROWS)]
    assert differences(NAMES, ROWS, ("name", "id"), shown) == ()


def test_a_value_of_another_type_is_another_value() -> None:
    assert differences(NAMES, [(1, "a")], NAMES, [(1.0, "a")]) == (
        TableDifference(TableDifferenceKind.VALUE, "id", 0, 1, 1.0),
    )


def test_a_wrong_value_is_laid_to_the_row_of_its_key() -> None:
    (difference,) = differences(NAMES, ROWS, NAMES, [(3, None), (2, "x"), (1, "a")])
    assert difference == TableDifference(TableDifferenceKind.VALUE, "name", 1, "b", "x")


def test_without_a_key_a_wrong_value_is_laid_to_the_row_that_is_most_alike() -> None:
    rows = [(1, "a", "x"), (1, "a", "y"), (1, "b", "y")]
    wrong = [(1, "a", "x"), (1, "a", None), (1, "b", "y")]
    (difference,) = differences(("p", "q", "r"), rows, ("p", "q", "r"), wrong)
    assert difference == TableDifference(TableDifferenceKind.VALUE, "r", 1, "y", None)


def test_rows_that_are_lost_or_too_many_are_named() -> None:
    lost, extra = differences(NAMES, ROWS, NAMES, [ROWS[0], ROWS[1], ROWS[1]])
    assert (lost.kind, lost.row, lost.expected) == (TableDifferenceKind.LOST_ROW, 2, (3, None))
    assert (extra.kind, extra.actual) == (TableDifferenceKind.EXTRA_ROW, (2, "b"))


def test_columns_that_are_absent_or_too_many_are_named_and_the_others_compared() -> None:
    result = differences(NAMES, ROWS, ("id", "more"), [(1, 9), (2, 9), (4, 9)])
    assert [(one.kind, one.column) for one in result[:2]] == [
        (TableDifferenceKind.ABSENT_COLUMN, "name"),
        (TableDifferenceKind.EXTRA_COLUMN, "more"),
    ]
    assert {one.kind for one in result[2:]} == {
        TableDifferenceKind.LOST_ROW,
        TableDifferenceKind.EXTRA_ROW,
    }


def test_the_key_is_the_first_column_that_tells_rows_apart() -> None:
    assert key_column([(1, "a"), (1, "b")]) == 1
    assert key_column([(1, None), (1, "b")]) is None
    assert key_column([]) is None

from harness.core.records import Column, Expected, Finding, FindingKind, Origin, Witness
from harness.reports.marks import HEAD, WHOLE, Mark, marks
from tests.builders.spoilt_answers import spoil

TABLE = Expected(
    (("id", "string"), ("f1", "string"), ("a", "struct")),
    (("1", "x1", {"b": 1}), ("2", "x2", {"b": 2}), ("3", "x3", {"b": 3})),
)


def finding(kind: FindingKind, *places: Witness) -> Finding:
    return Finding(kind, (), places[0], places)


def test_a_wrong_cell_is_marked_in_both_tables_with_whose_value_it_is() -> None:
    witness = Witness("2", "f1", "x2", "y", Origin(9, "f9", 4, "2"))
    answered = spoil(TABLE, None)
    rows = (TABLE.rows[0], ("2", "y", {"b": 2}), TABLE.rows[2])
    result = marks(TABLE, answered.columns, rows, [finding(FindingKind.MISALIGNED, witness)], "id")
    assert result.expected == (Mark(1, 1, 0),)
    assert result.answered == (Mark(1, 1, 0),)
    assert result.notes[0].whose == "f9, step 4"


def test_a_lost_row_is_marked_where_it_was_expected_and_faces_nothing() -> None:
    answered = spoil(TABLE, FindingKind.LOST_ROW)
    assert answered.finding
    result = marks(TABLE, answered.columns, answered.rows, [answered.finding], "id")
    assert result.expected == (Mark(2, WHOLE, 0),)
    assert result.answered == ()
    assert result.pairs == ((0, 0), (1, 1), (2, None))


def test_only_the_second_of_two_equal_rows_is_marked_and_they_stand_together() -> None:
    answered = spoil(TABLE, FindingKind.DUPLICATE)
    assert answered.finding
    result = marks(TABLE, answered.columns, answered.rows, [answered.finding], "id")
    assert result.answered == (Mark(3, WHOLE, 0),)
    assert result.pairs == ((0, 0), (None, 3), (1, 1), (2, 2))


def test_a_row_under_a_wrong_key_stands_beside_the_row_it_is() -> None:
    witness = Witness("2", "id", "2", "x2", Origin(3, "f1", 1, "2"))
    answered = spoil(TABLE, None)
    rows = (TABLE.rows[0], ("x2", "2", {"b": 2}), TABLE.rows[2])
    result = marks(TABLE, answered.columns, rows, [finding(FindingKind.MISALIGNED, witness)], "id")
    assert result.pairs == ((0, 0), (1, 1), (2, 2))
    assert result.answered == (Mark(1, 0, 0),)


def test_a_row_without_a_key_is_not_the_one_whose_key_is_called_null() -> None:
    table = Expected(TABLE.columns, (TABLE.rows[0], ("NULL", "x2", {"b": 2})))
    witness = Witness("1", "id", "1", None)
    columns = spoil(TABLE, None).columns
    rows = (table.rows[1], (None, "x1", {"b": 1}))
    result = marks(table, columns, rows, [finding(FindingKind.LOST_VALUE, witness)], "id")
    assert result.pairs == ((0, 1), (1, 0))
    assert result.answered == (Mark(1, 0, 0),)


def test_a_row_without_a_key_is_marked_where_no_key_is_called_null() -> None:
    witness = Witness("NULL", "", None, "[NULL, x, y]")
    answered = spoil(TABLE, None)
    rows = (*TABLE.rows, (None, "x", "y"))
    result = marks(TABLE, answered.columns, rows, [finding(FindingKind.UNEXPLAINED, witness)], "id")
    assert result.answered == (Mark(3, WHOLE, 0),)


def test_a_wrong_column_is_marked_at_its_heading() -> None:
    answered = spoil(TABLE, None)
    columns = (*answered.columns, Column("more", "varchar", "string"))
    rows = tuple((*row, "z") for row in TABLE.rows)
    witness = Witness("", "more", None, "more")
    result = marks(TABLE, columns, rows, [finding(FindingKind.UNEXPLAINED, witness)], "id")
    assert result.answered == (Mark(HEAD, 3, 0),)
    assert result.expected == ()

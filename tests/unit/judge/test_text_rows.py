"""Rows whose texts hold the signs of a text file: each piece has one name, and chance has none."""

from dataclasses import replace

import pytest

from harness.core.records import Column, FindingKind
from harness.judge.expected_state import ExpectedState
from harness.judge.text_rows import lines_of
from harness.model.canonical import MapValue, Value
from harness.model.query import Query
from tests.builders.judge_stages import findings, wrong
from tests.builders.table_story import history

COLUMNS = "id string, f1 string, several array<string>, f2 string"
ROWS = (
    'rows [{"id":"values","f1":"b\\u0001c","several":["f"],"f2":"h"},'
    '{"id":"parts","f1":"a","several":["f\\u0002g"],"f2":"h"},'
    '{"id":"row","f1":"b\\nc","several":["f"],"f2":"h"},'
    '{"id":"one","f1":"a","several":[""],"f2":"h"},'
    '{"id":"plain","f1":"b","several":["f","g"],"f2":"h"}]'
)
RIGHT: dict[str, tuple[Value, ...]] = {
    "values": ("values", "b\x01c", ("f",), "h"),
    "parts": ("parts", "a", ("f\x02g",), "h"),
    "row": ("row", "b\nc", ("f",), "h"),
    "one": ("one", "a", ("",), "h"),
    "plain": ("plain", "b", ("f", "g"), "h"),
}


@pytest.fixture(scope="module")
def state() -> ExpectedState:
    return replace(history(ROWS, COLUMNS).state(), row_files={})


def kinds(state: ExpectedState, *rows: tuple[Value, ...]) -> set[tuple[FindingKind, str]]:
    """Return what is found where these rows stand in place of those of their keys, or beside."""
    answered = {**RIGHT, **{str(row[0]): row for row in rows}}
    columns = [Column(name, kind, kind) for name, kind in state.table(Query()).columns]
    result = findings(wrong(state, Query(), columns, list(answered.values())), state)
    return {(finding.kind, place.column) for finding in result for place in finding.witnesses}


def test_the_right_rows_are_right(state: ExpectedState) -> None:
    assert kinds(state) == set()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (("parts", "a", ("f", "g"), "h"), {(FindingKind.ALTERED_VALUE, "several")}),
        (("one", "a", (), "h"), {(FindingKind.ALTERED_VALUE, "several")}),
        (
            ("values", "b", ("c",), "f"),
            {
                (FindingKind.ALTERED_VALUE, "f1"),
                (FindingKind.MISALIGNED, "several[0]"),
                (FindingKind.MISALIGNED, "f2"),
            },
        ),
    ],
    ids=["parts", "an empty part", "values"],
)
def test_what_a_text_file_parts_has_a_name(
    state: ExpectedState, row: tuple[Value, ...], expected: set[tuple[FindingKind, str]]
) -> None:
    assert kinds(state, row) == expected


def test_the_rest_of_a_row_is_a_row_that_nobody_wrote(state: ExpectedState) -> None:
    finding_kinds = kinds(state, ("row", "b", None, None), ("c", "f", "h", None))
    assert (FindingKind.ALTERED_VALUE, "f1") in finding_kinds
    assert (FindingKind.GHOST_ROW, "") in finding_kinds
    assert FindingKind.UNEXPLAINED not in {kind for kind, _ in finding_kinds}


@pytest.mark.parametrize(
    "row",
    [
        ("parts", "a", ("f", "x"), "h"),
        ("parts", "a", ("g", "f"), "h"),
        ("values", "b\x01c", ("x",), "h"),
        ("values", "c", ("f",), "h"),
        ("plain", "b", ("f",), "h"),
        ("one", "a", ("f", "g"), "h"),
        ("d", "f", "h", None),
    ],
    ids=[
        *("another part", "parts that changed places", "another value", "the rest alone"),
        *("a part less", "another row's", "no rest of a row"),
    ],
)
def test_what_no_text_file_makes_of_the_row_stays_unexplained(
    state: ExpectedState, row: tuple[Value, ...]
) -> None:
    assert {kind for kind, _ in kinds(state, row)} == {FindingKind.UNEXPLAINED}


def test_lines_have_each_piece_with_the_place_of_its_column() -> None:
    assert lines_of(["a", "b\x01c", ("f", "g"), None]) == [
        [("a", 0), ("b", 1), ("c", 1), ("f\x02g", 2), (r"\N", 3)]
    ]
    assert lines_of(["a\nb", 1]) == [[("a", 0)], [("b", 0), ("1", 1)]]
    assert lines_of(["a", "b", ("f",), None]) == ()
    assert lines_of([1e300, "a\nb", b"\x01"]) == [[("\0", 0), ("a", 1)], [("b", 1), ("AQ==", 2)]]
    assert lines_of([{"x": 1e300, "y": "a\nb"}]) == ()


def test_each_depth_has_a_sign_of_its_own() -> None:
    value = {"s": "a", "m": MapValue.of([("k", ("b\n", None)), ("l", ({"x": 1, "y": None},))])}
    assert lines_of([value]) == [[("a\x02k\x04b", 0)], [("\x05\\N\x03l\x041\x06\\N", 0)]]


INSIDE = "id string, n long, s struct<x: string, y: int>, f long"


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (("b\x022", None, None, None), FindingKind.GHOST_ROW),
        (("b\x022", None, {"x": None, "y": None}, None), FindingKind.GHOST_ROW),
        (("b\x022", None, {"x": "z", "y": None}, None), FindingKind.UNEXPLAINED),
        (("b\x023", None, None, None), FindingKind.UNEXPLAINED),
    ],
)
def test_the_rest_of_a_nested_text_is_known_by_its_first_value(
    row: tuple[Value, ...], kind: FindingKind
) -> None:
    rows = 'rows [{"id":"a","n":1,"s":{"x":"a\\nb","y":2},"f":7}]'
    inside = replace(history(rows, INSIDE).state(), row_files={})
    columns = [Column(name, kind, kind) for name, kind in inside.table(Query()).columns]
    right = ("a", 1, {"x": "a\nb", "y": 2}, 7)
    differences = findings(wrong(inside, Query(), columns, [right, row]), inside)
    assert {one.kind for one in differences} == {kind}

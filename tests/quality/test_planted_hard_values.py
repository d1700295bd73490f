"""Planted defects for each hard type: found, and under the right name.

Rows are explicit, so values tell little of where they come from: what is named, patterns over the
rows and NULLs beside them must tell.
"""

import datetime
import math
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

import pytest

from harness.model.canonical import Value, same
from harness.scenario.definition import Scenario, Step
from harness.scenario.operations.api import Operation
from harness.scenario.operations.columns import MoveColumn, RenameColumn
from harness.scenario.operations.row_writes import Insert
from tests.builders import simulated_disk
from tests.builders.table_story import Story, cells, changed, diagnosed, named, table_of

HARD: Final = (
    "id string, ts long, d double, f float, tiny tinyint, big long, whole decimal(38, 0), "
    "money decimal(18, 6), day date, at timestamp, text string, raw binary, fixed char(4)"
)
ROWS: Final[tuple[dict[str, Any], ...]] = (
    {
        "id": "least",
        "d": float("nan"),
        "f": float("-inf"),
        "tiny": -128,
        "big": -(2**63),
        "whole": 1 - 10**38,
        "money": "-999999999999.999999",
        "day": "0001-01-02",
        "at": "1969-12-31 23:59:59.123456",
        "text": "e\u0301",
        "raw": "0x00ff",
        "fixed": "ab",
    },
    {
        "id": "greatest",
        "d": -0.0,
        "f": float("inf"),
        "tiny": 127,
        "big": 2**63 - 1,
        "whole": 10**38 - 1,
        "money": "999999999999.999999",
        "day": "9999-12-31",
        "at": "9999-12-31 23:59:59.999999",
        "text": "\u05e9\u05dc\u05d5\u05dd \U0001f600",
        "raw": "0xf09f9880",
        "fixed": "cd",
    },
    {"id": "zero", "d": 0.0, "f": -0.0, "big": 0, "whole": 0, "text": "", "raw": "0x"},
    dict.fromkeys(("d", "f", "tiny", "big", "day", "at", "text", "raw")) | {"id": "nothing"},
)


def history(columns: str, *operations: Operation) -> Story:
    table = table_of(columns, ())
    scenario = Scenario("hard", table, tuple(map(Step, operations)))
    truths = scenario.truths(merge_on_read=False).history()
    disk = simulated_disk.written(table, operations, truths, merge_on_read=False)
    return Story(operations, truths, disk)


STORY: Final = history(HARD, Insert(rows=ROWS))


def where(column: str, changes: Callable[[Value], Value]) -> set[tuple[str, str]]:
    reply = STORY.read()
    at = reply.names.index(column)
    values = ((row[0], row[at]) for row in reply.rows)
    return {(key, column) for key, value in values if not same(value, changes(value))}


def not_null(change: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda value: None if value is None else change(value)


def test_a_right_reader_of_hard_values_has_no_finding() -> None:
    assert diagnosed(STORY, STORY.read("id")) == ()
    assert diagnosed(STORY, STORY.read("name")) == ()


def test_nothing_is_lost_between_the_file_and_the_truth() -> None:
    shown = {row[0]: row for row in STORY.read().rows}
    assert str(shown["greatest"][2]) == "-0.0"
    assert shown["least"][6] == Decimal(1 - 10**38)
    assert shown["greatest"][9] == datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001
    assert shown["least"][11:] == (b"\x00\xff", "ab  ")


MICROSECOND: Final = datetime.timedelta(microseconds=1)
DEFECTS: Final[dict[str, tuple[str, Callable[[Value], Value], str]]] = {
    "NaN as NULL": ("d", lambda v: None if v is None or math.isnan(v) else v, "lost_value"),
    "NaN as zero": ("d", not_null(lambda v: 0.0 if math.isnan(v) else v), "unexplained"),
    "-0.0 as 0.0": ("d", not_null(lambda v: v + 0.0), "altered_value"),
    "0.0 as -0.0": ("d", not_null(lambda v: v or -0.0), "altered_value"),
    "infinity as NULL": ("f", lambda v: None if v == float("inf") else v, "lost_value"),
    "infinity as the greatest number": (
        "f",
        not_null(lambda v: 3.4028234663852886e38 if v == float("inf") else v),
        "unexplained",
    ),
    "tinyint as unsigned": ("tiny", not_null(lambda v: v % 256), "unexplained"),
    "long as double": ("big", not_null(lambda v: int(float(v))), "altered_value"),
    "38 digits as a double": ("whole", not_null(lambda v: Decimal(float(v))), "altered_value"),
    "six places as two": (
        "money",
        not_null(lambda v: v if v == round(v, 2) else round(v, 2)),
        "altered_value",
    ),
    "microseconds cut": (
        "at",
        not_null(lambda v: v.replace(microsecond=v.microsecond // 1000 * 1000)),
        "altered_value",
    ),
    "microseconds rounded": (
        "at",
        not_null(lambda v: v + MICROSECOND if v.year < 9999 else v),
        "altered_value",
    ),
    "dates of the Julian calendar": (
        "day",
        not_null(lambda v: v + datetime.timedelta(days=2) if v.year == 1 else v),
        "altered_value",
    ),
    "dates before 1970 as NULL": (
        "day",
        not_null(lambda v: None if v.year < 1970 else v),
        "lost_value",
    ),
    "unicode normalised": (
        "text",
        not_null(lambda v: unicodedata.normalize("NFC", v)),
        "altered_value",
    ),
    "letters beyond ASCII as ?": (
        "text",
        not_null(lambda v: v.encode("ascii", "replace").decode()),
        "altered_value",
    ),
    "UTF-8 read as Latin-1": (
        "text",
        not_null(lambda v: v.encode().decode("latin-1")),
        "altered_value",
    ),
    "an empty text as NULL": ("text", lambda v: v or None, "lost_value"),
    "NULL as an empty text": ("text", lambda v: v or "", "unexplained"),
    "binary as UTF-8, what is none lost": (
        "raw",
        not_null(lambda v: v.decode("utf-8", "replace") if v == b"\x00\xff" else v),
        "altered_value",
    ),
    "empty binary as NULL": ("raw", lambda v: v or None, "lost_value"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_each_hard_value_that_is_changed_is_found_under_its_name(name: str) -> None:
    column, change, kind = DEFECTS[name]
    wrong = changed(STORY.read(), {column: change})
    assert where(column, change)
    assert named(STORY, wrong) == {kind: where(column, change)}


def of_rows(names: Iterable[str], *values: Iterable[Value]) -> tuple[dict[str, Any], ...]:
    """Return rows with the keys 1, 2 … of the values of each column."""
    lines = zip(*values, strict=True)
    return tuple(
        {"id": str(at)} | dict(zip(names, line, strict=True)) for at, line in enumerate(lines, 1)
    )


NEIGHBOURS: Final = {
    "boolean": ((True, False, True, True, None), (True, True, False, True, False)),
    "tinyint": ((1, 0, 1, 1, None), (1, 1, 0, 1, 0)),
    "date": (
        ("1970-01-01", "1980-05-05", "1970-01-01", "1970-01-01", None),
        ("1970-01-01", "1970-01-01", "1980-05-05", "1970-01-01", "1980-05-05"),
    ),
    "double": ((float("nan"), -0.0, 0.0, 0.0, None), (0.0, 0.0, -0.0, float("nan"), -0.0)),
    "string": (("", "a", "", "", None), ("", "", "a", "", "a")),
    "binary": (("0x", "0x00", "0x", "0x", None), ("0x", "0x", "0x00", "0x", "0x00")),
}
"""Columns of one type whose values each tell nothing, the last one NULL in one of them."""


@pytest.mark.parametrize("type_", NEIGHBOURS)
def test_neighbours_read_by_position_are_named_by_their_patterns_the_null_too(type_: str) -> None:
    rows = of_rows(("a", "b"), *NEIGHBOURS[type_])
    columns = f"id string, ts long, a {type_}, b {type_}"
    story = history(columns, Insert(rows=rows), MoveColumn("a", after="b"))
    reply, right = story.read("position"), story.read("id")
    wrong = {
        (left[0], name)
        for left, other in zip(right.rows, reply.rows, strict=True)
        for name, one, two in zip(right.names, left, other, strict=True)
        if not same(one, two)
    }
    assert len(wrong) > 4
    assert named(story, reply) == {"misaligned": wrong}


@pytest.mark.parametrize("type_", NEIGHBOURS)
def test_a_renamed_column_that_is_null_has_lost_what_it_had_and_not_its_own_null(
    type_: str,
) -> None:
    rows = of_rows(("a", "b"), *NEIGHBOURS[type_])
    story = history(
        f"id string, ts long, a {type_}, b {type_}", Insert(rows=rows), RenameColumn("a", "c")
    )
    assert named(story, story.read("name")) == {"missing_rename": cells(story, "c", [1, 2, 3, 4])}


def test_bytes_read_by_position_as_a_text_are_of_the_other_column_and_back() -> None:
    columns = "id string, ts long, raw binary, text string"
    story = history(columns, Insert((1, 2, 3, 4)), MoveColumn("raw", after="text"))
    reply = story.read("position")
    assert reply.names[2:] == ["text", "raw"]
    as_text = changed(reply, {"text": not_null(bytes.decode), "raw": not_null(str.encode)})
    assert named(story, as_text) == {"misaligned": cells(story, "text raw")}


def test_small_integers_of_two_columns_are_named_by_their_patterns() -> None:
    for type_ in ("tinyint", "smallint", "char(2)", "varchar(1)"):
        columns = f"id string, ts long, a {type_}, b {type_}, c string"
        story = history(columns, Insert((11, 12, 13, 14)), MoveColumn("a", after="b"))
        assert named(story, story.read("position")) == {"misaligned": cells(story, "a b")}


def test_names_that_only_a_reader_folds_into_one_show_the_other_column() -> None:
    # No file can be written with both, but a reader may fold letters that the writer keeps apart.
    columns = "id string, ts long, straße string, strasse string"
    story = history(columns, Insert((1, 2, 3)))
    reply = story.read()
    folded = tuple((*row[:3], row[2]) for row in reply.rows)
    wrong = replace(reply, rows=folded)
    assert named(story, wrong) == {"misaligned": cells(story, "strasse")}


def test_a_number_that_any_default_may_be_does_not_tell_whose_it_is() -> None:
    rows = of_rows(("a", "b"), (1, 2, 3), (-1, 5, 6))
    story = history("id string, ts long, a int, b int", Insert(rows=rows))
    negative = changed(story.read(), {"a": lambda value: -value})
    assert named(story, negative) == {"unexplained": cells(story, "a")}

import datetime
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.core.records import FindingKind
from harness.model.canonical import Value
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import diagnosed, history, places

STORY = history("insert 1..3", "id long, n int, d date")


DAY_ZERO = datetime.date(1970, 1, 1)


@pytest.mark.parametrize(
    ("column", "shown", "origin"),
    [
        ("d", lambda n, _: DAY_ZERO + datetime.timedelta(days=n), ("n", "1")),
        ("n", lambda _, d: (d - DAY_ZERO).days, ("d", "1")),
        ("d", lambda n, _: f"{n}  ", ("n", "1")),
        ("d", lambda *_: datetime.date(1971, 5, 5), None),
    ],
    ids=["a number as that day", "a date as its days", "a number as a text", "nobody's date"],
)
def test_a_value_that_is_shown_as_another_type_stores_it_is_still_that_value(
    column: str, shown: Callable[[Value, Value], Value], origin: tuple[str, str] | None
) -> None:
    reply = STORY.read()
    first = dict(zip(reply.names, reply.rows[0], strict=True))
    first[column] = shown(first["n"], first["d"])
    rows = (tuple(first.values()), *reply.rows[1:])
    (place,) = places(STORY, replace(reply, rows=rows))
    assert (place.origin and (place.origin.name, place.origin.key)) == origin


def test_a_number_without_its_fraction_is_still_that_of_another_field_of_its_row() -> None:
    story = history("insert 1..3", "id long, n int, x double")
    rows = [list(row) for row in story.read().rows]
    cut = [int(x) for *_, x in rows]
    columns = story.read().columns

    def shown(row: int, column: int, value: int) -> Reply:
        changed = [list(row) for row in rows]
        changed[row][column] = value
        return Reply(columns, tuple(map(tuple, changed)))

    (misaligned,) = diagnosed(story, shown(0, 1, cut[0]))
    assert misaligned.kind is FindingKind.MISALIGNED
    assert [place.origin and place.origin.name for place in misaligned.witnesses] == ["x"]
    (altered,) = diagnosed(story, shown(0, 2, cut[0]))
    assert altered.kind is FindingKind.ALTERED_VALUE
    (of_another_row,) = diagnosed(story, shown(0, 1, cut[1]))
    assert of_another_row.kind is FindingKind.UNEXPLAINED


def test_rows_of_one_group_are_one_pattern_where_log_files_are_ignored() -> None:
    """Row 3 has a newer version in a log file, and under `c` a number that `a` has had as well."""
    steps = (
        "insert 1..6; row id=9 a=3; update 3 set a; add c string first; insert 20; update 20 set c"
    )
    story = history(steps, "id long, ts long, a tinyint", mor=True)
    places = {
        (place.key, place.column): (finding.kind, place.origin.name if place.origin else "")
        for finding in diagnosed(story, story.read("position", logs="ignored"))
        for place in finding.witnesses
    }
    assert places["3", "c"] == (FindingKind.MISALIGNED, "id")


def test_the_right_value_in_another_type_may_be_just_that_of_another_field() -> None:
    story = history("row id=1 n=1; row id=2 n=0; row id=3 n=1", "id string, n int")
    columns, rows = story.read().columns, story.read().rows

    def kinds(*texts: int) -> set[FindingKind]:
        shown = tuple((key, str(n) if int(key) in texts else n) for key, n in rows)
        return {finding.kind for finding in diagnosed(story, Reply(columns, shown))}

    assert kinds(1) == {FindingKind.UNEXPLAINED}
    assert kinds(2) == {FindingKind.TYPE_DRIFT}
    assert kinds(1, 3) == {FindingKind.TYPE_DRIFT}

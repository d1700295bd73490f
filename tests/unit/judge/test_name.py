import datetime
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pytest

from harness.core.records import Column, FindingKind
from harness.judge import recorded_by_table
from harness.judge.compare import wrong_columns
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.expected_state import ExpectedState, index_of
from harness.judge.name import CHECKS, type_drift
from harness.model.canonical import MapValue, Value
from harness.model.file_facts import FileFact
from harness.model.simulation import row_files
from harness.model.simulation.column_resolution import WrittenFiles
from harness.scenario.load import loads
from tests.builders.judge_stages import differences, findings
from tests.builders.table_story import Story, changed, history

STORY = history("insert 1,2; upsert 1; delete 2", "id long, ts long, l array<string>")
STATE = STORY.state()


def test_every_finding_is_named_by_a_check_or_about_something_else_than_an_answer() -> None:
    # What two answers tell is no name of a difference, and neither is what a table says of itself.
    others = (FindingKind.ORDER_DEPENDENT, *recorded_by_table.KINDS)
    assert sorted((*CHECKS, *others)) == sorted(FindingKind)


def test_what_nothing_explains_is_unexplained_and_asked_last() -> None:
    difference = Difference(
        DifferenceKind.CELL, "1", "ts", 202001, 7, STORY.truth.schema.find("ts")
    )
    *others, last = CHECKS
    assert last is FindingKind.UNEXPLAINED
    assert not any(CHECKS[kind](difference, STATE) for kind in others)


def test_places_of_one_name_are_one_finding_with_its_columns() -> None:
    field = STORY.truth.schema.find("l")
    lost = [
        Difference(DifferenceKind.CELL, "1", f"l[{at}]", "x", None, field.children[0])
        for at in range(2)
    ] + [Difference(DifferenceKind.CELL, "1", "ts", 1, None, STORY.truth.schema.find("ts"))]
    (finding,) = findings(lost, STATE)
    assert finding.kind is FindingKind.LOST_VALUE
    assert finding.columns == ("l.element", "ts")
    assert [witness.column for witness in finding.witnesses] == ["l[0]", "l[1]", "ts"]
    assert finding.witness == finding.witnesses[0]


@pytest.mark.parametrize(
    ("expected", "actual", "kind"),
    [
        ({"a": 1}, 1, FindingKind.TYPE_DRIFT),
        ({"a": 1}, 2, FindingKind.UNEXPLAINED),
        ({"a": 1, "b": 1}, 1, FindingKind.UNEXPLAINED),
        ({"a": 1}, {"b": 1}, FindingKind.UNEXPLAINED),
    ],
)
def test_the_only_part_of_a_struct_in_its_place_is_the_right_value_of_another_type(
    expected: Value, actual: Value, kind: FindingKind
) -> None:
    cell = Difference(DifferenceKind.CELL, "1", "l[0]", expected, actual)
    (finding,) = findings([cell], STATE)
    assert finding.kind is kind


FOLDERS = loads(
    """
table:
  columns: {id: string, f: string, p: long}
  key: id
  partition_by: [p]
steps:
  - insert: {rows: [{id: one, p: 1}]}
  - write_parquet: {rows: [{id: two, p: 2}], also: {p: 99}}
""",
    "story.yaml",
)


@pytest.mark.parametrize(
    ("key", "actual", "kind"),
    [
        ("two", 99, FindingKind.MISALIGNED),
        ("two", 98, FindingKind.UNEXPLAINED),
        ("one", 99, FindingKind.UNEXPLAINED),
    ],
)
def test_the_value_of_a_file_in_a_column_of_its_folder_is_of_another_column(
    key: str, actual: Value, kind: FindingKind
) -> None:
    truths = FOLDERS.truths(merge_on_read=False).history()
    state = ExpectedState(truths, index_of(truths), truths[-1].rows)
    field = truths[-1].schema.find("p")
    cell = Difference(DifferenceKind.CELL, key, "p", truths[-1].rows[key].of(field), actual, field)
    (finding,) = findings([cell], state)
    assert finding.kind is kind


MOMENT = datetime.datetime(2001, 1, 4, 12, 10, 5, 250000)  # noqa: DTZ001 - canonical
TEXT = history("insert 1", "id string, f1 string").state()


def drifts(expected: Value, actual: Value) -> bool:
    return type_drift(Difference(DifferenceKind.CELL, "1", "f1", expected, actual), TEXT)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (b"hello", "hello"),
        (b"hello", "aGVsbG8="),
        (b"hello", "68656C6C6F"),
        (b"hello", "0x68656c6c6f"),
        (b"hello", "68 65 6c 6c 6f"),
        (b"", ""),
        ("größe", "größe".encode()),
        (7, "7"),
        (7, "7.0"),
        (7, "7   "),
        (7.0, "7.0"),
        (Decimal("7.50"), "7.50"),
        (1e10, "1.0E10"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (MOMENT, "2001-01-04 12:10:05.25"),
        (MOMENT, "2001-01-04T12:10:05.250000000"),
        (MOMENT.date(), "2001-01-04 00:00:00.0"),
        ("7.0", 7.0),
        ("7.50", Decimal("7.50")),
        ("2001-01-04 12:10:05.25", MOMENT),
        (MapValue(((1, "a"),)), MapValue((("1", "a"),))),
    ],
)
def test_what_only_came_in_another_type_is_the_right_value(expected: Value, actual: Value) -> None:
    assert drifts(expected, actual)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (b"hello", "hell"),
        (b"\xff", "\ufffd"),
        (b"hello", "\ud800"),
        ("hello", b"hell"),
        (b"7", 7),
        (-0.0, 0.0),
        (float("nan"), 0.0),
        ("7", "7.0"),
        ("07", 7),
        (7.5, "7"),
        (7, " 7"),
        (True, "1"),
        (7, "1e999999999"),
        (MOMENT, "2001-01-04 12:10:05.250000001"),
        (MOMENT, "2001-01-04 12:10:05.25+02:00"),
        (("a", "b"), ("a, b",)),
        ((), ("",)),
        (("a", "b"), "[a, b]"),
        (MapValue((("a", "b"), ("c", "d"))), MapValue((("a", "b, c → d"),))),
        ({"a": "x", "b": 1}, {"a": "x, b: 1"}),
        ((None,), ("NULL",)),
    ],
)
def test_other_values_are_not(expected: Value, actual: Value) -> None:
    assert not drifts(expected, actual)


RENAMED = history("insert 1,2; rename f1 g; insert 3")
IN_PATH: Mapping[str, str] = {}


def stored(fact: FileFact, called: Mapping[str, str], folder: str) -> FileFact:
    """Return a file of a table with column mapping; what is in its path alone is not in it."""
    inside = tuple(
        column for column in fact.columns if column[0] in called or column[0] not in ("f1", "g")
    )
    names = tuple(called.get(name, f"col-{name}") for name, _ in inside)
    return replace(fact, path=f"{folder}/{fact.path}", columns=inside, stored_names=names)


def called(story: Story, names: Mapping[str, str] | None, folder: str = "") -> dict[str, set[str]]:
    """Return what it is called that a reader shows NULL for all of `g`, by the rows' keys."""
    facts = story.facts if names is None else [stored(fact, names, folder) for fact in story.facts]
    files = row_files.lying(WrittenFiles(story.history, facts, story.steps))
    state = replace(story.state(), row_files=files)
    reply = changed(story.read(), {"g": lambda _: None})
    result = findings(differences(state, reply.columns, reply.rows, state.schema.names), state)
    return {str(finding.kind): {place.key for place in finding.witnesses} for finding in result}


MISSED, LOST = str(FindingKind.MISSING_RENAME), str(FindingKind.LOST_VALUE)


def test_a_value_under_the_name_of_before_is_missed_by_the_rename_and_another_one_lost() -> None:
    assert called(RENAMED, None) == {MISSED: {"1", "2"}, LOST: {"3"}}


@pytest.mark.parametrize("folder", ["", "col-f1=p1", "a8"])
def test_a_physical_name_is_the_same_before_the_rename_and_after(folder: str) -> None:
    assert called(RENAMED, {"f1": "col-f1", "g": "col-f1"}, folder) == {LOST: {"1", "2", "3"}}
    assert called(RENAMED, IN_PATH, folder) == {LOST: {"1", "2", "3"}}


def test_a_mapping_that_came_later_keeps_the_name_of_before_as_the_physical_one() -> None:
    assert called(RENAMED, {"f1": "f1", "g": "f1"}) == {MISSED: {"1", "2", "3"}}
    assert called(RENAMED, IN_PATH, "f1=p1") == {MISSED: {"1", "2", "3"}}


@pytest.mark.parametrize(
    ("shown", "kinds"),
    [
        (("id", "l"), [FindingKind.LOST_VALUE]),
        (("id", "l", "tss"), [FindingKind.UNEXPLAINED]),
        ((), [FindingKind.UNEXPLAINED]),
    ],
)
def test_a_column_that_is_not_there_is_lost_unless_another_one_may_be_it(
    shown: tuple[str, ...], kinds: list[FindingKind]
) -> None:
    columns = [Column(name, "") for name in shown]
    places = wrong_columns(STATE, columns, STORY.truth.schema.names)
    assert "ts" in {place.column for place in places}
    assert [finding.kind for finding in findings(places, STATE)] == kinds

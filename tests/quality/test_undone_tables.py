from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Responsible
from harness.judge.difference import Difference, DifferenceKind
from harness.judge.hidden_from_readers import HiddenFromReaders, hidden_from_readers
from harness.judge.recorded_variant import RecordedVariant
from harness.model.query import Query
from tests.builders.judged_story import blamed, case_of, judged, with_last
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history
from tests.builders.traced_answer import read
from tests.quality.defects_undo import COLUMN

RENAMED = "savepoint; rename f2 h; upsert 401; restore"


def story(how: str) -> Story:
    return history(f"insert 401..404; {how}")


def listing(planted: Story, *columns: str) -> RecordedVariant:
    case = case_of(planted)
    return with_last(case, replace(case.states[-1], catalog=columns))


def by_columns_of(planted: Story, step: int) -> Reply:
    return read(planted, schema=planted.history[step].schema).reply


@pytest.mark.parametrize(
    ("columns", "responsible"),
    [
        (("id", "ts", "f1", "f2", "added"), Responsible.COLUMNS),
        (("id", "ts", "f1", "f2"), Responsible.READER),
        ((), Responsible.READER),
    ],
)
def test_a_column_too_many_is_the_writers_where_the_catalog_lists_it(
    columns: tuple[str, ...], responsible: Responsible
) -> None:
    planted_story = story(COLUMN)
    (verdict,) = judged(listing(planted_story, *columns), [by_columns_of(planted_story, 3)])
    assert blamed(verdict) == {(FindingKind.STALE, responsible)}


def test_a_column_is_missing_by_the_writers_doing_where_the_catalog_has_another_name() -> None:
    planted_story = story(RENAMED)
    case = listing(planted_story, "id", "ts", "f1", "h")
    (verdict,) = judged(case, [by_columns_of(planted_story, 3)])
    assert blamed(verdict) == {(FindingKind.STALE, Responsible.COLUMNS)}
    assert {witness.column for witness in verdict.findings[0].witnesses} == {"f2", "h"}


@pytest.mark.parametrize(
    ("columns", "responsible"),
    [
        (("id", "ts", "f1"), Responsible.COLUMNS),
        (("id", "ts", "f1", "f2"), Responsible.READER),
        (("col",), Responsible.READER),  # what Spark lists of a Delta table
    ],
)
def test_a_column_that_an_answer_lacks_is_lost_by_the_catalog_only_if_it_lists_the_others(
    columns: tuple[str, ...], responsible: Responsible
) -> None:
    planted_story = story("upsert 401")
    shown = planted_story.read()
    fewer = replace(shown, columns=shown.columns[:-1], rows=tuple(row[:-1] for row in shown.rows))
    (verdict,) = judged(listing(planted_story, *columns), [fewer])
    assert blamed(verdict) == {(FindingKind.LOST_VALUE, responsible)}


@pytest.mark.parametrize(
    ("types", "responsible"),
    [
        (("long", "long", "int", "int"), Responsible.COLUMNS),
        (("long", "long", "long", "int"), Responsible.READER),
        ((), Responsible.READER),
    ],
)
def test_a_type_of_before_is_the_writers_where_the_catalog_has_it(
    types: tuple[str, ...], responsible: Responsible
) -> None:
    truth_history = history("insert 401..404; type n long", "id long, ts long, n int, f int")
    case = case_of(truth_history)
    listed = replace(case.states[-1], catalog=("id", "ts", "n", "f"), catalog_types=types)
    (verdict,) = judged(with_last(case, listed), [by_columns_of(truth_history, 1)])
    assert blamed(verdict) == {(FindingKind.TYPE_DRIFT, responsible)}


@pytest.mark.parametrize(
    ("type_", "responsible"),
    [("int", Responsible.COLUMNS), ("string", Responsible.READER), ("", Responsible.READER)],
)
@pytest.mark.parametrize("columns", ["n int", "n array<int>", "n map<string,int>"])
def test_right_values_in_a_type_of_before_are_too(
    columns: str, type_: str, responsible: Responsible
) -> None:
    kind = columns.removeprefix("n ")
    path = {"int": "n", "array<int>": "n.element"}.get(kind, "n.value")
    truth_history = history(f"insert 401..404; type {path} string", f"id long, ts long, {columns}")
    listed = str(truth_history.history[1].schema.find("n").type).replace("int", type_ or "int")
    types = ("long", "long", listed) if type_ else ()
    case = case_of(truth_history)
    story = replace(case.states[-1], catalog=("id", "ts", "n"), catalog_types=types)
    (verdict,) = judged(with_last(case, story), [by_columns_of(truth_history, 1)])
    assert blamed(verdict) == {(FindingKind.TYPE_DRIFT, responsible)}


def test_another_value_in_a_type_of_before_is_the_readers() -> None:
    truth_history = history("insert 401..404; type n string", "id long, ts long, n int, f int")
    case, shown = case_of(truth_history), by_columns_of(truth_history, 1)
    types = ("long", "long", "int", "int")
    listed = replace(case.states[-1], catalog=("id", "ts", "n", "f"), catalog_types=types)
    rows = [(*row[:2], row[3], *row[3:]) for row in shown.rows]
    (verdict,) = judged(with_last(case, listed), [replace(shown, rows=tuple(rows))])
    assert (FindingKind.MISALIGNED, Responsible.READER) in blamed(verdict)


def test_a_type_that_the_column_never_had_is_not_excused_by_the_catalog() -> None:
    truth_history = history("insert 401..404; type n long", "id long, ts long, n int, f int")
    case = case_of(truth_history)
    types = ("long", "long", "string", "int")
    listed = replace(case.states[-1], catalog=("id", "ts", "n", "f"), catalog_types=types)
    listed_case = with_last(case, listed)
    assert hidden_from_readers(listed_case, 2, "snapshot", Query(), ()).outdated == {}


def test_who_goes_by_the_tables_own_schema_is_right() -> None:
    planted_story = story(COLUMN)
    case = listing(planted_story, "id", "ts", "f1", "f2", "added")
    (verdict,) = judged(case, [planted_story.read()])
    assert not verdict.findings


def test_a_question_about_the_past_goes_back_to_a_write_that_stands() -> None:
    case = case_of(history("insert 1; savepoint; upsert 1; insert 2; restore; insert 3; upsert 3"))
    asked = case.past("as_of(4)", 4), case.past("as_of(4)", 7), case.past("as_of(6)", 7)
    assert [query.step for query in asked if query] == [4, 2, 6]


def test_a_part_of_a_column_that_the_catalog_lists_is_no_column_that_it_lacks() -> None:
    hidden = HiddenFromReaders(columns=frozenset({"id", "s"}))
    absent = Difference(DifferenceKind.ABSENT_COLUMN, "1", "s.b", "b", None)
    assert not hidden.lists_otherwise(absent)
    assert not hidden.lists_otherwise(replace(absent, column="s[0].b"))
    assert hidden.lists_otherwise(replace(absent, column="f"))
    assert not hidden.lists_otherwise(replace(absent, column="s"))

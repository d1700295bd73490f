"""Whole rows that are as log files have them, where a view shows base files alone."""

from __future__ import annotations

import pytest

from harness.judge import newer_rows
from harness.judge.match_rows import match
from harness.model.query import Query, not_null
from tests.builders.simulated_reader import Reply
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, f2 string"


def told_of(
    story: Story, reply: Reply, query: Query, view: str = "read_optimized"
) -> dict[str, int]:
    """Return the step of each row that is as log files have it."""
    state = story.state(view).narrowed(query)
    found = newer_rows.origins(state, reply.names, match(state, reply.names, reply.rows))
    assert all(each.key == key for key, each in found.items())
    return {key: each.step for key, each in found.items()}


def asked(reply: Reply, query: Query) -> Reply:
    rows = (row for row in reply.rows if query.takes(dict(zip(reply.names, row, strict=True))))
    return Reply(reply.columns, tuple(rows))


def test_a_deleted_row_that_is_left_out_tells_the_step_of_the_delete() -> None:
    story = history("insert 1..3; delete 2", mor=True)
    assert told_of(story, story.read(), Query()) == {"2": 2}


def test_the_right_rows_tell_nothing() -> None:
    story = history("insert 1..3; delete 2; upsert 3", mor=True)
    assert told_of(story, story.read(logs="ignored"), Query()) == {}


def test_a_snapshot_is_what_is_now() -> None:
    story = history("insert 1..3; delete 2", mor=True)
    assert told_of(story, story.read(logs="undeleted"), Query(), "snapshot") == {}


@pytest.mark.parametrize(("logs", "rows"), [("merged", {"2": 3}), ("ignored", {})])
def test_a_predicate_held_against_newer_values_shows_rows_too_soon(
    logs: str, rows: dict[str, int]
) -> None:
    story = history("insert 1..3; add f3; upsert 2", mor=True)
    query = Query(where=not_null("f3"))
    assert told_of(story, asked(story.read(logs=logs), query), query) == rows


def test_a_predicate_that_is_ignored_is_not_one_held_against_newer_values() -> None:
    story = history("insert 1..3; add f3; upsert 2", mor=True)
    assert told_of(story, story.read(logs="ignored"), Query(where=not_null("f3"))) == {}


def test_nothing_is_told_of_a_file_group_of_which_nothing_came() -> None:
    story = history("insert 1,2; delete 2; insert 3", mor=True)
    reply = story.read(logs="ignored")
    only = Reply(reply.columns, tuple(row for row in reply.rows if row[0] == "3"))
    assert told_of(story, only, Query()) == {}


def test_a_file_group_whose_rows_are_all_deleted_is_held_against_the_others() -> None:
    story = history("insert 1; insert 2; delete 1", mor=True)
    reply = story.read()
    assert told_of(story, reply, Query()) == {"1": 3}
    assert told_of(story, Reply(reply.columns, ()), Query()) == {}

"""Whole rows that are as log files have them, where a view shows base files alone."""

from __future__ import annotations

import pytest

from harness.judge import newer_rows
from harness.judge.match_rows import match
from harness.model.query import Query, not_null
from tests.quality.notation import Told, history
from tests.simulated import Reply

COLUMNS = "id string, ts long, f1 string, f2 string"


def told_of(told: Told, reply: Reply, query: Query, view: str = "read_optimized") -> dict[str, int]:
    """Return the step of each row that is as log files have it."""
    world = told.world(view).narrowed(query)
    found = newer_rows.origins(world, reply.names, match(world, reply.names, reply.rows))
    assert all(each.key == key for key, each in found.items())
    return {key: each.step for key, each in found.items()}


def asked(reply: Reply, query: Query) -> Reply:
    rows = (row for row in reply.rows if query.takes(dict(zip(reply.names, row, strict=True))))
    return Reply(reply.columns, tuple(rows))


def test_a_deleted_row_that_is_left_out_tells_the_step_of_the_delete() -> None:
    told = history("insert 1..3; delete 2", mor=True)
    assert told_of(told, told.read(), Query()) == {"2": 2}


def test_the_right_rows_tell_nothing() -> None:
    told = history("insert 1..3; delete 2; upsert 3", mor=True)
    assert told_of(told, told.read(logs="ignored"), Query()) == {}


def test_a_snapshot_is_what_is_now() -> None:
    told = history("insert 1..3; delete 2", mor=True)
    assert told_of(told, told.read(logs="undeleted"), Query(), "snapshot") == {}


@pytest.mark.parametrize(("logs", "rows"), [("merged", {"2": 3}), ("ignored", {})])
def test_a_predicate_held_against_newer_values_shows_rows_too_soon(
    logs: str, rows: dict[str, int]
) -> None:
    told = history("insert 1..3; add f3; upsert 2", mor=True)
    query = Query(where=not_null("f3"))
    assert told_of(told, asked(told.read(logs=logs), query), query) == rows


def test_a_predicate_that_is_ignored_is_not_one_held_against_newer_values() -> None:
    told = history("insert 1..3; add f3; upsert 2", mor=True)
    assert told_of(told, told.read(logs="ignored"), Query(where=not_null("f3"))) == {}


def test_nothing_is_told_of_a_file_group_of_which_nothing_came() -> None:
    told = history("insert 1,2; delete 2; insert 3", mor=True)
    reply = told.read(logs="ignored")
    only = Reply(reply.columns, tuple(row for row in reply.rows if row[0] == "3"))
    assert told_of(told, only, Query()) == {}


def test_a_file_group_whose_rows_are_all_deleted_is_held_against_the_others() -> None:
    told = history("insert 1; insert 2; delete 1", mor=True)
    reply = told.read()
    assert told_of(told, reply, Query()) == {"1": 3}
    assert told_of(told, Reply(reply.columns, ()), Query()) == {}

"""Whose column is shown under a name where the catalog lists the columns in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.model.simulation.column_resolution import slices
from harness.model.simulation.hudi import taken_for
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import history

COLUMNS = "id string, ts long, f1 string, f2 string, f3 string"
STEPS = {instant_of(step): step for step in range(9)}


def names(steps: str, catalog: str, newest: Sequence[str] = ()) -> dict[str, str]:
    """Return under which name which column is shown; `newest`: the order in the last file."""
    story = history(steps, COLUMNS)
    facts = [file.fact() for file in story.disk.files]
    if newest:
        columns = dict(facts[-1].columns)
        meta = [name for name in columns if name.startswith("_hoodie")]
        own = tuple((name, columns[name]) for name in (*meta, *newest))
        facts[-1] = replace(facts[-1], columns=own)
    found = taken_for(story.history, list(slices(facts, STEPS)), STEPS, catalog.split())
    called = {field.id: field.name for field in story.truth.schema.fields}
    return {called[shown]: called[own] for shown, own in found.items()}


@pytest.mark.parametrize(
    ("steps", "catalog", "shown"),
    [
        ("insert 1; move f1 after f2", "id ts f1 f2 f3", {"f1": "f2", "f2": "f1"}),
        ("insert 1; move f1 after f2; upsert 1", "id ts f1 f2 f3", {"f1": "f2", "f2": "f1"}),
        ("insert 1; move f1 after f2", "id ts F1 F2 F3", {"f1": "f2", "f2": "f1"}),
        ("insert 1; move f1 after f2", "id ts f2 f1 f3", {}),
        ("insert 1; move f1 first", "id ts f1 f2 f3", {}),
        ("insert 1; move f1 after f2", "id ts f1 f2", {}),
        ("insert 1; move f1 after f2", "", {}),
    ],
)
def test_a_move_that_the_catalog_was_not_told_changes_what_is_under_its_names(
    steps: str, catalog: str, shown: dict[str, str]
) -> None:
    assert names(steps, catalog) == shown


def test_a_write_that_orders_the_columns_anew_makes_that_the_tables_order() -> None:
    found = names("insert 1; insert 2", "id ts f1 f2 f3", ("id", "ts", "f3", "f1", "f2"))
    assert found == {"f1": "f3", "f2": "f1", "f3": "f2"}


def test_a_column_that_came_after_such_a_write_stands_at_the_end() -> None:
    steps, newest = "insert 1; insert 2; add f4 string first", ("id", "ts", "f2", "f1", "f3")
    found = names(steps, "id ts f1 f2 f3 f4", newest)
    assert found == {"f1": "f2", "f2": "f1"}

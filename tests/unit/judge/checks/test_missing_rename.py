"""A rename is why a value is NULL only where a file holds it under a name of before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness.core.records import FindingKind
from harness.model.file_facts import FileFact
from harness.model.simulation import row_files
from tests.builders.judge_stages import differences, findings
from tests.builders.table_story import Story, changed, history

TOLD = history("insert 1,2; rename f1 g; insert 3")
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
    files = row_files.lying(story.history, facts, story.steps)
    state = replace(story.state(), row_files=files)
    reply = changed(story.read(), {"g": lambda _: None})
    found = findings(differences(state, reply.columns, reply.rows, state.schema.names), state)
    return {str(each.kind): {place.key for place in each.places} for each in found}


MISSED, LOST = str(FindingKind.MISSING_RENAME), str(FindingKind.LOST_VALUE)


def test_a_value_under_the_name_of_before_is_missed_by_the_rename_and_another_one_lost() -> None:
    assert called(TOLD, None) == {MISSED: {"1", "2"}, LOST: {"3"}}


@pytest.mark.parametrize("folder", ["", "col-f1=p1", "a8"])
def test_a_physical_name_is_the_same_before_the_rename_and_after(folder: str) -> None:
    assert called(TOLD, {"f1": "col-f1", "g": "col-f1"}, folder) == {LOST: {"1", "2", "3"}}
    assert called(TOLD, IN_PATH, folder) == {LOST: {"1", "2", "3"}}


def test_a_mapping_that_came_later_keeps_the_name_of_before_as_the_physical_one() -> None:
    assert called(TOLD, {"f1": "f1", "g": "f1"}) == {MISSED: {"1", "2", "3"}}
    assert called(TOLD, IN_PATH, "f1=p1") == {MISSED: {"1", "2", "3"}}

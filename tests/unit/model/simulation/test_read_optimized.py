"""What base files show by themselves: as the files tell, or not exact and how far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation.row_files import Base, base_rows
from tests.builders.table_story import Story, history

Change = Callable[[FileFact], FileFact | None]


def base_of(story: Story, change: Change = lambda fact: fact) -> Base:
    facts = [fact for file_fact in story.facts if (fact := change(file_fact)) is not None]
    return base_rows(story.history, facts, story.steps)


def versions(base: Base) -> dict[object, int]:
    """Return the step that last wrote each row."""
    return {key: max(row.written.values()) for key, row in base.rows.items()}


def test_changes_and_deletes_in_log_files_are_not_shown() -> None:
    base = base_of(history("insert 1..3; upsert 1; delete 2", mor=True))
    assert (versions(base), base.why, base.tables) == ({"1": 1, "2": 1, "3": 1}, "", 1)


def test_a_compaction_takes_in_what_came_before_it_and_nothing_after() -> None:
    base = base_of(history("insert 1..3; upsert 1; delete 2; compact; upsert 3", mor=True))
    assert (versions(base), base.why) == ({"1": 2, "3": 1}, "")


def test_a_compaction_that_the_files_do_not_show_did_not_take_place() -> None:
    story = history("insert 1..3; upsert 1; delete 2; compact", mor=True)
    base = base_of(story, lambda fact: fact if story.steps[fact.instant] < 4 else None)
    assert (versions(base), base.why) == ({"1": 1, "2": 1, "3": 1}, "")


def test_a_compaction_of_one_file_group_alone_is_seen_there_alone() -> None:
    story = history("insert 1,2; insert 3,4; upsert 1,3; compact", mor=True)
    base = base_of(
        story, lambda f: None if (story.steps[f.instant], f.file_group) == (4, "g2") else f
    )
    assert (versions(base), base.why) == ({"1": 3, "2": 1, "3": 2, "4": 2}, "")


def test_rows_of_a_group_that_has_only_log_files_are_not_shown() -> None:
    story = history("insert 1,2; insert 3", mor=True)
    base = base_of(story, lambda f: replace(f, kind=FileKind.LOG) if f.file_group == "g2" else f)
    assert (versions(base), base.why) == ({"1": 1, "2": 1}, "")


def test_a_row_written_again_after_its_delete_is_shown_as_the_base_file_has_it() -> None:
    base = base_of(history("insert 1,2; delete 2; upsert 2", mor=True))
    assert versions(base) == {"1": 1, "2": 1}


def test_partitions_have_base_files_of_their_own() -> None:
    columns = "id long, ts long, f1 string, p int"
    story = history(
        "insert 1..4; upsert 1; compact; upsert 2", columns, mor=True, partition_by=("p",)
    )
    assert versions(base_of(story)) == {1: 2, 2: 1, 3: 1, 4: 1}


def test_copy_on_write_has_no_other_rows_than_those_of_now() -> None:
    story = history("insert 1,2; upsert 1", mor=False)
    assert base_rows(story.history, (), {}, "no facts").rows == story.truth.rows


def without(key: str) -> Change:
    return lambda fact: replace(fact, keys=tuple(text for text in fact.keys if text != key))


@pytest.mark.parametrize("text", ["insert 1,2", "insert 1,2; delete 2", "insert 1,2; upsert 2"])
def test_a_row_that_no_file_holds_makes_it_inexact(text: str) -> None:
    base = base_of(history(text, mor=True), without("2"))
    assert base.doubt.startswith("row 2: files hold none, the model says that of step ")


def test_a_row_that_was_deleted_before_its_file_was_written_again_need_not_be_there() -> None:
    story = history("insert 1,2; delete 2; upsert 1", mor=True)
    last = story.facts[-1]
    again = replace(story.facts[0], instant=last.instant, keys=("1",))
    base = base_rows(story.history, [*story.facts, again], story.steps)
    assert (versions(base), base.why) == ({"1": 3}, "")


def holding(story: Story, step: int, *keys: str) -> Base:
    """Let the base file of a step hold other rows."""
    return base_of(story, lambda f: replace(f, keys=keys) if story.steps[f.instant] == step else f)


def test_a_row_that_was_deleted_before_its_file_was_written_is_not_to_be_shown() -> None:
    story = history("insert 1,2; upsert 1; delete 2; compact", mor=True)
    base = holding(story, 4, "1", "2")
    assert (versions(base), base.why) == ({"1": 2}, "")


def test_a_row_that_a_compaction_left_out_is_to_be_shown_as_it_was_then() -> None:
    story = history("insert 1,2; upsert 1,2; compact; upsert 1; delete 2", mor=True)
    base = holding(story, 3, "1")
    assert (versions(base), base.why) == ({"1": 2, "2": 2}, "")


def test_a_row_that_was_deleted_in_between_tells_nothing_of_a_file_without_it() -> None:
    story = history("insert 1,2; delete 2; upsert 1; compact; upsert 2", mor=True)
    assert versions(base_of(story)) == {"1": 3, "2": 5}
    lost = base_of(story, lambda fact: None if story.steps[fact.instant] == 5 else fact)
    assert lost.doubt == "row 2: files hold none, the model says that of step 5"


def test_a_row_that_the_truth_does_not_have_makes_it_inexact() -> None:
    base = base_of(history("insert 1,2", mor=True), lambda f: replace(f, keys=(*f.keys, "9")))
    assert "the truth has no row 9" in base.doubt


def test_a_row_in_two_base_files_makes_it_inexact() -> None:
    story = history("insert 1,2; insert 3", mor=True)
    twice = replace(story.facts[1], keys=("1", "3"), instant=story.facts[1].instant)
    base = base_rows(story.history, [story.facts[0], twice], story.steps)
    assert base.doubt == "row 1: two file groups hold it in their newest base files"


def test_without_facts_every_version_of_a_row_may_be_shown_or_none() -> None:
    story = history("insert 1,2; upsert 1; delete 2; insert 3", mor=True)
    base = base_rows(story.history, (), story.steps, "a log block of type 5 is not read")
    assert base.tables == 3 * 2 * 2
    assert base.why == (
        "a log block of type 5 is not read; not exact: 12 tables are admissible, "
        "each row in any version that it has had, or not at all"
    )

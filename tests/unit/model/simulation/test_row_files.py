"""Which files hold a row: of each slice the base file and the log files after it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from harness.core.records import FileValues, Outcome, OutcomeKind, StateRecord
from harness.judge.file_contents import Holdings
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation import row_files
from harness.model.simulation.column_resolution import WrittenFiles
from harness.model.simulation.row_files import Base, RowFile, base_rows
from tests.builders.simulated_disk import instant_of
from tests.builders.table_story import Story, history


def steps_of(
    story: Story, facts: Sequence[FileFact], steps: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    result = row_files.lying(WrittenFiles(story.history, facts, steps))
    return {key: tuple(file.step for file in files) for key, files in result.items()}


def steps_of_keys(text: str, *, mor: bool) -> dict[str, tuple[int, ...]]:
    story = history(text, mor=mor)
    return steps_of(story, story.facts, story.steps)


def test_a_file_written_again_holds_all_its_rows() -> None:
    assert steps_of_keys("insert 1,2; upsert 1; insert 3", mor=False) == {
        "1": (2,),
        "2": (2,),
        "3": (3,),
    }


def test_log_files_hold_rows_beside_the_base_file() -> None:
    assert steps_of_keys("insert 1,2; upsert 1; upsert 1", mor=True) == {"1": (1, 2, 3), "2": (1,)}


def test_compaction_leaves_the_base_file_alone() -> None:
    assert steps_of_keys("insert 1,2; upsert 1; compact", mor=True) == {"1": (3,), "2": (3,)}


def test_a_key_may_be_written_with_its_column() -> None:
    story = history("insert 1", mor=False)
    (fact,) = (file.fact() for file in story.disk.files)
    named = [replace(fact, keys=("id:1",))]
    assert steps_of(story, named, {instant_of(1): 1}) == {"1": (1,)}


def mapped(path: str, *stored: str) -> RowFile:
    columns = (("id", "string"), ("g", "string"))
    return RowFile(1, FileFact(path, FileKind.BASE, path, "1", columns, stored_names=stored))


def test_a_file_calls_its_columns_by_the_names_of_then_or_by_physical_ones() -> None:
    assert mapped("a.parquet").stored_as("g") == {"g"}
    assert mapped("a.parquet", "id", "f1").stored_as("g") == {"f1"}
    assert mapped("a.parquet", "id", "f1").stored_as("g.a") == {"f1.a"}


def test_a_partition_column_is_called_as_the_folder_says() -> None:
    assert mapped("q=1/p%20=p0/a.parquet", "id", "f1").stored_as("r") == {"q", "p "}
    assert mapped("a8/a.parquet", "id", "f1").stored_as("r") == {"a8"}


Change = Callable[[FileFact], FileFact | None]


def base_of(story: Story, change: Change = lambda fact: fact) -> Base:
    facts = [fact for file_fact in story.facts if (fact := change(file_fact)) is not None]
    return base_rows(WrittenFiles(story.history, facts, story.steps))


def versions(base: Base) -> dict[object, int]:
    return {key: max(row.written.values()) for key, row in base.rows.items()}


def test_a_compaction_takes_in_what_came_before_it_and_nothing_after() -> None:
    base = base_of(history("insert 1..3; upsert 1; delete 2; compact; upsert 3", mor=True))
    assert (versions(base), base.why) == ({"1": 2, "3": 1}, "")


def test_a_compaction_that_the_files_do_not_show_did_not_take_place() -> None:
    story = history("insert 1..3; upsert 1; delete 2; compact", mor=True)
    base = base_of(story, lambda fact: fact if story.steps[fact.instant] < 4 else None)
    assert (versions(base), base.why) == ({"1": 1, "2": 1, "3": 1}, "")


def test_rows_of_a_group_that_has_only_log_files_are_not_shown() -> None:
    story = history("insert 1,2; insert 3", mor=True)
    base = base_of(story, lambda f: replace(f, kind=FileKind.LOG) if f.file_group == "g2" else f)
    assert (versions(base), base.why) == ({"1": 1, "2": 1}, "")


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
    base = base_rows(WrittenFiles(story.history, [*story.facts, again], story.steps))
    assert (versions(base), base.why) == ({"1": 3}, "")


def with_keys(story: Story, step: int, *keys: str) -> Base:
    return base_of(story, lambda f: replace(f, keys=keys) if story.steps[f.instant] == step else f)


def test_a_row_that_was_deleted_before_its_file_was_written_is_not_to_be_shown() -> None:
    story = history("insert 1,2; upsert 1; delete 2; compact", mor=True)
    base = with_keys(story, 4, "1", "2")
    assert (versions(base), base.why) == ({"1": 2}, "")


def test_a_row_that_a_compaction_left_out_is_to_be_shown_as_it_was_then() -> None:
    story = history("insert 1,2; upsert 1,2; compact; upsert 1; delete 2", mor=True)
    base = with_keys(story, 3, "1")
    assert (versions(base), base.why) == ({"1": 2, "2": 2}, "")


def test_a_row_that_was_deleted_in_between_tells_nothing_of_a_file_without_it() -> None:
    story = history("insert 1,2; delete 2; upsert 1; compact; upsert 2", mor=True)
    assert versions(base_of(story)) == {"1": 3, "2": 5}
    lost = base_of(story, lambda fact: None if story.steps[fact.instant] == 5 else fact)
    assert lost.doubt == "row 2: files hold none, the model says that of step 5"


def test_a_row_in_two_base_files_makes_it_inexact() -> None:
    story = history("insert 1,2; insert 3", mor=True)
    twice = replace(story.facts[1], keys=("1", "3"), instant=story.facts[1].instant)
    base = base_rows(WrittenFiles(story.history, [story.facts[0], twice], story.steps))
    assert base.doubt == "row 1: two file groups hold it in their newest base files"


def test_without_facts_every_version_of_a_row_may_be_shown_or_none() -> None:
    story = history("insert 1,2; upsert 1; delete 2; insert 3", mor=True)
    base = base_rows(
        WrittenFiles(story.history, (), story.steps), "a log block of type 5 is not read"
    )
    assert base.tables == 3 * 2 * 2
    assert base.why == (
        "a log block of type 5 is not read; not exact: 12 tables are admissible, "
        "each row in any version that it has had, or not at all"
    )


STORY = history(
    "insert 1,2; update 1 set f2; compact schedule; rename f1 g; upsert 2; compact", mor=True
)
STEPS = {"1": 1, "2": 2, "4": 4, "5": 5, "6": 6, "300": 2}
"""What was scheduled at 300 took in the rows of step 2."""
SQL = [
    operation.sql(before, after)
    for operation, (before, after) in zip(STORY.operations, pairwise(STORY.history), strict=True)
]
SENT = tuple(
    StateRecord("v", Outcome(at, OutcomeKind.APPLIED, str(at), statements=sql), "d")
    for at, sql in enumerate(SQL, start=1)
)
WAITED = FileFact("b", FileKind.BASE, "g", "300", (), keys=("1", "2"))


def file(*names: str, instant: str = "300") -> FileFact:
    columns = tuple((name, "string") for name in ("_hoodie_record_key", *names))
    return replace(WAITED, columns=columns, instant=instant)


@pytest.mark.parametrize(
    ("fact", "step"),
    [
        (file("id", "ts", "f1", "f2"), 2),
        (file("id", "ts", "g", "f2"), 4),
        # Nothing else is taken for a file of another day: it is one that is wrong.
        (file("id", "ts", "f1"), 2),
        (file("id", "ts", "g"), 2),
        (file("id", "ts", "f1", "f2", instant="5"), 5),
    ],
)
def test_a_file_has_the_columns_of_the_day_on_which_it_was_written(
    fact: FileFact, step: int
) -> None:
    assert WrittenFiles(STORY.history, (), STEPS).columns_step(fact) == step


@pytest.mark.parametrize("lost", [(), (1, 2)])
def test_what_it_holds_is_compared_under_those_names(lost: tuple[int, ...]) -> None:
    fact, then = file("id", "ts", "g", "f2"), STORY.history[2]
    rows = [[row.values[field.id] for field in then.schema.fields] for row in then.rows.values()]
    shown = [[*row[:2], None if key in lost else row[2], row[3]] for key, row in enumerate(rows, 1)]
    content = FileValues(0, ("id", "ts", "g", "f2"), tuple(map(tuple, shown)))
    step = Outcome(6, OutcomeKind.APPLIED)
    state = StateRecord("v", step, "d", (fact,), others=(("300", 2),), values=(content,))
    differences = Holdings((*SENT, state), STORY.history).differences(fact)
    # The file only carries its rows: also that of step 2, to which only `f2` was sent.
    assert [
        (difference.key, difference.column, difference.actual, difference.sent)
        for difference in differences
    ] == [(str(key), "g", None, True) for key in lost]

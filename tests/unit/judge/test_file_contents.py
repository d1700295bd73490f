from dataclasses import replace
from datetime import datetime

import pytest

from harness.engines.library_writes import TableWrite, arrow_table
from harness.judge import file_contents
from harness.judge.file_contents import Holdings, NotKnown, ViewContent, keeps
from harness.model.canonical import Value, same, text_of
from harness.model.datatypes import parse_type
from harness.model.schema import Field, MergeMode
from harness.model.truth import row_values
from harness.scenario.operations.merge import Merge
from tests.builders.judged_story import case_of
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_disk import File
from tests.builders.table_story import Story, history
from tests.builders.traced_answer import Files


def content_of(story: Story, files: Files | None = None) -> ViewContent:
    case = case_of(story, files)
    return Holdings(case.states, story.history).content(case.states[-1].files)


def shown(story: Story, content: ViewContent) -> dict[str, tuple[Value, ...]]:
    schema = story.truth.schema
    return {text_of(row.key): row_values(row, schema) for row in content.rows.values()}


def with_value(name: str, value: Value, *, step: int) -> Files:

    def changed(file: File) -> File:
        records = {key: {**row, name: value} for key, row in file.records.items()}
        return replace(file, records=records) if file.step >= step else file

    return changed


@pytest.mark.parametrize("seed", range(8))
def test_files_of_any_history_hold_the_truth_and_differ_in_nothing(seed: int) -> None:
    story = story_of_seed(seed)
    content, schema = content_of(story), story.truth.schema
    expected = {text_of(row.key): row_values(row, schema) for row in story.truth.rows.values()}
    there = shown(story, content)
    assert there.keys() == expected.keys()
    assert all(same(there[key], expected[key]) for key in expected)
    assert (content.differences, content.twice) == ((), frozenset())


def test_a_value_of_another_type_in_a_file_is_a_difference_though_it_says_the_same() -> None:
    story = history("insert 1", "id string, ts long, n int")
    number = next(iter(story.truth.rows.values())).values[3]
    (result,) = content_of(story, with_value("n", str(number), step=1)).differences
    assert (result.column, result.expected, result.actual) == ("n", number, str(number))


@pytest.mark.parametrize(
    ("steps", "value", "sent"),
    [
        ("insert 1", "x", True),  # the step sent it
        ("insert 1,2; update 2 set f2", "x", False),  # of row 2 other values were sent: a rule
        ("insert 1; type n string; touch all", "x", True),  # sent again by the touch
        ("insert 1,2; type n string; update 2 set f2", "x", False),  # converted on the way
        ("insert 1,2; update 1,2 set f2", None, True),  # the statement leaves the column as it was
        ("insert 1,2; type n string; update 2 set f2", None, False),  # row 2 was touched
    ],
)
def test_what_no_rule_lies_between_counts_as_sent(steps: str, value: Value, *, sent: bool) -> None:
    story = history(steps, "id string, ts long, n int, f2 string")
    content = content_of(story, with_value("n", value, step=len(story.operations)))
    assert all(difference.sent for difference in content.differences) is sent


def test_a_row_that_was_carried_along_must_not_be_lost_or_made_null() -> None:
    story = history(
        "insert 1,2; type n string; update 2 set f2", "id string, ts long, n int, f2 int"
    )
    differences = content_of(story, with_value("n", None, step=3)).differences
    assert {difference.key: difference.sent for difference in differences} == {
        "1": True,
        "2": False,
    }


@pytest.mark.parametrize(("named", "sent"), [("f2", True), ("g", False)])
def test_a_value_that_no_statement_gave_the_row_under_its_column_is_not_the_models(
    named: str, *, sent: bool
) -> None:
    story = history(
        "insert 1,2; add g string; update 1 set f2", "id string, ts long, f1 string, f2 string"
    )
    case = case_of(story, with_value("g", "f1s1r1", step=3))
    # A statement that names the row and the column may have given it, whatever the model says.
    outcome = replace(
        case.states[-1].outcome, statements=(f"update t set `{named}` where '1', '2'",)
    )
    states = (*case.states[:-1], replace(case.states[-1], outcome=outcome))
    differences = Holdings(states, story.history).content(states[-1].files).differences
    assert {difference.key: difference.sent for difference in differences} == {"1": sent, "2": sent}


def test_what_an_older_file_may_hold_by_a_mistake_of_ours_is_no_better_when_carried_along() -> None:
    story = history(
        "insert 1,2; update 1 set f2; update 2 set f2", "id string, ts long, n int, f2 int"
    )
    spoilt = content_of(story, with_value("n", -1, step=2)).differences
    assert {difference.key: difference.sent for difference in spoilt}["1"] is False


def test_a_file_that_was_not_looked_at_makes_nothing_known() -> None:
    story = history("insert 1")
    case = case_of(story, looked_at=False)
    with pytest.raises(NotKnown, match="not looked at"):
        Holdings(case.states, story.history).content(case.states[-1].files)


def test_a_file_of_no_step_makes_nothing_known() -> None:
    story = history("insert 1")
    case = case_of(story)
    strange = replace(case.states[-1].files[0], instant="9")
    with pytest.raises(NotKnown, match="no step made the instant 9"):
        Holdings(case.states, story.history).content([strange])


@pytest.mark.parametrize("mode", MergeMode)
def test_log_files_hold_what_came_late_and_its_table_says_whether_that_stands(
    mode: MergeMode,
) -> None:
    steps = "insert 1,2,3; upsert 2; late upsert 1,2; late delete 3"
    story = history(steps, mor=True, merge_mode=mode)
    content, schema = content_of(story), story.truth.schema
    expected = {text_of(row.key): row_values(row, schema) for row in story.truth.rows.values()}
    assert shown(story, content) == expected
    assert content.differences == ()


COLUMNS = "id long, ts long, flag boolean, n int, f1 string"


def sql_of(story: Story, step: int) -> str:
    before, after = story.history[step - 1], story.history[step]
    return " ".join(story.operations[step - 1].sql(before, after))


def field(story: Story, name: str) -> Field:
    return story.truth.schema.find(name)


def test_a_statement_names_the_keys_that_it_deletes() -> None:
    story = history("insert 1,2,12; delete 1,12", COLUMNS)
    named = [
        key for key in (1, 2, 12) if file_contents.names(sql_of(story, 2), key, field(story, "id"))
    ]
    assert named == [1, 12]


@pytest.mark.parametrize(("key", "nobody_gave"), [("z", True), ("2", False)])
def test_a_row_that_stands_in_a_part_of_a_text_alone_was_given_by_no_statement(
    key: str, *, nobody_gave: bool
) -> None:
    story = history("insert 1; insert 2", "id string, f1 string")
    (*states, last) = case_of(story).states
    outcome = replace(
        last.outcome, statements=("insert into t select '2' as `id`, 'y\nz' as `f1`",)
    )
    holdings = Holdings([*states, replace(last, outcome=outcome)], story.history[:2])
    assert holdings.gone_sent(key, 1) is nobody_gave


@pytest.mark.parametrize("steps", ["update 1 set n", "merge"])
def test_an_update_leaves_the_columns_that_it_does_not_set(steps: str) -> None:
    story = history("insert 1..3; update 1 set n", COLUMNS)
    sql = sql_of(story, 2)
    if steps == "merge":
        (sql,) = Merge(update=(1,), set=("n",)).sql(story.history[1], story.history[2])
    key = field(story, "id")
    left = [text for text in ("flag", "n", "f1", "ts") if keeps(sql, (1, key), field(story, text))]
    assert left == ["flag", "f1"]
    assert not keeps(sql, (2, key), field(story, "f1"))


def test_a_library_that_was_told_a_row_was_told_its_values() -> None:
    text, number = parse_type("string"), parse_type("int")
    row = TableWrite((("id", text), ("n", number)), "id", (("a'b", 7), ("c", 8)))
    key, n = Field(1, "id", text), Field(2, "n", number)
    sent = f"write_deltalake(table, {arrow_table(row)}, mode='append')"
    assert file_contents.says(sent, ("a'b", key), 7, n)
    assert not file_contents.says(sent, ("a'b", key), 8, n)
    assert not file_contents.says(sent, ("b", key), 7, n)


def test_hive_says_a_time_without_a_zone_as_a_timestamp() -> None:
    key, at = Field(1, "id", parse_type("string")), Field(2, "at", parse_type("timestamp_ntz"))
    sent = "insert into t select 'a' as `id`, cast('1582-10-10 00:00:00' as timestamp) as `at`"
    value = datetime(1582, 10, 10)  # noqa: DTZ001 - it has none
    assert file_contents.says(sent, ("a", key), value, at)
    assert not file_contents.says(sent, ("a", key), value.replace(day=20), at)

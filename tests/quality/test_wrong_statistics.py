from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

import pytest

from harness.core.records import FindingKind, Responsible, Verdict, VerdictKind
from harness.judge.recorded_variant import RecordedVariant
from harness.judge.verdicts import judge
from harness.model.canonical import Value, text_of
from harness.model.file_facts import ColumnStatistics, StatisticsSource, StoredStatistics, bound
from harness.model.query import ALL, Comparison, Condition, Query
from harness.model.simulation.strategies import TRUSTED
from harness.scenario.cells import Cell
from tests.builders.judged_story import answer_of, blamed, case_of, with_last, without_rows
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reader, Reply
from tests.builders.table_story import Story, history
from tests.quality.asked import ask, questions

FOOTER: Final = StatisticsSource.PARQUET
SEEDS: Final = range(10)
NAN: Final = 'rows [{"id":"1","d":300.5},{"id":"2","d":NaN}]; insert 3'


def told_of(file: File, column: str, least: Value, greatest: Value) -> ColumnStatistics:
    rows = len(file.records)
    return ColumnStatistics(FOOTER, file.path, column, rows, 0, bound(least), bound(greatest))


def with_statistics(
    planted: Story, *statistics: ColumnStatistics, unknown: str = ""
) -> RecordedVariant:
    case = case_of(planted)
    last = replace(case.states[-1], statistics=StoredStatistics(statistics, unknown))
    return with_last(case, last)


def verdicts(case: RecordedVariant, asked: Sequence[tuple[Query, Reply]]) -> list[Verdict]:
    """Let one reader answer several questions about the last step."""
    step = len(case.states) - 1
    cells = [Cell("variant", step, "engine-1", "snapshot", f"q{n}") for n in range(len(asked))]
    answers = {
        cell.case: replace(answer_of(reply, question), case=cell.case)
        for cell, (question, reply) in zip(cells, asked, strict=True)
    }
    return list(judge(case, cells, answers))


def _equal(planted: Story, column: str, literal: str, type_: str) -> Query:
    assert planted.truth.schema.has(column)
    return Query(where=Condition(column, Comparison.EQUAL, literal, type_))


def put(
    planted: Story, asked: Query, lost: Collection[str], *statistics: ColumnStatistics
) -> Verdict:
    """Let a reader by id lose rows for a condition, and show the whole table rightly."""
    whole = ask(planted, ALL, Reader("id")), ask(planted, asked, Reader("id"))
    some = without_rows(whole[1], lost, planted.disk.table.key)
    _, verdict = verdicts(with_statistics(planted, *statistics), [(ALL, whole[0]), (asked, some)])
    return verdict


LOST_BY_STATISTICS: Final = {(FindingKind.LOST_ROW, Responsible.STATISTICS)}
LOST_BY_NOBODY: Final = {(FindingKind.LOST_ROW, None)}
LOST_BY_READER: Final = {(FindingKind.LOST_ROW, Responsible.READER)}

COLUMNS: Final = "id string, ts long, d double, s string, n decimal(9, 2), e double"
ROWS: Final = (
    'rows [{"id":"1","d":300.5,"s":"abcdef","n":"1.50","e":1.5},'
    '{"id":"2","d":NaN,"s":"abcxyz","n":"2.50","e":2.5}]; insert 3'
)
WRONG: Final = {
    "zero for a column with NaN": ("", "d", 0.0, 0.0, "d", "300.5", "double"),
    "a text cut and not raised": ("", "s", "abc", "abc", "s", "abcdef", "string"),
    "a decimal without its scale": ("", "n", 150, 250, "n", "1.50", "decimal(9, 2)"),
    "another column's": ("", "d", 1.5, 2.5, "d", "300.5", "double"),
    "under the name of today": ("; rename d g", "g", 0.0, 0.0, "g", "300.5", "double"),
    "under the name of then": ("; rename d g", "d", 0.0, 0.0, "g", "300.5", "double"),
    "of a former type": ("; type n decimal(12, 4)", "n", 15, 25, "n", "1.5000", "decimal(12, 4)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_row_that_the_writers_statistics_exclude_is_lost_by_the_writer(name: str) -> None:
    steps, column, least, greatest, *where = WRONG[name]
    truth_history = history(f"{ROWS}{steps}", COLUMNS)
    story = told_of(truth_history.disk.files[0], column, least, greatest)
    asked = _equal(truth_history, *where)
    assert [row[0] for row in ask(truth_history, asked, Reader("id")).rows] == ["1"]
    verdict = put(truth_history, asked, ["1"], story)
    assert blamed(verdict) == LOST_BY_STATISTICS
    assert any(TRUSTED in strategy for strategy in verdict.reproduces)
    assert verdict.claimed == ""  # an answer without a row names no way


def test_the_count_of_them_is_the_writers_as_well() -> None:
    truth_history = history(ROWS, COLUMNS)
    asked = replace(_equal(truth_history, "d", "300.5", "double"), count=True)
    story = told_of(truth_history.disk.files[0], "d", 0.0, 0.0)
    right, whole = ask(truth_history, asked, Reader("id")), ask(truth_history, ALL, Reader("id"))
    none = replace(right, rows=((0,),))
    _, verdict = verdicts(with_statistics(truth_history, story), [(ALL, whole), (asked, none)])
    assert blamed(verdict) == LOST_BY_STATISTICS


def test_one_row_group_of_two_loses_its_rows_and_the_way_is_claimed() -> None:
    truth_history = history("insert 1,2; touch", "id string, ts long, f1 string, f2 string")
    rows = [Condition("f1", Comparison.NOT_NULL)]
    file = truth_history.disk.files[0]
    story = ColumnStatistics(FOOTER, file.path, "f1", 1, 1, first=1)
    key = list(file.records)[1]
    verdict = put(truth_history, Query(where=rows[0]), [text_of(key)], story)
    assert blamed(verdict) == LOST_BY_STATISTICS
    assert TRUSTED in verdict.reproduces[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_the_history_a_file_left_out_by_wrong_statistics_is_the_writers(seed: int) -> None:
    result, key = story_of_seed(seed), story_of_seed(seed).disk.table.key
    for question in (q for q in questions(result) if q.text.startswith("predicate(")):
        right = ask(result, question.query, Reader("id"))
        at = [column.name for column in right.columns].index(key)
        there = {text_of(row[at]) for row in right.rows}
        for file, logs in result.disk.slices(result.truth.step).values():
            keys = {text_of(key) for key in file.records} & there
            path = question.query.filters[0]
            if not keys or any(log.records for log in logs) or "." in path:
                continue
            field = result.truth.schema.find(path)
            names = [f.name for f in file.schema.fields if f.id == field.id]
            null = question.query.where is not None and question.query.where.test is Comparison.NULL
            rows, name = len(file.records), (names or [path])[0]
            story = ColumnStatistics(FOOTER, file.path, name, rows, rows * (not null))
            verdict = put(result, question.query, keys, story)
            others = [strategy for strategy in verdict.reproduces if TRUSTED not in strategy]
            assert blamed(verdict) in (LOST_BY_STATISTICS, others and LOST_BY_NOBODY), question.text


def test_a_reader_that_shows_one_of_the_excluded_rows_lost_the_other_itself() -> None:
    truth_history = history("insert 1,2; touch")
    story = ColumnStatistics(FOOTER, truth_history.disk.files[0].path, "f1", 2, 2)
    verdict = put(truth_history, Query(where=Condition("f1", Comparison.NOT_NULL)), ["1"], story)
    assert blamed(verdict) == LOST_BY_READER


@pytest.mark.parametrize(
    ("least", "greatest"), [(300.5, 300.5), (300.5, float("nan")), (None, None), ("1", "2")]
)
def test_a_row_that_right_statistics_do_not_exclude_is_lost_by_the_reader(
    least: Value, greatest: Value
) -> None:
    truth_history = history(ROWS, COLUMNS)
    story = told_of(truth_history.disk.files[0], "d", least, greatest)
    verdict = put(truth_history, _equal(truth_history, "d", "300.5", "double"), ["1"], story)
    assert blamed(verdict) == LOST_BY_READER
    assert not any(TRUSTED in strategy for strategy in verdict.reproduces)


def test_statistics_of_another_column_or_file_do_not_excuse_the_reader() -> None:
    truth_history = history(ROWS, COLUMNS)
    first, second = truth_history.disk.files[:2]
    others = told_of(first, "e", 0.0, 0.0), told_of(second, "d", 0.0, 0.0)
    asked = _equal(truth_history, "d", "300.5", "double")
    assert blamed(put(truth_history, asked, ["1"], *others)) == LOST_BY_READER


def test_nobody_is_named_where_the_reader_may_read_by_position() -> None:
    truth_history = history(f"{ROWS}; move e after ts", COLUMNS)
    story = told_of(truth_history.disk.files[0], "d", 0.0, 0.0)
    asked = _equal(truth_history, "d", "300.5", "double")
    none = without_rows(ask(truth_history, asked, Reader("id")), ["1"], "id")
    (alone,) = verdicts(with_statistics(truth_history, story), [(asked, none)])
    assert "by position" in alone.reproduces
    assert blamed(alone) == LOST_BY_NOBODY
    assert blamed(put(truth_history, asked, ["1"], story)) == LOST_BY_STATISTICS


def test_nobody_is_named_for_a_lost_row_where_statistics_are_not_known() -> None:
    truth_history = history(ROWS, COLUMNS)
    case = with_statistics(truth_history, unknown="Spark refused to read them")
    asked = _equal(truth_history, "d", "300.5", "double")
    none = without_rows(ask(truth_history, asked, Reader("id")), ["1"], "id")
    (with_condition,) = verdicts(case, [(asked, none)])
    assert blamed(with_condition) == LOST_BY_NOBODY
    whole = without_rows(ask(truth_history, ALL, Reader("id")), ["1"], "id")
    (without_one,) = verdicts(case, [(ALL, whole)])
    assert blamed(without_one) == LOST_BY_READER


@pytest.mark.parametrize("seed", SEEDS)
def test_right_answers_stay_right_whatever_statistics_say(seed: int) -> None:
    story = story_of_seed(seed)
    statistics = [
        ColumnStatistics(FOOTER, file.path, name, len(file.records), len(file.records))
        for file in story.disk.files
        for name in file.names
    ]
    asked = [(query.query, ask(story, query.query, Reader("id"))) for query in questions(story)]
    for verdict in verdicts(with_statistics(story, *statistics), asked):
        assert (verdict.verdict, verdict.findings) == (VerdictKind.CORRECT, ())
        # Who trusts them may be right by chance: what another error adds, wrong statistics take.
        assert TRUSTED not in verdict.reproduces[0]

import datetime
from dataclasses import replace

import pytest

from harness.core.records import Responsible, Verdict, VerdictKind
from harness.judge.expectations import Expectations
from harness.judge.recorded_variant import RecordedVariant
from harness.model.query import Comparison, Condition, Query
from tests.builders.answered_run import doubtful
from tests.builders.conditions import not_null
from tests.builders.judged_story import answer_of, case_of, judged, verdict_on
from tests.builders.simulated_disk import File
from tests.builders.simulated_reader import Reply
from tests.builders.spoilt_files import empty_f1, shown_as_filed, spoilt_rows, touched, verdicts_on
from tests.builders.table_story import Story, changed, history
from tests.builders.traced_answer import Files


def asked(case: RecordedVariant, query: Query, reply: Reply) -> Verdict:
    return verdict_on(case, answer_of(reply, query))


def blamed(wrong: Verdict) -> Responsible | None:
    (finding,) = wrong.findings
    return finding.responsible


def test_of_a_wrong_file_and_a_wrong_reader_each_gets_his_own_finding() -> None:
    reply = shown_as_filed(touched(), spoilt_rows(empty_f1))
    at = reply.names.index("f1")
    lost = tuple((*row[:at], None, *row[at + 1 :]) for row in reply.rows)
    (result,) = verdicts_on(touched(), spoilt_rows(empty_f1), Reply(reply.columns, lost))
    places = {
        finding.responsible: {at.key for at in finding.witnesses} for finding in result.findings
    }
    assert places == {Responsible.WRITER: {"1"}, Responsible.READER: {"2", "3", "4"}}


def test_a_reader_is_to_blame_where_it_shows_neither_what_was_written_nor_what_is_there() -> None:
    reply = shown_as_filed(touched(), spoilt_rows(empty_f1))
    at = reply.names.index("f1")
    odd = tuple((*row[:at], row[at] or "nobody's", *row[at + 1 :]) for row in reply.rows)
    (result,) = verdicts_on(touched(), spoilt_rows(empty_f1), Reply(reply.columns, odd))
    assert blamed(result) is Responsible.READER


def test_nothing_is_claimed_where_the_files_were_not_looked_at() -> None:
    reply = shown_as_filed(touched(), spoilt_rows(empty_f1))
    (result,) = verdicts_on(touched(), spoilt_rows(empty_f1), reply, looked_at=False)
    assert (result.verdict, blamed(result)) == (VerdictKind.WRONG, None)


def test_the_model_is_not_in_doubt_where_one_engine_sides_with_it() -> None:
    made, files = doubtful()
    reply = shown_as_filed(made, files)
    verdicts = verdicts_on(made, files, reply, reply, made.read())
    assert [verdict.verdict for verdict in verdicts] == [
        *[VerdictKind.WRONG] * 2,
        VerdictKind.CORRECT,
    ]
    assert Responsible.MODEL not in {
        finding.responsible for verdict in verdicts for finding in verdict.findings
    }


def test_a_row_that_the_predicate_leaves_out_of_the_files_is_the_writers_doing() -> None:
    case = case_of(touched(), spoilt_rows(empty_f1))
    query = Query(where=not_null("f1"))
    seen = shown_as_filed(touched(), spoilt_rows(empty_f1))
    there = tuple(row for row in seen.rows if row[seen.names.index("f1")] is not None)
    verdict = asked(case, query, Reply(seen.columns, there))
    assert (verdict.findings[0].witness.key, blamed(verdict)) == ("1", Responsible.WRITER)


def differences(made: Story, files: Files | None) -> list[tuple[str, str]]:
    expectations = Expectations(case_of(made, files))
    beside = expectations.agreement(len(made.operations), "snapshot")
    assert beside is not None
    return [(discrepancy.key, discrepancy.text) for discrepancy in beside.discrepancies]


def test_what_the_files_hold_otherwise_is_reported_for_people() -> None:
    made = history("insert 1,2; delete 2", mor=True)

    def spoilt(file: File) -> File:
        return replace(spoilt_rows(empty_f1)(file) or file, deleted=())

    assert differences(made, None) == []
    assert differences(made, spoilt) == [
        ("1", "under f1 stands NULL; written was 'f3s1r1'"),
        ("2", "it was deleted or never written, and a file holds it"),
    ]
    assert differences(made, spoilt_rows(lambda key, row: None if key == "1" else row)) == [
        ("1", "it was written, and no file holds it")
    ]


@pytest.mark.parametrize("reader", ["prestodb-0.283{connector=hive}", "trino-476"])
def test_a_reader_that_cuts_timestamps_is_judged_by_what_it_can_show_of_the_files(
    reader: str,
) -> None:
    """PrestoDB's declaration: it shows milliseconds of microseconds, those of wrong files too."""
    made = history("insert 1..3; row id=4 at=2024-01-02T03:04:05.678901", "id string, at timestamp")
    wrong = datetime.datetime(2024, 1, 2, 3, 4, 5, 123_456)  # noqa: DTZ001 - no zone
    files = spoilt_rows(lambda key, row: {**row, "at": wrong} if key == "4" else row)
    case, reply = case_of(made, files), shown_as_filed(made, files)
    millis = changed(
        reply, {"at": lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)}
    )
    shown = millis if "presto" in reader else reply
    verdict = verdict_on(case, answer_of(shown), reader=reader)
    assert (verdict.verdict, blamed(verdict)) == (VerdictKind.WRONG, Responsible.WRITER)
    assert [witness.key for witness in verdict.findings[0].witnesses] == ["4"]


@pytest.mark.parametrize("lost", [(), ("f1",)])
def test_a_value_that_nothing_leads_to_is_lost_by_the_tables_own_record(
    lost: tuple[str, ...],
) -> None:
    truth_history = history("insert 1..3; rename f1 g")
    case = case_of(truth_history, None)
    last = case.states[-1]
    files = tuple(replace(file, lost_names=lost) for file in last.files)
    states = (*case.states[:-1], replace(last, files=files))
    (verdict,) = judged(replace(case, states=states), [truth_history.read("name")])
    assert blamed(verdict) is (Responsible.HISTORY if lost else Responsible.READER)


def without_names(case: RecordedVariant) -> RecordedVariant:
    return replace(
        case,
        states=tuple(
            replace(state, files=tuple(replace(file, nameless=True) for file in state.files))
            for state in case.states
        ),
    )


@pytest.mark.parametrize("nameless", [False, True])
@pytest.mark.parametrize(
    "story",
    [
        "insert 1..3; drop f1",
        "insert 1..3; move f1 after f2; insert 4",
        "insert 1..3; add g string after ts",
    ],
)
def test_in_files_without_names_another_column_at_its_place_is_the_catalogs_doing(
    story: str, *, nameless: bool
) -> None:
    truth_history = history(story)
    case = without_names(case_of(truth_history, None)) if nameless else case_of(truth_history, None)
    (verdict,) = judged(case, [truth_history.read("position")])
    assert verdict.findings
    assert {finding.responsible for finding in verdict.findings} == {
        Responsible.HISTORY if nameless else Responsible.READER
    }


@pytest.mark.parametrize("misled", [(), ("f2",)])
def test_a_dropped_value_that_comes_back_by_the_mapping_of_names_is_the_tables_own_doing(
    misled: tuple[str, ...],
) -> None:
    truth_history = history("insert 1..3; drop f2; add f2")
    case = case_of(truth_history, None)
    last = case.states[-1]
    files = tuple(replace(file, lost_names=misled, misled_names=misled) for file in last.files)
    states = (*case.states[:-1], replace(last, files=files))
    (verdict,) = judged(replace(case, states=states), [truth_history.read("name")])
    assert [finding.kind.value for finding in verdict.findings] == ["resurrected"]
    assert blamed(verdict) is (Responsible.HISTORY if misled else Responsible.READER)


IS_NULL = Condition("f2", Comparison.NULL)


@pytest.mark.parametrize(
    ("condition", "shown", "mapped", "responsible"),
    [
        (IS_NULL, (), True, Responsible.HISTORY),
        (not_null("f2"), (1, 2, 3), True, Responsible.HISTORY),
        # No mapping leads to the name, so that the column is NULL in these files.
        (IS_NULL, (), False, Responsible.READER),
        (not_null("f2"), (1, 2, 3), False, Responsible.READER),
        (Condition("f1", Comparison.NULL), (1, 2, 3), True, Responsible.READER),
    ],
)
def test_rows_that_a_condition_chooses_by_the_mapping_of_names_are_the_tables_own_doing(
    condition: Condition, shown: tuple[int, ...], *, mapped: bool, responsible: Responsible
) -> None:
    planted = history("insert 1..3; drop f2; add f2")
    case = case_of(planted, None)
    last = case.states[-1]
    misled = ("f2",) if mapped else ()
    files = tuple(replace(file, lost_names=("f2",), misled_names=misled) for file in last.files)
    states = (*case.states[:-1], replace(last, files=files))
    whole = planted.read("id")
    rows = tuple(row for row in whole.rows if int(str(row[0])) in shown)
    query = Query(where=condition)
    (verdict,) = judged(replace(case, states=states), [Reply(whole.columns, rows)], query=query)
    assert {finding.responsible for finding in verdict.findings} == {responsible}

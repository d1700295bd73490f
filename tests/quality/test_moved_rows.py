from dataclasses import replace

import pytest

from harness.core.records import FindingKind, Responsible, VerdictKind
from tests.builders.judged_story import blamed, case_of, judged, with_last
from tests.builders.simulated_reader import Reader, read
from tests.builders.table_story import Story, history

COLUMNS = "id string, ts long, f1 string, p string"
PLACE = tuple[FindingKind, Responsible | None, str, str]


def story(planted: Story, reader: Reader) -> tuple[VerdictKind, set[PLACE]]:
    (verdict,) = judged(case_of(planted), [read(planted.disk, planted.truth, reader)])
    return verdict.verdict, {
        (finding.kind, finding.responsible, place.key, place.column)
        for finding in verdict.findings
        for place in finding.witnesses
    }


def moved(*, mor: bool, more: str = "") -> Story:
    return history(f"insert 1..4; move_row 1 2{more}", COLUMNS, mor=mor, partition_by=("p",))


@pytest.mark.parametrize("mor", [False, True])
@pytest.mark.parametrize("more", ["", "; upsert 1", "; upsert 3; move_row 1 3"])
def test_a_reader_that_merges_by_the_key_shows_the_row_once(more: str, *, mor: bool) -> None:
    assert story(moved(mor=mor, more=more), Reader()) == (VerdictKind.CORRECT, set())


@pytest.mark.parametrize("logs", ["undeleted", "ignored"])
def test_a_reader_that_sees_no_deletes_or_no_log_files_shows_it_twice(logs: str) -> None:
    duplicate = (FindingKind.DUPLICATE, Responsible.READER, "1", "")
    for more in ("", "; insert 5"):
        planted_story = story(moved(mor=True, more=more), Reader(logs=logs))
        assert planted_story == (VerdictKind.WRONG, {duplicate})


def test_who_shows_only_the_partition_that_it_left_shows_an_older_version() -> None:
    result = moved(mor=False)
    before = history("insert 1..4", COLUMNS, partition_by=("p",)).read()
    (verdict,) = judged(case_of(result), [before])
    assert {(finding.kind, finding.responsible) for finding in verdict.findings} == {
        (FindingKind.STALE, Responsible.READER)
    }


def test_two_rows_of_one_key_that_files_hold_are_the_writers_doing() -> None:
    truth_history = history("insert 1..4; upsert 2", COLUMNS)
    case, reply = case_of(truth_history), truth_history.read()
    last = case.states[-1]
    values = last.values[-1]
    fact = last.files[values.file]
    other = replace(fact, path=f"other-{fact.path}", file_group="other")
    at = len(last.files)
    state = replace(
        last, files=(*last.files, other), values=(*last.values, replace(values, file=at))
    )
    key = reply.names.index("id")
    again = tuple(row for row in reply.rows if str(row[key]) in fact.keys)
    assert again
    verdicts = judged(with_last(case, state), [replace(reply, rows=(*reply.rows, *again))] * 2)
    for verdict in verdicts:
        assert blamed(verdict) == {(FindingKind.DUPLICATE, Responsible.WRITER)}


@pytest.mark.parametrize(
    ("statement", "responsible"),
    [
        ("truncate table `db`.`t`", Responsible.WRITER),
        ("delete from delta.`db`.`t` ", Responsible.WRITER),
        ("delete from t where f1 > 'a'", Responsible.UNSURE),
    ],
)
def test_rows_that_are_there_after_all_were_taken_away_are_the_writers_doing(
    statement: str, responsible: Responsible
) -> None:
    before, truth_history = history("insert 1,2", COLUMNS), history("insert 1,2; truncate", COLUMNS)
    case = case_of(truth_history)
    last, there = case.states[-1], case.states[-2]
    outcome = replace(last.outcome, statements=("register it", statement, "forget it"))
    case = with_last(case, replace(last, outcome=outcome, files=there.files, values=()))
    (verdict,) = judged(case, [before.read()])
    assert blamed(verdict) == {(FindingKind.GHOST_ROW, responsible)}

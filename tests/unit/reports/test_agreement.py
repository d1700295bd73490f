from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.records import (
    WRITERS,
    Answer,
    Column,
    Expected,
    Finding,
    FindingKind,
    Refusal,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.core.tolerances import LOWER, Normalised
from harness.model.query import Query
from harness.reports import agreement
from harness.reports.agreement import Agreement
from harness.run.load_run import ReaderInfo, Run
from tests.builders import sample_run

COLUMNS = (Column("id", "varchar", "string"), Column("n", "bigint", "long"))
COUNTED = Query(count=True)
VARIANT = sample_run.VARIANTS[0].id


def verdict(reader: str, kind: VerdictKind = VerdictKind.WRONG) -> Verdict:
    return Verdict(reader, "hudi/move", VARIANT, 3, reader, "snapshot", "all", kind)


def answer(reader: str, *rows: tuple[object, ...]) -> Answer:
    return Answer(reader, "select", COLUMNS, rows)


@pytest.fixture
def base(tmp_path: Path) -> Run:
    return sample_run.make(tmp_path / "run")


def run_of(base: Run, said: dict[str, tuple[Verdict, Answer]]) -> Run:
    readers = tuple(ReaderInfo(name, name.partition("{")[0], "stock") for name in said)
    cells = [replace(base.info.cells[0], reader=name, step=3) for name in said]
    info = replace(base.info, readers=readers, cells=tuple(cells))
    recorded = {cell.case: replace(said[cell.reader][0], case=cell.case) for cell in cells}
    answers = {cell.case: replace(said[cell.reader][1], case=cell.case) for cell in cells}
    return Run(base.folder, info, base.states, answers, recorded)


def groups(run: Run) -> tuple[Agreement, ...]:
    return agreement.agreements(run, run.verdicts)


def test_the_same_rows_in_another_order_are_the_same_answer(base: Run) -> None:
    run = run_of(
        base,
        {
            "a-1": (verdict("a-1"), answer("a-1", ("1", 1), ("2", 2))),
            "b-1": (verdict("b-1"), answer("b-1", ("2", 2), ("1", 1))),
        },
    )
    assert [group.readers for group in groups(run)] == [("a-1", "b-1")]


@pytest.mark.parametrize("other", [("1", 1.0), ("1", None), ("1", "1")])
def test_values_of_another_type_are_another_answer(base: Run, other: tuple[object, ...]) -> None:
    run = run_of(
        base,
        {
            "a-1": (verdict("a-1"), answer("a-1", ("1", 1))),
            "b-1": (verdict("b-1"), answer("b-1", other)),
        },
    )
    assert len(groups(run)) == 2


def test_who_was_not_asked_agrees_with_nobody_and_answered_nothing(base: Run) -> None:
    empty = answer("a-1")
    spared = replace(
        answer("b-1"), columns=(), not_applicable="it was not sent", probe="another case"
    )
    said = {
        "a-1": (verdict("a-1"), replace(empty, columns=())),
        "b-1": (verdict("b-1", VerdictKind.UNSUPPORTED), spared),
    }
    assert [group.readers for group in groups(run_of(base, said))] == [("a-1",), ("b-1",)]


def test_who_agrees_with_the_truth_comes_first(base: Run) -> None:
    run = run_of(
        base,
        {
            "a-1": (verdict("a-1"), answer("a-1", ("1", 2))),
            "b-1": (verdict("b-1"), answer("b-1", ("1", 2))),
            "c-1": (verdict("c-1", VerdictKind.CORRECT), answer("c-1", ("1", 1))),
        },
    )
    assert [(group.with_truth, group.readers) for group in groups(run)] == [
        (True, ("c-1",)),
        (False, ("a-1", "b-1")),
    ]
    assert agreement.alarms(run) == ()


def test_truth_standing_alone_against_two_engines_is_an_alarm(base: Run) -> None:
    run = run_of(
        base,
        {
            "a-1": (verdict("a-1"), answer("a-1", ("1", 2))),
            "b-1": (verdict("b-1"), answer("b-1", ("1", 2))),
            "c-1": (
                verdict("c-1", VerdictKind.REFUSED),
                replace(answer("c-1"), refusal=Refusal("K", "m")),
            ),
            "d-1": (
                verdict("d-1", VerdictKind.UNSUPPORTED),
                replace(answer("d-1"), not_applicable="it was not sent", probe="another case"),
            ),
        },
    )
    alarm = agreement.Alarm(((VARIANT, 3, "snapshot", "all"),), ("a-1", "b-1"), "")
    assert agreement.alarms(run) == (alarm,)
    assert alarm.text.endswith("Check the reference model before you blame them.")


@pytest.mark.parametrize("party", sorted(WRITERS))
def test_what_was_found_to_be_the_writers_is_no_alarm(base: Run, party: Responsible) -> None:
    lost = Finding(FindingKind.LOST_ROW, (), Witness("2", "", None, None), (), party)
    said = {name: (verdict(name), answer(name, ("1", 2))) for name in ("a-1", "b-1")}
    theirs = {
        name: (replace(each, findings=(lost,)), answer_) for name, (each, answer_) in said.items()
    }
    assert agreement.alarms(run_of(base, theirs)) == ()
    doubtful = replace(lost, responsible=Responsible.MODEL)
    verdict_, answer_ = said["b-1"]
    one = {**theirs, "b-1": (replace(verdict_, findings=(doubtful,)), answer_)}
    assert len(agreement.alarms(run_of(base, one))) == 1


def test_an_alarm_of_many_questions_says_how_many_and_names_each(base: Run) -> None:
    two = ((VARIANT, 3, "snapshot", "all"), (VARIANT, 4, "snapshot", "count"))
    alarm = agreement.Alarm(two, ("a-1", "b-1"), "")
    assert f"({VARIANT}, step 3, snapshot, all and 1 question more)" in alarm.text
    assert alarm.question_names == (
        f"{VARIANT}, step 3, snapshot, all",
        f"{VARIANT}, step 4, snapshot, count",
    )


def test_questions_that_the_same_readers_answer_alike_are_one_alarm(base: Run) -> None:
    said = {name: (verdict(name), answer(name, ("1", 2))) for name in ("a-1", "b-1")}
    run = run_of(base, said)
    later = [replace(cell, step=4) for cell in run.info.cells]
    again = {c.case: replace(said[c.reader][0], step=4, case=c.case) for c in later}
    answers = {c.case: replace(said[c.reader][1], case=c.case) for c in later}
    info = replace(run.info, cells=(*run.info.cells, *later))
    both = Run(
        base.folder, info, base.states, {**run.answers, **answers}, {**run.recorded, **again}
    )
    (alarm,) = agreement.alarms(both)
    assert [step for _, step, _, _ in alarm.questions] == [3, 4]


def test_an_alarm_names_the_one_read_strategy_that_all_of_them_have(base: Run) -> None:
    by_name = replace(verdict("a-1"), reproduces=("by name",))
    run = run_of(
        base,
        {
            "a-1": (by_name, answer("a-1", ("1", 2))),
            "b-1": (replace(by_name, reader="b-1", case="b-1"), answer("b-1", ("1", 2))),
        },
    )
    (alarm,) = agreement.alarms(run)
    assert "what reading by name gives" in alarm.text


def test_an_alarm_names_no_read_strategy_where_the_answers_prove_too_little(base: Run) -> None:
    count = replace(verdict("a-1"), reproduces=("by name",), inconclusive=True)
    said = {
        "a-1": (count, answer("a-1", ("1", 2))),
        "b-1": (replace(count, reader="b-1", case="b-1"), answer("b-1", ("1", 2))),
    }
    (alarm,) = agreement.alarms(run_of(base, said))
    assert alarm.strategy == ""


def test_two_settings_of_one_engine_are_no_alarm(base: Run) -> None:
    run = run_of(
        base,
        {
            "a-1{x=1}": (verdict("a-1{x=1}"), answer("a", ("1", 2))),
            "a-1{x=2}": (verdict("a-1{x=2}"), answer("a", ("1", 2))),
        },
    )
    assert agreement.alarms(run) == ()


def test_labels_that_engines_give_a_count_or_a_part_of_a_struct_are_no_difference(
    base: Run,
) -> None:
    for question, labels in (
        (COUNTED, ("_c0", "count(1)", "_col0")),
        (Query(columns=("a.b",)), ("b", "_col0", "a.b")),
    ):
        said = {
            f"{label}-1": (
                verdict(f"{label}-1"),
                Answer(
                    "", "select", (Column(label, "bigint", "long"),), ((7,),), question=question
                ),
            )
            for label in labels
        }
        (alarm,) = agreement.alarms(run_of(base, said))
        assert len(alarm.readers) == len(labels)


def test_a_name_that_came_in_lower_case_as_declared_is_no_difference(base: Run) -> None:
    expected = Expected((("id", "string"), ("N", "long")), (("1", 1),))
    lowered = replace(verdict("a-1"), expected=expected, normalised=(Normalised(LOWER, 1),))
    kept = replace(verdict("b-1"), expected=expected)
    spelt = replace(answer("b-1", ("1", 2)), columns=(COLUMNS[0], replace(COLUMNS[1], name="N")))
    run = run_of(base, {"a-1": (lowered, answer("a-1", ("1", 2))), "b-1": (kept, spelt)})
    assert len(agreement.alarms(run)) == 1
    undeclared = replace(lowered, normalised=())
    run = run_of(base, {"a-1": (undeclared, answer("a-1", ("1", 2))), "b-1": (kept, spelt)})
    assert agreement.alarms(run) == ()


def test_a_declared_type_counts_where_it_is_judged_to_be_another_one(base: Run) -> None:
    drift = Witness("", "n", "long", "string")
    other = replace(
        verdict("a-1"), findings=(Finding(FindingKind.TYPE_DRIFT, ("n",), drift, (drift,)),)
    )
    without = replace(answer("b-1", ("1", 2)), columns=(COLUMNS[0], Column("n", "BIGINT_TYPE")))
    said = {"a-1": (verdict("a-1"), answer("a-1", ("1", 2))), "b-1": (verdict("b-1"), without)}
    assert len(agreement.alarms(run_of(base, said))) == 1
    said["a-1"] = other, answer("a-1", ("1", 2))
    assert agreement.alarms(run_of(base, said)) == ()

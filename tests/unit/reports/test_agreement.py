from __future__ import annotations

from dataclasses import replace
from typing import Final

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
from harness.run.load_run import ReaderInfo, Run
from tests.builders import sample_run

COLUMNS: Final = (Column("id", "varchar", "string"), Column("n", "bigint", "long"))
VARIANT: Final = sample_run.VARIANTS[0].id
Answered = tuple[Verdict, Answer]


def answered(*rows: tuple[object, ...], kind: VerdictKind = VerdictKind.WRONG) -> Answered:
    """Return a verdict on an answer with these rows; its reader is set later."""
    verdict = Verdict("", "hudi/move", VARIANT, 3, "", "snapshot", "all", kind)
    return verdict, Answer("", "select", COLUMNS, rows)


WRONG: Final = answered(("1", 2))
"""What two engines that agree with each other say."""
SPARED: Final = answered(kind=VerdictKind.UNSUPPORTED)
NOT_SENT: Final = (
    SPARED[0],
    replace(SPARED[1], columns=(), not_applicable="it was not sent", probe="another case"),
)


def run_of(sampled: Run, answers_of: dict[str, Answered], *steps: int) -> Run:
    """Return a run in which each reader says so after these steps."""
    readers = tuple(ReaderInfo(name, name.partition("{")[0], "stock") for name in answers_of)
    cell = sampled.info.cells[0]
    cells = [replace(cell, reader=name, step=step) for step in steps or (3,) for name in answers_of]
    info = replace(sampled.info, readers=readers, cells=tuple(cells))
    verdicts = {
        c.case: replace(answers_of[c.reader][0], case=c.case, reader=c.reader, step=c.step)
        for c in cells
    }
    answers = {cell.case: replace(answers_of[cell.reader][1], case=cell.case) for cell in cells}
    return Run(sampled.folder, info, sampled.states, answers, verdicts)


def groups(run: Run) -> list[tuple[bool, tuple[str, ...]]]:
    return [(group.with_truth, group.readers) for group in agreement.agreements(run, run.verdicts)]


def alarms(sampled: Run, one: Answered, other: Answered) -> tuple[agreement.Alarm, ...]:
    return agreement.alarms(run_of(sampled, {"a-1": one, "b-1": other}))


def test_the_same_rows_in_another_order_are_the_same_answer(sampled: Run) -> None:
    answers_of = {"a-1": answered(("1", 1), ("2", 2)), "b-1": answered(("2", 2), ("1", 1))}
    assert groups(run_of(sampled, answers_of)) == [(False, ("a-1", "b-1"))]


@pytest.mark.parametrize("other", [("1", 1.0), ("1", None), ("1", "1")])
def test_values_of_another_type_are_another_answer(sampled: Run, other: tuple[object, ...]) -> None:
    run = run_of(sampled, {"a-1": answered(("1", 1)), "b-1": answered(other)})
    assert len(groups(run)) == 2
    assert agreement.alarms(run) == ()


def test_who_was_not_asked_agrees_with_nobody_and_answered_nothing(sampled: Run) -> None:
    verdict, answer = answered()
    answers_of = {"a-1": (verdict, replace(answer, columns=())), "b-1": NOT_SENT}
    assert groups(run_of(sampled, answers_of)) == [(False, ("a-1",)), (False, ("b-1",))]


def test_who_agrees_with_the_truth_comes_first(sampled: Run) -> None:
    right = answered(("1", 1), kind=VerdictKind.CORRECT)
    run = run_of(sampled, {"a-1": WRONG, "b-1": WRONG, "c-1": right})
    assert groups(run) == [(True, ("c-1",)), (False, ("a-1", "b-1"))]
    assert agreement.alarms(run) == ()


def test_truth_standing_alone_against_two_engines_is_an_alarm(sampled: Run) -> None:
    verdict, answer = answered(kind=VerdictKind.REFUSED)
    refused = verdict, replace(answer, refusal=Refusal("K", "m"))
    answers_of = {"a-1": WRONG, "b-1": WRONG, "c-1": refused, "d-1": NOT_SENT}
    (alarm,) = agreement.alarms(run_of(sampled, answers_of))
    assert alarm == agreement.Alarm(((VARIANT, 3, "snapshot", "all"),), ("a-1", "b-1"), "")
    assert alarm.text.endswith("Check the reference model before you blame them.")


@pytest.mark.parametrize("responsible", sorted(WRITERS))
def test_what_was_found_to_be_the_writers_is_no_alarm(
    sampled: Run, responsible: Responsible
) -> None:
    lost = Finding(FindingKind.LOST_ROW, (), Witness("2", "", None, None), (), responsible)
    doubtful = replace(lost, responsible=Responsible.MODEL)
    verdict, answer = WRONG
    theirs, one = (replace(verdict, findings=(f,)) for f in (lost, doubtful))
    assert alarms(sampled, (theirs, answer), (theirs, answer)) == ()
    assert len(alarms(sampled, (theirs, answer), (one, answer))) == 1


def test_questions_that_the_same_readers_answer_alike_are_one_alarm(sampled: Run) -> None:
    (alarm,) = agreement.alarms(run_of(sampled, {"a-1": WRONG, "b-1": WRONG}, 3, 4))
    assert [step for _, step, _, _ in alarm.questions] == [3, 4]
    assert f"({VARIANT}, step 3, snapshot, all and 1 question more)" in alarm.text


def test_an_alarm_names_the_one_read_strategy_that_all_of_them_have(sampled: Run) -> None:
    verdict, answer = WRONG
    by_name = replace(verdict, reproduces=("by name",)), answer
    (alarm,) = alarms(sampled, by_name, by_name)
    assert "what reading by name gives" in alarm.text


def test_two_settings_of_one_engine_are_no_alarm(sampled: Run) -> None:
    assert agreement.alarms(run_of(sampled, {"a-1{x=1}": WRONG, "a-1{x=2}": WRONG})) == ()


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        (Query(count=True), ("_c0", "count(1)", "_col0")),
        (Query(columns=("a.b",)), ("b", "_col0", "a.b")),
    ],
)
def test_labels_that_engines_give_a_count_or_a_part_of_a_struct_are_no_difference(
    sampled: Run, question: Query, labels: tuple[str, ...]
) -> None:
    def one(label: str) -> Answered:
        columns = (Column(label, "bigint", "long"),)
        return WRONG[0], Answer("", "select", columns, ((7,),), question=question)

    (alarm,) = agreement.alarms(run_of(sampled, {f"{label}-1": one(label) for label in labels}))
    assert len(alarm.readers) == len(labels)


def test_a_name_that_came_in_lower_case_as_declared_is_no_difference(sampled: Run) -> None:
    verdict, answer = WRONG
    spelt = replace(verdict, expected=Expected((("id", "string"), ("N", "long")), (("1", 1),)))
    upper = spelt, replace(answer, columns=(COLUMNS[0], replace(COLUMNS[1], name="N")))
    lowered = replace(spelt, normalised=(Normalised(LOWER, 1),))
    assert len(alarms(sampled, (lowered, answer), upper)) == 1
    assert alarms(sampled, (spelt, answer), upper) == ()


def test_a_declared_type_counts_where_it_is_judged_to_be_another_one(sampled: Run) -> None:
    verdict, answer = WRONG
    without = verdict, replace(answer, columns=(COLUMNS[0], Column("n", "BIGINT_TYPE")))
    drift = Witness("", "n", "long", "string")
    finding = Finding(FindingKind.TYPE_DRIFT, ("n",), drift, (drift,))
    assert len(alarms(sampled, WRONG, without)) == 1
    assert alarms(sampled, (replace(verdict, findings=(finding,)), answer), without) == ()

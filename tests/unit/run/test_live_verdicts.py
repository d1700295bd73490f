"""The kind that is told of an answer as it comes is that of its verdict, or it is said why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.core.records import Answer, Outcome, OutcomeKind, Refusal, VerdictKind
from harness.judge import verdicts as judge
from harness.judge.recorded_variant import RecordedVariant
from harness.plan.reader_support import declared
from harness.run.live_verdicts import VerdictKinds
from harness.scenario.cells import Cell, Plan
from tests.builders.judged_story import case_of, cell_at
from tests.builders.judged_story import case_without_values as as_filed
from tests.builders.random_story import story_of_seed
from tests.builders.simulated_reader import Reply
from tests.builders.spoilt_files import ONE, ZONELESS, cut, shown_as_filed, typed
from tests.builders.table_story import changed, history
from tests.unit.run.test_follow_run import doubtful

TOLD = history("insert 1..4; move f1 after f2; upsert 2", mor=True)
RIGHT, WRONG = TOLD.read(), TOLD.read("position")
HIVE = "hive-3.1.3{path=fetch}"
"""A reader that is declared not to know Hudi tables of version 9."""
REFUSED = Refusal("X", "cannot read it")
LOGS = "merged", "ignored"

PRESTODB, TRINO = "prestodb-0.283{connector=hive}", "trino-476"


def answer(cell: Cell, reply: Reply) -> Answer:
    return Answer(cell.case, "select", reply.columns, reply.rows)


def early(
    case: RecordedVariant, cells: Sequence[Cell], answers: Sequence[Answer]
) -> list[VerdictKind | None]:
    kinds = VerdictKinds(Plan("mine", (case.variant,), (), tuple(cells)))
    kinds.written(case.states)
    return [kinds.of(each) for each in answers]


def at_last(
    case: RecordedVariant, cells: Sequence[Cell], answers: Sequence[Answer]
) -> list[VerdictKind | None]:
    verdicts = judge.judge(case, cells, {each.case: each for each in answers})
    found = {each.case: each.verdict for each in verdicts}
    return [found.get(each.case) for each in answers]


def versioned(case: RecordedVariant, version: str) -> RecordedVariant:
    states = [replace(each, table_version=version) for each in case.states]
    return replace(case, states=states, limit=declared)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"columns": RIGHT.columns, "rows": RIGHT.rows}, VerdictKind.CORRECT),
        ({"columns": WRONG.columns, "rows": WRONG.rows}, VerdictKind.WRONG),
        ({"columns": RIGHT.columns, "rows": RIGHT.rows[1:]}, VerdictKind.WRONG),
        ({"columns": RIGHT.columns[1:], "rows": ()}, VerdictKind.WRONG),
        ({"refusal": REFUSED}, VerdictKind.REFUSED),
        ({"unknown": "time-out"}, VerdictKind.UNKNOWN),
        ({"void": "no such column"}, VerdictKind.UNKNOWN),
    ],
)
def test_the_kind_is_that_of_the_verdict(given: dict[str, object], kind: VerdictKind) -> None:
    case, cell = as_filed(TOLD), cell_at(TOLD)
    said = replace(Answer(cell.case, "select"), **given)  # type: ignore[arg-type]
    assert early(case, [cell], [said]) == at_last(case, [cell], [said]) == [kind]


@pytest.mark.parametrize(
    ("version", "kind"), [("8", VerdictKind.REFUSED), ("9", VerdictKind.UNSUPPORTED)]
)
def test_what_a_reader_is_declared_not_to_know_is_no_refusal(
    version: str, kind: VerdictKind
) -> None:
    case, cell = versioned(as_filed(TOLD), version), replace(cell_at(TOLD), reader=HIVE)
    said = Answer(cell.case, "select", refusal=REFUSED)
    assert early(case, [cell], [said]) == at_last(case, [cell], [said]) == [kind]


@pytest.mark.parametrize(
    ("reader", "kind"), [(PRESTODB, VerdictKind.CORRECT), (TRINO, VerdictKind.WRONG)]
)
def test_a_product_is_held_to_what_is_declared_of_it(reader: str, kind: VerdictKind) -> None:
    """Both have one type of timestamps, and only PrestoDB cuts them to milliseconds."""
    story = history("row id=1 at=2024-01-02T03:04:05.678901", ZONELESS)
    case, cell = as_filed(story), replace(cell_at(story), reader=reader)
    said = answer(cell, changed(typed(story, ONE), {"at": cut}))
    assert early(case, [cell], [said]) == at_last(case, [cell], [said]) == [kind]


def test_what_files_do_not_tell_is_unknown() -> None:
    case, cell = as_filed(TOLD), cell_at(TOLD, "read_optimized")
    case = replace(case, states=[replace(each, layout="unreadable") for each in case.states])
    said = answer(cell, RIGHT)
    assert early(case, [cell], [said]) == at_last(case, [cell], [said]) == [VerdictKind.UNKNOWN]


def test_where_a_refused_step_left_nothing_to_ask_there_is_no_verdict() -> None:
    refused = Outcome(2, OutcomeKind.REFUSED, refusal=REFUSED)
    case, cell = as_filed(TOLD, {2: refused}), cell_at(TOLD)
    said = Answer(cell.case, "", void="no such column")
    assert early(case, [cell], [said]) == at_last(case, [cell], [said]) == [None]


@pytest.mark.parametrize("seed", range(10))
def test_on_any_history_every_reader_has_the_kind_that_it_has_in_the_end(seed: int) -> None:
    story = story_of_seed(seed)
    replies = [story.read(by, logs=of) for by in ("id", "name", "position") for of in LOGS]
    cells = [replace(cell_at(story), reader=f"engine-{at}") for at in range(len(replies))]
    answers = [answer(*each) for each in zip(cells, replies, strict=True)]
    case = as_filed(story)
    assert early(case, cells, answers) == at_last(case, cells, answers)


def test_equal_answers_of_other_types_are_not_taken_for_each_other() -> None:
    """201001.0 equals 201001 in Python."""
    floats = tuple(
        tuple(float(each) if isinstance(each, int) else each for each in row) for row in RIGHT.rows
    )
    cells = [replace(cell_at(TOLD), reader=f"engine-{at}") for at in range(2)]
    replies = RIGHT, replace(RIGHT, rows=floats)
    answers = [answer(*each) for each in zip(cells, replies, strict=True)]
    kinds = early(as_filed(TOLD), cells, answers)
    assert kinds == [VerdictKind.CORRECT, VerdictKind.WRONG]


def test_where_the_model_is_in_doubt_what_is_told_to_be_wrong_is_unknown_in_the_end() -> None:
    made, files = doubtful()
    case, shown = case_of(made, files), shown_as_filed(made, files)
    cells = [replace(cell_at(made), reader=name) for name in ("trino-476", "hive-3.1.3")]
    answers = [answer(cell, shown) for cell in cells]
    assert early(case, cells, answers) == [VerdictKind.WRONG] * 2
    assert at_last(case, cells, answers) == [VerdictKind.UNKNOWN] * 2


def test_what_breaks_in_judging_does_not_break_off_the_asking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(judge.JudgedVariant, "kind", breaks)
    cell = cell_at(TOLD)
    assert early(as_filed(TOLD), [cell], [answer(cell, RIGHT)]) == [None]

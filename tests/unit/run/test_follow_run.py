"""The verdicts shown during a run are those at its end, whoever answers first."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.records import Answer, Responsible, Verdict, VerdictKind
from harness.scenario.cells import CONTROL, Cell, Plan, parse_reader
from tests.builders.followed_run import (
    READERS,
    REFUSED,
    WRITER,
    FollowedRun,
    doubtful,
    followed_run,
    record,
)
from tests.builders.judged_story import answer_of, case_of
from tests.builders.spoilt_files import empty_f1, shown_as_filed, spoilt_rows, touched
from tests.builders.table_story import history


def responsible_ones(verdict: Verdict) -> set[Responsible | None]:
    return {finding.responsible for finding in verdict.findings}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_engine_is_not_blamed_where_the_next_one_may_put_the_model_in_doubt(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    made, files = doubtful()
    going = followed_run(tmp_path, case_of(made, files))
    going.answers(order[0], answer_of(shown_as_filed(made, files)))
    assert going.final() == {}
    going.answers(order[1], answer_of(shown_as_filed(made, files)))
    assert going.final() == going.judged()
    assert {verdict.verdict for verdict in going.judged().values()} == {VerdictKind.UNKNOWN}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_writer_is_not_blamed_where_the_next_one_may_show_what_was_written(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    files = spoilt_rows(empty_f1)
    going = followed_run(tmp_path, case_of(touched(), files))
    replies = shown_as_filed(touched(), files), touched().read()
    going.answers(order[0], answer_of(replies[order[0]]))
    right_one = {1} & {order[0]}
    assert going.final().keys() == right_one
    going.answers(order[1], answer_of(replies[order[1]]))
    assert going.final() == going.judged()
    assert responsible_ones(going.judged()[0]) == {Responsible.UNSURE}


RENAMED = history("insert 1..3; rename f1 f1_new")


@pytest.mark.parametrize(
    "reply",
    [answer_of(RENAMED.read("name")), answer_of(RENAMED.read()), REFUSED],
    ids=["the reader's own mistake", "right", "refused"],
)
def test_what_no_other_answer_can_turn_is_reported_at_once(tmp_path: Path, reply: Answer) -> None:
    going = followed_run(tmp_path, case_of(RENAMED))
    going.answers(0, reply)
    at_once = going.final()
    going.answers(1, answer_of(RENAMED.read()))
    assert at_once == {0: going.judged()[0]}


@pytest.mark.parametrize("answered", [(0,), (0, 1), (2, 1)])
def test_of_a_run_that_ended_before_all_answered_its_own_verdict_is_reported(
    tmp_path: Path, answered: tuple[int, ...]
) -> None:
    made, files = doubtful()
    going = followed_run(tmp_path, case_of(made, files), READERS)
    for at in answered:
        going.answers(at, answer_of(shown_as_filed(made, files)))
    assert going.final() == {}
    last = {at: going.following.last(cell.case) for at, cell in enumerate(going.cells)}
    judged = going.judged()
    assert {
        at: cell_outcome.verdict for at, cell_outcome in last.items() if cell_outcome is not None
    } == judged
    # One voice never puts the model in doubt.
    kind = VerdictKind.WRONG if len(answered) == 1 else VerdictKind.UNKNOWN
    assert {judged[at].verdict for at in answered} == {kind}
    silent = [verdict.because for at, verdict in judged.items() if at not in answered]
    assert set(silent) == {"did not run"}


OTHER = "trino-479@container"


def with_control(folder: Path) -> FollowedRun:
    """Return a run of a reader that is not shipped: its control, then another table."""
    cases = case_of(history("insert 1..2; insert 3")), case_of(RENAMED)
    names = CONTROL, "mine/renamed"
    variants, states = [], []
    for name, case in zip(names, cases, strict=True):
        scenario = replace(case.variant.scenario, name=name)
        writers = (WRITER,) * len(case.states)
        variants.append(replace(case.variant, id=name, scenario=scenario, writers=writers))
        states += [replace(state, variant=name) for state in case.states]
    cells = [Cell(variant.id, 2, OTHER, "snapshot", "all") for variant in variants]
    plan = Plan("mine", tuple(variants), (parse_reader(OTHER),), tuple(cells))
    return record(folder, plan, states)


@pytest.mark.parametrize(
    ("control", "kind"),
    [
        (answer_of(history("insert 1..2; insert 3").read()), VerdictKind.WRONG),
        (answer_of(history("insert 1..2").read()), VerdictKind.UNKNOWN),
        (REFUSED, VerdictKind.UNKNOWN),
    ],
    ids=["right", "wrong", "refused"],
)
def test_nothing_is_reported_of_a_reader_before_its_control(
    tmp_path: Path, control: Answer, kind: VerdictKind
) -> None:
    going = with_control(tmp_path)
    going.answers(1, answer_of(RENAMED.read("name")))
    assert going.final() == {}
    going.answers(0, control)
    assert going.final() == going.judged()
    assert going.judged()[1].verdict is kind

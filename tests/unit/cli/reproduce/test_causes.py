"""Findings of real answers, and of simulated readers, by their causes."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.reproduce import causes
from harness.cli.reproduce.causes import Sign
from harness.core.records import (
    Answer,
    Finding,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    Responsible,
    Verdict,
    VerdictKind,
    Witness,
)
from harness.judge.verdicts import judge
from harness.run import load_run, plan_record
from harness.run.load_run import Run
from harness.scenario.cells import Cell
from tests.builders import spoilt_files
from tests.builders.candidates import scenario_of
from tests.builders.judged_story import case_of, case_without_values, judged_answer
from tests.builders.simulated_reader import Reader, read
from tests.builders.table_story import Story, history
from tests.builders.traced_answer import Files


def grouped(run: Run) -> tuple[causes.CauseGroup, ...]:
    variants = plan_record.plan_of(run.info).variants
    return causes.groups(variants, run.recorded.values(), run.answers)


def test_every_wrong_or_refused_case_of_a_reader_is_in_a_group(judged: Path) -> None:
    run, kinds = load_run.load(judged), {VerdictKind.WRONG, VerdictKind.REFUSED}
    red = {verdict.case for verdict in run.verdicts if verdict.verdict in kinds}
    assert {case for group in grouped(run) for case in group.cases} == red
    assert len(red) > 20


def test_groups_have_distinct_names_that_files_can_have_and_the_earliest_case_as_witness(
    judged: Path,
) -> None:
    groups_of_run = grouped(load_run.load(judged))
    names = [group.cause.name for group in groups_of_run]
    assert len(set(names)) == len(names)
    assert all(
        len(name) < 100 and name.replace("-", "a").replace(".", "a").isalnum() for name in names
    )
    for group in groups_of_run:
        steps = [int(case.split("/s")[1].split("/")[0]) for case in group.cases]
        assert group.witness.step == min(steps)
        assert group.witness.case in group.cases


def inconclusive(strategies: tuple[str, ...]) -> Sign:
    story = history("insert 1,2; rename f1 g")
    verdict = judged_answer(story, story.read("name"))
    (sign,) = causes.signs(replace(verdict, reproduces=strategies, inconclusive=True), None)
    return sign


def test_a_strategy_that_is_not_claimed_names_no_cause() -> None:
    sign = inconclusive(("by name",))
    claimed = Sign(sign.kind, ("by name",))
    assert (sign.strategy, claimed.strategy) == ("", "by name")
    assert sign != claimed
    assert str(sign) == "missing_rename (by name; too little to name it by)"
    names = {causes.Cause("rename_column", "r", "snapshot", "f", s).name for s in (sign, claimed)}
    assert sum("by-name" in name for name in names) == 1
    assert inconclusive(("by id", "by name")) == Sign(sign.kind, ("by id", "by name"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("insert 1; delete 1", "delete"),
        ("insert 1; move f1 after f2", "move_column"),
        ("insert 1; move f1 after f2; touch all", "move_column then touch"),
        ("insert 1; move f1 after f2; rename f1 g; delete 1", "rename_column then delete"),
    ],
)
def test_a_write_after_a_schema_change_is_named_with_it(text: str, named: str) -> None:
    scenario = scenario_of(history(text))
    assert causes.operation_of(scenario, len(scenario.steps)) == named


def of_files(story: Story, files: Files) -> tuple[causes.CauseGroup, ...]:
    """Let two readers show what spoilt files hold, and group what is found."""
    reply = spoilt_files.shown_as_filed(story, files)
    verdicts = spoilt_files.verdicts_on(story, files, reply, reply)
    return causes.groups([case_of(story).variant], verdicts, {})


def test_what_a_writer_spoilt_is_one_cause_of_its_writer_whoever_reads_it() -> None:
    (group,) = of_files(spoilt_files.touched(), spoilt_files.spoilt_rows(spoilt_files.empty_f1))
    assert (group.cause.suspect, group.cause.sign.responsible) == (
        "writer writer",
        Responsible.WRITER,
    )
    assert group.cause.sign.strategies == ()
    assert len(group.cases) == 2
    assert "writer writer" in str(group.cause)


def test_what_puts_the_model_in_doubt_is_a_cause_of_the_models() -> None:
    story = history("insert 1..3; type n string; update 1 set f1", spoilt_files.COLUMNS)
    result = of_files(story, spoilt_files.spoilt_rows(spoilt_files.spelled, step=3))
    assert {group.cause.suspect for group in result} == {"model"}
    assert {group.witness.verdict for group in result} == {VerdictKind.UNKNOWN}


def test_every_step_that_a_writer_refused_is_a_cause_after_its_own_operation() -> None:
    story = history("insert 1; move f1 after f2; rename f1 g")
    no = Refusal("AnalysisException", "no such thing")
    outcomes = {at: Outcome(at, OutcomeKind.REFUSED, refusal=no) for at in (2, 3)}
    case = case_without_values(story, outcomes)
    verdicts = judge(case, [], {})
    states = {(state.variant, state.outcome.step): state for state in case.states}
    result = causes.groups([case.variant], verdicts, causes.step_answers(verdicts, states))
    assert {group.cause.operation for group in result} == {"move_column", "rename_column"}
    assert {group.cause.sign for group in result} == {Sign("refused AnalysisException", ())}
    assert {(group.cause.suspect, group.cause.view) for group in result} == {
        ("writer writer", "write")
    }


def test_a_step_that_was_recorded_wrongly_is_a_cause_of_its_writer() -> None:
    story = history("insert 1; drop f2; rename f1 g")
    case = case_without_values(story, {})
    witness = Witness("", "f2", 8, 7)
    result = Finding(FindingKind.LOW_MAX_ID, ("f2",), witness, (witness,), Responsible.HISTORY)
    wrong = Verdict(
        "step", "s", "variant", 3, "writer", "write", "step", VerdictKind.WRONG, (result,)
    )
    states = {(state.variant, state.outcome.step): state for state in case.states}
    answers = causes.step_answers([wrong], states)
    assert answers["step"].refusal is None
    (group,) = causes.groups([case.variant], [wrong], answers)
    assert group.cause.operation == "rename_column"
    assert group.cause.sign == Sign("low_max_id", (), Responsible.HISTORY)
    assert (group.cause.suspect, group.cause.view) == ("writer writer", "write")


def test_a_view_of_the_past_is_one_whatever_step_it_goes_back_to() -> None:
    story = history("insert 1..3; move f1 after f2; insert 4; insert 5; add f3")
    case, cells = case_without_values(story), list[Cell]()
    asked = dict[str, Answer]()
    for step, back in ((4, 3), (5, 4)):
        cells.append(Cell("variant", step, "engine-1", f"as_of({back})", "all"))
        reply = read(story.disk, story.history[back], Reader("position"))
        asked[cells[-1].case] = Answer(cells[-1].case, "", reply.columns, reply.rows)
    cells.append(Cell("variant", 5, "engine-1", "incremental(1)", "all"))
    reply = story.read()
    asked[cells[-1].case] = Answer(cells[-1].case, "", reply.columns, reply.rows)
    verdicts = judge(case, cells, asked)
    assert {verdict.verdict for verdict in verdicts} == {VerdictKind.WRONG}
    result = {group.cause.view: group for group in causes.groups([case.variant], verdicts, asked)}
    assert {view: group.cases for view, group in result.items()} == {
        "as_of": (cells[0].case, cells[1].case),
        "incremental": (cells[2].case,),
    }
    assert result["as_of"].cause.sign == Sign("misaligned", ("by position",))
    assert result["incremental"].cause.sign == Sign("ghost_row", ())


@pytest.mark.parametrize(
    ("sign", "shown", "same"),
    [
        (Sign("lost_row", ("a", "b")), Sign("lost_row", ("a", "b", "c")), True),
        (Sign("lost_row", ("a", "b")), Sign("lost_row", ("a",)), False),
        (Sign("lost_row", ("a", "b")), Sign("stale", ("a", "b")), False),
        (Sign("lost_row", ("a",)), Sign("lost_row", ("a", "b")), False),
        (Sign("stale", ("a",), inconclusive=True), Sign("stale", ("a", "b")), True),
        (Sign("stale", ("a",), inconclusive=True), Sign("stale", ("b",)), False),
        (Sign("stale", ("a",)), Sign("stale", ("a",), inconclusive=True), False),
        (Sign("stale", (), Responsible.MODEL), Sign("stale", (), Responsible.WRITER), True),
        (Sign("stale", (), Responsible.MODEL), Sign("stale", ()), False),
        (Sign("stale", ()), Sign("stale", (), Responsible.MODEL), False),
    ],
)
def test_a_sign_is_seen_again_where_all_its_strategies_still_fit(
    sign: Sign, shown: Sign, *, same: bool
) -> None:
    assert sign.among(frozenset({shown})) == same

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness import run
from harness.cells import Cell, Variant
from harness.errors import UsageProblem
from harness.model.datatypes import parse_type
from harness.model.table import Table
from harness.operations.insert import Insert
from harness.operations.rename_column import RenameColumn
from harness.record import OutcomeKind, VerdictKind
from harness.run import DID_NOT_RUN, NOT_JUDGED, Run, StepInfo
from harness.scenario.definition import Scenario, Step
from tests.recorded import sample


@pytest.fixture
def sampled(tmp_path: Path) -> Run:
    return sample.make(tmp_path / "run")


def test_what_is_written_is_what_is_read_back(tmp_path: Path, sampled: Run) -> None:
    run.write_info(tmp_path / "again", sampled.info)
    assert run.read_info(tmp_path / "again") == sampled.info


def test_a_cell_is_found_by_its_case_in_the_file(sampled: Run) -> None:
    written = json.loads((sampled.folder / run.INFO).read_text("utf-8"))
    assert written["cells"][0]["case"] == sampled.info.cells[0].case


def test_a_planned_cell_without_a_record_is_unknown_and_says_that_it_did_not_run(
    sampled: Run,
) -> None:
    missing = [each for each in sampled.verdicts if each.because == DID_NOT_RUN]
    assert {each.verdict for each in missing} == {VerdictKind.UNKNOWN}
    assert {(each.scenario, each.step, each.reader) for each in missing} == sample.NOT_ASKED


def test_a_run_that_died_before_the_first_answer_is_unknown_in_every_cell(sampled: Run) -> None:
    for name in (run.STATES, run.ANSWERS, run.VERDICTS):
        (sampled.folder / name).unlink()
    died = run.load(sampled.folder)
    assert len(died.verdicts) == len(sampled.info.cells)
    assert {each.because for each in died.verdicts} == {DID_NOT_RUN}


def test_an_answer_that_nobody_judged_is_unknown_and_says_so(sampled: Run) -> None:
    (sampled.folder / run.VERDICTS).write_text("")
    reasons = {each.because for each in run.load(sampled.folder).verdicts}
    assert reasons == {DID_NOT_RUN, NOT_JUDGED}


def test_cells_of_a_skipped_step_are_none_and_the_step_is_listed(sampled: Run) -> None:
    skipped = [each for each in sampled.failed_steps if each.outcome.kind is OutcomeKind.SKIPPED]
    assert {each.step.number for each in skipped} == {7}
    assert any(cell.step == 7 for cell in sampled.info.cells)
    assert not any(each.step == 7 for each in sampled.verdicts)


def test_a_question_that_fell_away_is_no_cell(sampled: Run) -> None:
    case = sampled.verdicts[0].case
    void = replace(sampled.answers[case], void="after step 3 there is no column 'g'")
    recorded = {name: each for name, each in sampled.recorded.items() if name != case}
    found = replace(sampled, answers={**sampled.answers, case: void}, recorded=recorded)
    assert {each.case for each in sampled.verdicts} - {each.case for each in found.verdicts} == {
        case
    }


def test_a_refused_step_is_listed_and_its_verdict_is_no_cell(sampled: Run) -> None:
    refused = [each for each in sampled.failed_steps if each.outcome.kind is OutcomeKind.REFUSED]
    assert [each.step.text for each in refused] == ["change type of n from long to int"] * 2
    assert {each.step for each in sampled.step_verdicts} == {6}
    assert not any(each.view == run.WRITE for each in sampled.verdicts)


def test_the_last_record_of_a_case_counts(sampled: Run) -> None:
    path = sampled.folder / run.VERDICTS
    first = path.read_text("utf-8").splitlines()[0]
    with path.open("a", encoding="utf-8") as more:
        more.write(first.replace('"verdict":"correct"', '"verdict":"unknown"') + "\n")
    assert run.load(sampled.folder).verdicts[0].verdict is VerdictKind.UNKNOWN


def test_a_line_cut_off_by_a_death_is_left_out(sampled: Run) -> None:
    path = sampled.folder / run.ANSWERS
    path.write_text(path.read_text("utf-8")[:-5])
    assert len(run.load(sampled.folder).answers) == len(sampled.answers) - 1


def test_a_bad_record_is_told_by_file_and_line(sampled: Run) -> None:
    path = sampled.folder / run.ANSWERS
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:2], '{"case": 1}', *lines[2:]]) + "\n")
    with pytest.raises(UsageProblem, match=r"answers\.jsonl:3: case"):
        run.load(sampled.folder)


def test_a_folder_without_a_run_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"is no run: it has no run\.json"):
        run.load(tmp_path)


def test_a_broken_run_file_is_wrong_use_and_names_the_field(tmp_path: Path) -> None:
    (tmp_path / run.INFO).write_text('{"id": 7}')
    with pytest.raises(UsageProblem, match=r"run\.json: id: "):
        run.load(tmp_path)


def test_a_record_of_an_unplanned_variant_breaks_nothing(sampled: Run) -> None:
    assert sampled.step("nobody's", 3) == StepInfo(3, "step 3")
    assert sampled.distribution("nobody's-1") == "nobody's-1"


def test_the_frame_has_a_row_for_each_cell(sampled: Run) -> None:
    frame = sampled.to_frame()
    assert list(frame["case"]) == [each.case for each in sampled.verdicts]
    stale = frame[frame.findings == "stale"].iloc[0]
    assert (stale.reader, stale.columns, stale.step_text) == (
        "trino-476",
        "ts",
        sample.MOVE[3].text,
    )
    assert stale.reproduces == "by name, base files only"


def test_an_empty_run_has_an_empty_frame_with_columns(tmp_path: Path, sampled: Run) -> None:
    folder = tmp_path / "empty"
    run.write_info(folder, run.RunInfo("r", "p", sampled.info.started, "0", (), (), ()))
    frame = run.load(folder).to_frame()
    assert frame.empty
    assert "verdict" in frame.columns


def test_a_planned_variant_is_described_by_its_scenario() -> None:
    table = Table((("id", parse_type("string")), ("f1", parse_type("string"))), key="id")
    steps = (Step(Insert((1,))), Step(RenameColumn("f1", "g"), quiet=True))
    scenario = Scenario("a/b", table, steps, about="why")
    info = run.variant_info(Variant("a/b[x]", scenario, "x", {"s": "1"}, ("w", "w", "w")))
    assert (info.scenario, info.key, info.about, info.settings) == ("a/b", "id", "why", {"s": "1"})
    assert [each.number for each in info.steps] == [1, 2]
    assert [each.changes_schema for each in info.steps] == [False, True]
    assert [each.quiet for each in info.steps] == [False, True]


def test_a_cell_of_the_plan_is_the_same_after_reading(sampled: Run) -> None:
    assert sampled.info.cells[0] == Cell(
        sample.VARIANTS[0].id, 1, sample.NAMES[0], "snapshot", "all"
    )

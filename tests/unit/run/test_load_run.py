import datetime
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.cli.named_parts import NamedParts
from harness.core import jsonl
from harness.core.errors import UsageProblem
from harness.core.records import Answer, Column, OutcomeKind, Part, Refusal, VerdictKind
from harness.core.runtime_names import MetastoreChoice
from harness.run import load_run, plan_record, run_judge
from harness.run.load_run import DID_NOT_RUN, NOT_JUDGED, Run
from harness.scenario.cells import Cell, Partly, Plan, Reader, parse_reader
from tests.builders import sample_run


@pytest.fixture
def sampled(tmp_path: Path) -> Run:
    return sample_run.make(tmp_path / "run")


def test_a_planned_cell_without_a_record_is_unknown_and_says_that_it_did_not_run(
    sampled: Run,
) -> None:
    missing = [verdict for verdict in sampled.verdicts if verdict.because == DID_NOT_RUN]
    assert {verdict.verdict for verdict in missing} == {VerdictKind.UNKNOWN}
    assert {(entry.scenario, entry.step, entry.reader) for entry in missing} == sample_run.NOT_ASKED


def test_an_answer_that_nobody_judged_is_unknown_and_says_so(sampled: Run) -> None:
    (sampled.folder / load_run.VERDICTS).write_text("")
    reasons = {verdict.because for verdict in load_run.load(sampled.folder).verdicts}
    assert reasons == {DID_NOT_RUN, NOT_JUDGED}


def test_a_run_that_died_before_the_first_answer_is_unknown_in_every_cell(sampled: Run) -> None:
    for name in (load_run.STATES, load_run.ANSWERS, load_run.VERDICTS):
        (sampled.folder / name).unlink()
    died = load_run.load(sampled.folder)
    assert len(died.verdicts) == len(sampled.info.cells)
    assert {verdict.because for verdict in died.verdicts} == {DID_NOT_RUN}


def test_cells_of_a_skipped_step_are_none_and_the_step_is_listed(sampled: Run) -> None:
    skipped = [
        result for result in sampled.failed_steps if result.outcome.kind is OutcomeKind.SKIPPED
    ]
    assert {result.step.number for result in skipped} == {7}
    assert any(cell.step == 7 for cell in sampled.info.cells)
    assert not any(verdict.step == 7 for verdict in sampled.verdicts)


def test_a_question_that_fell_away_is_no_cell(sampled: Run) -> None:
    case = sampled.verdicts[0].case
    answer = replace(sampled.answers[case], not_applicable="after step 3 there is no column 'g'")
    recorded = {name: verdict for name, verdict in sampled.recorded.items() if name != case}
    run = replace(sampled, answers={**sampled.answers, case: answer}, recorded=recorded)
    assert {verdict.case for verdict in sampled.verdicts} - {
        verdict.case for verdict in run.verdicts
    } == {case}


def test_a_refused_step_is_listed_and_its_verdict_is_no_cell(sampled: Run) -> None:
    refused = [
        result for result in sampled.failed_steps if result.outcome.kind is OutcomeKind.REFUSED
    ]
    assert [result.step.text for result in refused] == ["change type of n from long to int"] * 2
    assert {verdict.step for verdict in sampled.step_verdicts} == {6}
    assert not any(verdict.view == load_run.WRITE for verdict in sampled.verdicts)


def test_the_last_record_of_a_case_counts(sampled: Run) -> None:
    path = sampled.folder / load_run.VERDICTS
    first = path.read_text("utf-8").splitlines()[0]
    with path.open("a", encoding="utf-8") as more:
        more.write(first.replace('"verdict":"correct"', '"verdict":"unknown"') + "\n")
    assert load_run.load(sampled.folder).verdicts[0].verdict is VerdictKind.UNKNOWN


def test_a_bad_record_is_reported_by_file_and_line(sampled: Run) -> None:
    path = sampled.folder / load_run.ANSWERS
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:2], '{"case": 1}', *lines[2:]]) + "\n")
    with pytest.raises(UsageProblem, match=r"answers\.jsonl:3: case"):
        len(load_run.load(sampled.folder).answers)


COLUMN = Column("id", "varchar", "string")
TABLE = Part("id", "select", (COLUMN,), (("1",),))


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (replace(TABLE, raw=((1, 0, "x"),)), "raw names a cell that is not there, 1, 0"),
        (replace(TABLE, raw=((0, -1, "x"),)), "raw names a cell that is not there, 0, -1"),
        (replace(TABLE, rows=(("1",), ())), "row 2 has 0 values for 1 column"),
        (replace(TABLE, rows=(("1", 2),)), "row 1 has 2 values for 1 column"),
    ],
)
def test_an_answer_that_contradicts_itself_is_reported_by_its_case(
    sampled: Run, part: Part, why: str
) -> None:
    path = sampled.folder / load_run.ANSWERS
    whole = Answer("a/case", "select", part.columns, part.rows, raw=part.raw)
    refused = Answer("a/case", "select", refusal=Refusal("X", "x"), parts=(part,))
    for answer, where in ((whole, "a/case"), (refused, "a/case, id asked alone")):
        path.write_text(jsonl.dump(answer) + "\n", encoding="utf-8")
        run = load_run.load(sampled.folder)
        with pytest.raises(UsageProblem, match=re.escape(f"answers.jsonl:1: {where}: {why}; ")):
            run.answers["a/case"]


def test_the_frame_has_a_row_for_each_cell(sampled: Run) -> None:
    frame = sampled.to_frame()
    assert list(frame["case"]) == [verdict.case for verdict in sampled.verdicts]
    stale = frame[frame.findings == "stale"].iloc[0]
    assert (stale.reader, stale.columns, stale.step_text) == (
        "trino-476",
        "ts",
        sample_run.MOVE[3].text,
    )
    assert stale.reproduces == stale.claimed == "by name, base files only"


def test_a_folder_without_a_run_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"is not a run: it has no run\.json"):
        load_run.read_info(tmp_path)


def test_a_broken_run_file_is_wrong_use_and_names_the_field(tmp_path: Path) -> None:
    (tmp_path / load_run.INFO).write_text('{"id": 7}')
    with pytest.raises(UsageProblem, match=r"run\.json: id: "):
        load_run.read_info(tmp_path)


def test_a_cell_of_the_plan_is_the_same_after_reading(sampled: Run) -> None:
    assert sampled.info.cells[0] == Cell(
        sample_run.VARIANTS[0].id, 1, sample_run.NAMES[0], "snapshot", "all"
    )


NOW = datetime.datetime(2031, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
RECORDED = Path(__file__).parents[2] / "recorded" / "findings_a5"


def test_a_plan_is_the_same_after_it_was_written_down(tmp_path: Path) -> None:
    plan = replace(plan_options.make(None, "quick-start", ""), partly=(Partly("r", 1, 2, 3),))
    load_run.write_info(tmp_path, plan_record.info_of(plan, "x", NOW))
    again = plan_record.plan_of(load_run.read_info(tmp_path))
    assert again.cells == plan.cells
    assert again.readers == plan.readers
    assert again.partly == plan.partly
    for variant, made in zip(again.variants, plan.variants, strict=True):
        assert (variant.id, variant.format, variant.writers) == (made.id, made.format, made.writers)
        assert variant.scenario.table == made.scenario.table
        operations = [step.operation for step in made.scenario.steps]
        assert [step.operation for step in variant.scenario.steps] == operations


def test_through_which_metastore_is_written_down_with_what_it_is_made_of(tmp_path: Path) -> None:
    through = MetastoreChoice("hive-metastore-4.0.1", "hive-metastore-2.3.10")
    plan = replace(plan_options.make(None, "first", ""), metastore=through)
    load_run.write_info(tmp_path, plan_record.info_of(plan, "x", NOW))
    result = load_run.read_info(tmp_path)
    assert plan_record.plan_of(result).metastore == through
    assert result.metastore is not None
    newer = "hive-metastore-4.0.1", "hive-schematool-4.0.1"
    assert tuple(result.metastore.fidelity) == ("hive-metastore-2.3.10", *newer)


def add_reader(folder: Path, reader: Reader) -> Plan:
    return plan_record.plan_of(plan_record.with_reader(load_run.read_info(folder), reader))


def test_a_reader_that_is_added_is_asked_what_the_others_are(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    before = load_run.read_info(folder)
    reader = parse_reader("hive-3.1.3{path=fetch, schema-on-read=on}")
    plan = add_reader(folder, reader)
    new = [cell for cell in plan.cells if cell.reader == str(reader)]
    asked = {(cell.variant, cell.step, cell.view, cell.query) for cell in before.cells}
    assert {(cell.variant, cell.step, cell.view, cell.query) for cell in new} == asked
    assert len(new) == len(asked)
    again = plan_record.with_reader(load_run.read_info(folder), reader)
    assert plan_record.with_reader(again, reader) == again
    assert load_run.read_info(folder) == before


def test_a_reader_is_not_asked_what_it_cannot_be_and_the_plan_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    before = load_run.read_info(folder)
    plan = add_reader(folder, parse_reader("spark-3.5.8-iceberg-1.10.1"))
    assert plan.cells == before.cells
    left_out = [exclusion.what for exclusion in plan.excluded if exclusion not in before.excluded]
    assert left_out == ["spark-3.5.8-iceberg-1.10.1 on hudi-cow"]


def test_a_reader_is_not_asked_for_views_that_it_does_not_have(tmp_path: Path) -> None:
    plan = plan_options.make(None, "time_travel", "hudi/a5[hudi-cow")
    load_run.write_info(tmp_path, plan_record.info_of(plan, "x", NOW))
    reader = "hive-3.1.3{path=fetch, schema-on-read=off}"
    added = add_reader(tmp_path, parse_reader(reader))
    new = [cell for cell in added.cells if cell not in plan.cells]
    assert {cell.view.partition("(")[0] for cell in new} == {"incremental"}
    left_out = {exclusion.what for exclusion in added.excluded if exclusion not in plan.excluded}
    assert left_out == {f"as_of by {reader} on hudi-cow"}


def test_a_reader_that_needs_a_control_is_added_where_there_is_one(tmp_path: Path) -> None:
    other = parse_reader("trino-479@container")
    plain = plan_options.make(None, "first", "")
    load_run.write_info(tmp_path / "plain", plan_record.info_of(plain, "x", NOW))
    with pytest.raises(UsageProblem, match=r"this run has none of hudi-cow tables; run the pr"):
        add_reader(tmp_path / "plain", other)
    made = plan_options.make(None, "first", "", named=NamedParts(readers=["trino-475@container"]))
    load_run.write_info(tmp_path / "own", plan_record.info_of(made, "x", NOW))
    added = add_reader(tmp_path / "own", other)
    assert len(run_judge.controls_of(added)[str(other), "hudi-cow"]) == 1

"""A plan survives being written down, and readers are added to it."""

from __future__ import annotations

import datetime
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import plan_options
from harness.cli.plan_options import NamedParts
from harness.core.errors import UsageProblem
from harness.core.runtime_names import MetastoreChoice
from harness.run import load_run, plan_record, run_judge
from harness.scenario.cells import Partly, parse_reader

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


def test_a_reader_that_is_added_is_asked_what_the_others_are(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    before = load_run.read_info(folder)
    reader = parse_reader("hive-3.1.3{path=fetch, schema-on-read=on}")
    plan = plan_record.add_reader(folder, reader)
    new = [cell for cell in plan.cells if cell.reader == str(reader)]
    asked = {(cell.variant, cell.step, cell.view, cell.query) for cell in before.cells}
    assert {(cell.variant, cell.step, cell.view, cell.query) for cell in new} == asked
    assert len(new) == len(asked)
    assert plan_record.add_reader(folder, reader).cells == plan.cells


def test_a_reader_is_not_asked_what_it_cannot_be_and_the_plan_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    before = load_run.read_info(folder)
    plan = plan_record.add_reader(folder, parse_reader("spark-3.5.8-iceberg-1.10.1"))
    assert plan.cells == before.cells
    left_out = [exclusion.what for exclusion in plan.excluded if exclusion not in before.excluded]
    assert left_out == ["spark-3.5.8-iceberg-1.10.1 on hudi-cow"]


def test_a_reader_is_not_asked_for_views_that_it_does_not_have(tmp_path: Path) -> None:
    plan = plan_options.make(None, "time_travel", "hudi/a5[hudi-cow")
    load_run.write_info(tmp_path, plan_record.info_of(plan, "x", NOW))
    reader = "hive-3.1.3{path=fetch, schema-on-read=off}"
    added = plan_record.add_reader(tmp_path, parse_reader(reader))
    new = [cell for cell in added.cells if cell not in plan.cells]
    assert {cell.view.partition("(")[0] for cell in new} == {"incremental"}
    left_out = {exclusion.what for exclusion in added.excluded if exclusion not in plan.excluded}
    assert left_out == {f"as_of by {reader} on hudi-cow"}


def test_a_reader_that_needs_a_control_is_added_where_there_is_one(tmp_path: Path) -> None:
    other = parse_reader("trino-479@container")
    plain = plan_options.make(None, "first", "")
    load_run.write_info(tmp_path / "plain", plan_record.info_of(plain, "x", NOW))
    with pytest.raises(UsageProblem, match=r"this run has none of hudi-cow tables; run the pr"):
        plan_record.add_reader(tmp_path / "plain", other)
    made = plan_options.make(None, "first", "", named=NamedParts(readers=["trino-475@container"]))
    load_run.write_info(tmp_path / "own", plan_record.info_of(made, "x", NOW))
    added = plan_record.add_reader(tmp_path / "own", other)
    assert len(run_judge.controls_of(added)[str(other), "hudi-cow"]) == 1

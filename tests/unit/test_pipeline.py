"""The verbs on a run's folder: folders, and a plan that survives being written down."""

from __future__ import annotations

import datetime
import shutil
from pathlib import Path

import pytest

from harness import pipeline, planning, run
from harness.cells import parse_reader
from harness.errors import UsageProblem
from harness.runtimes.cache import Cache

NOW = datetime.datetime(2031, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
RECORDED = Path(__file__).parents[1] / "recorded" / "findings_a5"


def test_a_plan_is_the_same_after_it_was_written_down(tmp_path: Path) -> None:
    plan = planning.make(None, "quick-start", "")
    run.write_info(tmp_path, pipeline.info_of(plan, "x", NOW))
    again = pipeline.plan_of(run.read_info(tmp_path))
    assert again.cells == plan.cells
    assert again.readers == plan.readers
    for found, made in zip(again.variants, plan.variants, strict=True):
        assert (found.id, found.format, found.writers) == (made.id, made.format, made.writers)
        assert found.scenario.table == made.scenario.table
        operations = [step.operation for step in made.scenario.steps]
        assert [step.operation for step in found.scenario.steps] == operations


def test_a_reader_that_is_added_is_asked_what_the_others_are(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    before = run.read_info(folder)
    reader = parse_reader("hive-3.1.3{path=fetch, schema-on-read=on}")
    plan = pipeline.add_reader(folder, reader)
    new = [cell for cell in plan.cells if cell.reader == str(reader)]
    asked = {(cell.variant, cell.step, cell.view, cell.query) for cell in before.cells}
    assert {(cell.variant, cell.step, cell.view, cell.query) for cell in new} == asked
    assert len(new) == len(asked)
    assert pipeline.add_reader(folder, reader).cells == plan.cells


def test_a_state_that_is_no_longer_kept_is_told_with_what_to_do(tmp_path: Path) -> None:
    found = run.load(RECORDED)
    with pytest.raises(UsageProblem, match=r"no longer in .*run the profile again"):
        pipeline.states_of(found.states, Cache(tmp_path))


def test_a_reader_is_not_asked_what_it_cannot_be_and_the_plan_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(RECORDED, folder)
    before = run.read_info(folder)
    plan = pipeline.add_reader(folder, parse_reader("spark-3.5.8-iceberg-1.10.1"))
    assert plan.cells == before.cells
    left_out = [each.what for each in plan.excluded if each not in before.excluded]
    assert left_out == ["spark-3.5.8-iceberg-1.10.1 on hudi-cow"]


def test_a_reader_is_not_asked_for_views_that_it_does_not_have(tmp_path: Path) -> None:
    plan = planning.make(None, "time_travel", "hudi/a5[hudi-cow")
    run.write_info(tmp_path, pipeline.info_of(plan, "x", NOW))
    added = pipeline.add_reader(tmp_path, parse_reader("hive-3.1.3{path=fetch}"))
    new = [cell for cell in added.cells if cell not in plan.cells]
    assert {cell.view.partition("(")[0] for cell in new} == {"incremental"}
    left_out = {each.what for each in added.excluded if each not in plan.excluded}
    assert left_out == {"as_of by hive-3.1.3{path=fetch} on hudi-cow"}

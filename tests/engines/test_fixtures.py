"""Tables that real writers wrote are exported, and read back without the harness.

Read by name, as the page's reader does: right where no file is older than a rename.
"""

import json
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.artifacts.cache import Cache
from harness.core.records import OutcomeKind
from harness.run import export_fixtures
from harness.run.export_fixtures import Selection, plain
from harness.run.load_run import Run
from harness.scenario.load import loads
from tests.engines.planned_run import by_format
from tests.wheel import ROOT

pytestmark = pytest.mark.engines

PAGE = (ROOT / "docs" / "fixtures.md").read_text(encoding="utf-8")
SCENARIO = """table:
  columns:
    id: string
    ts: long
    f1: int
    price: "decimal(10,2)"
    day: date
    f2: string
  key: id
  order_by: ts
formats: [hudi-cow, hive-parquet, iceberg]
steps:
  - insert: [1, 2]
  - insert: [3]
  - add_column: {name: f3, type: double}
  - insert: [4]
  - rename_column: {name: f2, to: g}
  - insert: [5]
"""
RENAMED = 5
PLAN = by_format(
    "fixtures",
    (replace(loads(SCENARIO, "own/fixtures.yaml"), name="own/fixtures"),),
    {"trino-476": ("hudi-cow", "hive-parquet")},
)


@pytest.fixture(scope="module")
def folder(run: Run, cache: Cache, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fixtures") / "out"
    export_fixtures.export(run, cache, made, Selection())
    return made


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text("utf-8")))


def test_every_applied_step_has_a_fixture_and_only_icebergs_cannot_be_moved(
    run: Run, manifest: dict[str, Any]
) -> None:
    applied = sum(state.outcome.kind is OutcomeKind.APPLIED for state in run.states)
    result = {
        (variant["format"], step["fixture"]["moves"], bool(step["fixture"]["location"]))
        for variant in manifest["variants"]
        for step in variant["steps"]
        if step["fixture"]
    }
    assert sum(bool(s["fixture"]) for v in manifest["variants"] for s in v["steps"]) == applied
    assert result == {
        ("hudi-cow", True, False),
        ("hive-parquet", True, False),
        ("iceberg", False, True),
    }


def test_what_is_expected_is_what_the_judge_expects(
    run: Run, folder: Path, manifest: dict[str, Any]
) -> None:
    tables = {
        (variant["id"], step["step"], asked["view"], asked["query"]): asked
        for variant in manifest["variants"]
        for step in variant["steps"]
        if step["fixture"]
        for asked in json.loads((folder / step["fixture"]["expected"]["path"]).read_text("utf-8"))[
            "questions"
        ]
    }
    judged = [verdict for verdict in run.verdicts if verdict.expected is not None]
    assert judged
    for answered in judged:
        assert answered.expected
        assert tables[answered.question]["rows"] == [
            list(map(plain, row)) for row in answered.expected.rows
        ]


def test_the_reader_of_the_page_is_right_until_a_file_is_older_than_a_rename(
    folder: Path, tmp_path: Path
) -> None:
    reader = tmp_path / "check_fixtures.py"
    reader.write_text(PAGE.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    result = list(runpy.run_path(str(reader))["check"](folder))
    assert {table for table, _, _ in result} == {variant.id for variant in PLAN.variants}
    wrong = {step for _, step, right in result if not right}
    assert min(wrong) == RENAMED
    assert {step for _, step, right in result if right} >= set(range(RENAMED))

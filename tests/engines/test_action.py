"""The action for GitHub runs a real upgrade, by the harness of the checkout."""

import sys
from pathlib import Path

import pytest

from harness.artifacts.cache import ENVIRONMENT_VARIABLE, Cache
from tests.builders import action_run

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

RENAMED = """
about: A column is renamed.
table:
  columns: {id: string, f1: string}
  key: id
steps:
  - insert: [1, 2]
  - rename_column: {name: f1, to: f9}
  - insert: [3]
"""
PROGRAMS = {
    "harness": f'exec {sys.executable} -m harness "$@"',
    "python": ": # the checkout's harness is installed",
}


def test_a_real_upgrade_is_answered_in_a_comment(
    tmp_path: Path, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(cache.root))
    (tmp_path / "my.yaml").write_text(RENAMED, encoding="utf-8")
    (programs := tmp_path / "programs").mkdir()
    for name, line in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    inputs = {
        "from": "duckdb-1.5.5",
        "to": "duckdb-2.0.1",
        "arguments": "my.yaml --format hive-parquet",
    }
    with action_run.github() as github:
        job = action_run.run(tmp_path, inputs, github.address, str(programs))
    # Both sides refuse questions of the table's old column, so something stays unknown.
    assert job.outputs["status"] == "3", job.text
    assert job.statuses[-1] == int(job.outputs["status"])
    assert "duckdb-2.0.1" in github.comments[1]
    assert job.summary in github.comments[1]

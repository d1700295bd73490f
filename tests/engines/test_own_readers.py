"""A user's own engines: a wrong set-up is reported and never judged, others are asked."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest

from harness.plan import scenarios_folder

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

UNKNOWN = 3
READERS = """
trino-typo:
  like: trino-476
  catalogs: {hudi: {hudi.parquet.use-columns-names: "true"}}
hive-typo:
  like: hive-3.1.3
  properties: {hive.fetch.task.conversions: none}
spark-typo:
  like: spark-3.5.8-hudi-1.0.2
  properties: {hoodie.enable.data.skiping: "false", spark.sql.parquet.enableVectorizedReder: "true"}
spark-ours:
  like: spark-3.5.8-hudi-1.0.2
  properties: {spark.sql.session.timeZone: Asia/Tokyo}
"""
NO_BUNDLE = """
name: hive-no-bundle
like: hive-3.1.3
artifacts: {front: []}
"""


def mine(folder: Path) -> Path:
    (folder / "own").mkdir()
    copyfile(scenarios_folder() / "hudi" / "move.yaml", folder / "own" / "move.yaml")
    return folder


def harness(folder: Path, *arguments: str) -> int:
    command = [sys.executable, "-m", "harness", *arguments, "--scenarios", str(folder)]
    return subprocess.run(command, check=False, cwd=folder).returncode


def run(folder: Path, *readers: str) -> tuple[int, list[Mapping[str, Any]]]:
    named = [part for name in readers for part in ("--reader", name)]
    status = harness(folder, "run", "--profile", "first", *named, "--run-dir", str(folder / "run"))
    lines = (folder / "run" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return status, [json.loads(line) for line in lines]


WRONG = {
    "hive-typo": "Hive has no property hive.fetch.task.conversions",
    "trino-typo": "Configuration property 'hudi.parquet.use-columns-names' was not used",
    "spark-typo": "no class reads a property spark.sql.parquet.enableVectorizedReder, hoodie.",
    "hive-no-bundle": "set-up: hive-no-bundle does not read a hudi-cow table that never chang",
}


def test_a_set_up_that_is_wrong_is_reported_and_no_verdict_is_built_on_it(tmp_path: Path) -> None:
    folder = mine(tmp_path)
    (folder / "readers.yaml").write_text(READERS)
    (folder / "distributions").mkdir()
    (folder / "distributions" / "hive-no-bundle.yaml").write_text(NO_BUNDLE)
    status, verdicts = run(folder, *WRONG, "spark-ours")
    assert status == UNKNOWN
    for name, why in WRONG.items():
        of_name = [verdict for verdict in verdicts if verdict["reader"] == name]
        assert len(of_name) == 8, name
        assert {verdict["verdict"] for verdict in of_name} == {"unknown"}, name
        assert all(why in verdict["because"] for verdict in of_name), of_name[0]["because"]
    right = [verdict["verdict"] for verdict in verdicts if verdict["reader"] == "spark-ours"]
    assert right == ["correct"] * 8
    info = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8"))
    assert info["locks"].keys() == {*WRONG, "spark-ours"}
    (fidelity,) = (
        reader["fidelity"] for reader in info["readers"] if reader["reader"] == "spark-ours"
    )
    assert fidelity == "stock; with spark.sql.session.timeZone=Asia/Tokyo"


def test_versions_that_a_command_adds_are_asked_and_conform(tmp_path: Path) -> None:
    folder = mine(tmp_path)
    assert harness(folder, "engines", "add", "trino", "356") == 0
    assert harness(folder, "engines", "add", "spark", "3.5.8", "hudi", "1.1.1") == 0
    names = ("trino-356", "spark-3.5.8-hudi-1.1.1")
    status, verdicts = run(folder, *names)
    assert status == 0
    assert {verdict["reader"] for verdict in verdicts} == set(names)
    assert {verdict["verdict"] for verdict in verdicts} == {"correct"}
    for name in names:
        assert harness(folder, "engines", "verify", name) == 0

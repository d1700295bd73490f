"""Tables in an object store: readers answer as from the disk, or are reported as lost."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.core.runtime_names import AT, S3
from harness.scenario.cells import CONTROL

pytestmark = [pytest.mark.engines, pytest.mark.alone, pytest.mark.nightly]

READERS = (
    "spark-3.5.8-hudi-1.0.2{schema-on-read=on}",
    "hive-3.1.3{path=fetch}",
    "hive-3.1.3{path=mapreduce}",
    "trino-476{use-column-names=true}",
    "trino-476{use-column-names=false}",
)


def verdicts(folder: Path, *options: str) -> Mapping[str, Any]:
    command = [sys.executable, "-m", "harness", "run", "--profile", "first", "--fresh", *options]
    named = [part for name in READERS for part in ("--reader", name)]
    done = subprocess.run(
        [*command, *named, "--run-dir", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr  # one reads by position
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return {load["case"].replace(f"{AT}{S3}", ""): load for load in map(json.loads, lines)}


def judged(verdict: Mapping[str, Any]) -> tuple[object, ...]:
    kinds = [
        (finding["kind"], finding["party"], len(finding["places"]))
        for finding in verdict["findings"]
    ]
    return verdict["verdict"], verdict["reproduces"], kinds


def test_the_verdicts_are_those_of_the_disk_and_the_controls_are_right(tmp_path: Path) -> None:
    stored, on_disk = verdicts(tmp_path / "s3", "--warehouse", S3), verdicts(tmp_path / "disk")
    controls = {case for case in stored if case.startswith(CONTROL)}
    assert stored.keys() - controls == on_disk.keys()
    assert {stored[case]["verdict"] for case in controls} == {"correct"}
    assert len(controls) == len(READERS)
    unlike = [case for case in on_disk if judged(stored[case]) != judged(on_disk[case])]
    assert unlike == []
    info = json.loads((tmp_path / "s3" / "run.json").read_text(encoding="utf-8"))
    assert all("tables in an object store" in reader["fidelity"] for reader in info["readers"])

"""A recorded run for commands: judged once for those that only read it, a copy for the others."""

import json
import shutil
from pathlib import Path

import pytest

from harness.run import pipeline
from tests.builders.recorded_run import RECORDED

STARTED = "trino-476{use-column-names=false}"
ELSEWHERE = "trino-of-others@endpoint"


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("judged") / "run"
    shutil.copytree(RECORDED, folder)
    pipeline.judge_run(folder)
    return folder


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return shutil.copytree(RECORDED, tmp_path / "run")


@pytest.fixture
def of_others(recorded: Path) -> Path:
    """A judged run in which an engine that ran already was asked, without its platform file."""
    for name in ("run.json", "answers.jsonl"):
        text = (recorded / name).read_text(encoding="utf-8").replace(STARTED, ELSEWHERE)
        (recorded / name).write_text(text, encoding="utf-8")
    info = json.loads((recorded / "run.json").read_text(encoding="utf-8"))
    (reader,) = (reader for reader in info["readers"] if reader["reader"] == ELSEWHERE)
    reader["distribution"] = ELSEWHERE
    name = ELSEWHERE.partition("@")[0]
    info["locks"] = {name: json.dumps({"name": name, "like": "trino-476", "overlay": "theirs"})}
    (recorded / "run.json").write_text(json.dumps(info), encoding="utf-8")
    pipeline.judge_run(recorded)
    return recorded

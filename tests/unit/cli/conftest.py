"""A recorded run for commands: judged once for those that only read it, a copy for the others."""

import shutil
from pathlib import Path

import pytest

from harness.run import pipeline
from tests.builders.recorded_run import RECORDED


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("judged") / "run"
    shutil.copytree(RECORDED, folder)
    pipeline.judge_run(folder)
    return folder


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return shutil.copytree(RECORDED, tmp_path / "run")

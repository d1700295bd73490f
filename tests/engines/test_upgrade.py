"""An upgrade on real engines: what a setting changes, what is advised, and a rollout of both."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli.app import main

pytestmark = [pytest.mark.engines, pytest.mark.alone]

BY_NAME = "trino-476{use-column-names=true}"
BY_POSITION = "trino-476{use-column-names=false}"
ROLLOUT = f"""\
now: {{writer: spark-3.5.8-hudi-0.15.0, readers: ["{BY_NAME}"]}}
steps:
  - {{name: "by position", readers: {{"{BY_NAME}": "{BY_POSITION}"}}}}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def upgrade(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["upgrade", "--profile", "first", "--json", *arguments])
    report: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return report


def test_a_setting_that_makes_answers_wrong_is_found_and_the_way_back_advised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = upgrade(capsys, "--from", BY_NAME, "--to", BY_POSITION)
    assert report["status"] == 1
    assert report["decision"] == "upgrade with this setting"
    assert f"from {BY_NAME} to {BY_POSITION}" in report["answer"]
    assert "hudi.parquet.use-column-names=true" in report["answer"]
    assert report["changes"]["regressed"] > 0


def test_a_rollout_names_the_state_that_is_not_safe(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "steps.yaml").write_text(ROLLOUT, encoding="utf-8")
    report = upgrade(capsys, "--rollout", "steps.yaml")
    assert report["status"] == 1
    assert not report["safe"]
    assert report["safe_order"] is None
    assert "after by position" in report["answer"]

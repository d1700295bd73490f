"""The commands of the history, and runs that are kept as they end."""

import json
import shutil
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.cli import app, runs
from harness.comparison import history
from harness.run import load_run, run_folder
from tests.builders import sample_run
from tests.builders.recorded_run import RECORDED

Capture = pytest.CaptureFixture[str]

STORE = history.USUAL


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(history.VARIABLE, raising=False)


@pytest.fixture
def stored() -> Path:
    """Keep a run that has no folder any more."""
    sample_run.make(Path("old"))
    assert app.main(["history", "add", "old"]) == 0
    shutil.rmtree("old")
    return STORE


def ended(capsys: Capture, *command: str) -> dict[str, Any]:
    """Return the last event of a command with --json."""
    capsys.readouterr()
    app.main([*command, "--json"])
    end: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return end


def test_a_run_under_runs_is_kept_when_it_is_judged() -> None:
    shutil.copytree(RECORDED, "runs/one")
    app.main(["judge", "--run-dir", "runs/one"])
    with sqlite3.connect(STORE) as store:
        assert store.execute("SELECT count(*) FROM run").fetchone() == (1,)


def test_both_sides_of_an_upgrade_under_runs_are_runs_of_a_profile_of_upgrades(
    capsys: Capture,
) -> None:
    sample_run.make(Path("runs/7-upgrade/old"))
    side = load_run.load(Path("runs/7-upgrade/old"))
    for name in ("old", "new"):
        runs.store_side(side, Path("runs/7-upgrade"), name)
    stored = ended(capsys, "history", "list")["runs"]
    assert {run["run"] for run in stored} == {"7-upgrade-old", "7-upgrade-new"}
    assert {run["profile"] for run in stored} == {f"upgrade {side.info.profile}"}
    assert app.main(["history"]) == 0
    with history.opened(STORE) as store:
        store.restore(store.run("7-upgrade-new"), Path("again"))
    assert load_run.load(Path("again")).info == side.info


def test_an_upgrade_elsewhere_is_stored_nowhere() -> None:
    sample_run.make(Path("up/old"))
    runs.store_side(load_run.load(Path("up/old")), Path("up"), "old")
    assert list(Path().rglob("*.sqlite")) == []


def test_a_run_elsewhere_is_kept_where_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(RECORDED, "one")
    app.main(["judge", "--run-dir", "one"])
    assert list(Path().rglob("*.sqlite")) == []
    app.main(["judge", "--run-dir", "one", "--history", "by/option.sqlite"])
    monkeypatch.setenv(history.VARIABLE, "by/variable.sqlite")
    app.main(["judge", "--run-dir", "one"])
    assert {path.name for path in Path("by").iterdir()} == {"option.sqlite", "variable.sqlite"}


def test_a_run_that_nobody_judged_is_not_kept(capsys: Capture) -> None:
    shutil.copytree(RECORDED, "one")
    assert app.main(["history", "add", "one"]) == 2
    assert "nothing is judged; use harness judge" in capsys.readouterr().err
    assert app.main(["history"]) == 2
    assert "no run is stored; see harness history add --help" in capsys.readouterr().err
    assert not STORE.exists()


def test_a_run_that_cannot_be_kept_has_its_reports_and_ends_with_3(capsys: Capture) -> None:
    shutil.copytree(RECORDED, "one")
    Path("broken").write_bytes(b"x" * 5000)
    assert app.main(["judge", "--run-dir", "one", "--history", "broken"]) == 3
    printed = capsys.readouterr()
    assert "the run is not stored for its history: broken is broken" in printed.err
    assert Path("one/report.html").exists()


def test_a_run_does_not_begin_where_it_could_not_be_kept(capsys: Capture) -> None:
    Path("broken").write_bytes(b"x" * 5000)
    assert app.main(["run", "--profile", "first", "--history", "broken", "--offline"]) == 2
    assert "is broken" in capsys.readouterr().err
    assert not run_folder.RUNS.exists()


def test_the_answer_comes_first(stored: Path, capsys: Capture) -> None:
    capsys.readouterr()
    assert app.main(["history"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("In 20240229-101500-sample (2024-02-29), 46 wrong and 12 refused")
    assert "at least, which asked first" in " ".join([first, *rest])
    assert any("it knows nothing" in text for text in rest)


def test_options_need_no_name_of_a_command(stored: Path, capsys: Capture) -> None:
    every = ended(capsys, "history")
    few = ended(capsys, "history", "--reader", "trino-*", "-k", "hudi-cow")
    assert 0 < len(few["now"]) < len(every["now"])
    assert few["runs"] == every["runs"]
    assert few["turns"] == []
    assert {group["verdict"] for group in every["now"]} == {"wrong", "refused"}


def test_kept_runs_are_compared_without_their_folders(stored: Path, capsys: Capture) -> None:
    (run,) = ended(capsys, "history", "list")["runs"]
    end = ended(capsys, "compare", run["run"], run["run"])
    assert end["changes"]["regressed"] == 0
    assert Path(end["reports"]["html"]).is_relative_to(Path("runs").resolve())
    assert Path("runs", run["run"], load_run.VERDICTS).exists()


def test_another_run_of_the_same_name_is_not_taken_for_the_kept_one(
    stored: Path, capsys: Capture
) -> None:
    (run,) = ended(capsys, "history", "list")["runs"]
    other = sample_run.make(Path("runs", run["run"]))
    info = replace(other.info, started=other.info.started + timedelta(days=1))
    load_run.write_info(other.folder, info)
    end = ended(capsys, "compare", run["run"], run["run"])
    assert Path(end["reports"]["html"]).parent.name == f"{run['run']}-2"


def test_a_kept_run_is_restored(stored: Path, capsys: Capture) -> None:
    (run,) = ended(capsys, "history", "list")["runs"]
    assert app.main(["history", "restore", run["run"], "--run-dir", "again"]) == 0
    assert load_run.load(Path("again")).verdicts
    assert app.main(["history", "restore", run["run"], "--run-dir", "again"]) == 2

"""A run begins only in a folder whose files cannot be taken for those of a run."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.cli import app, runs
from harness.cli.output import Output
from harness.cli.runs import Ending, Resources
from harness.core.errors import UsageProblem
from harness.core.progress import Progress
from harness.core.records import Answer, VerdictKind
from harness.judge.baseline import Applied
from harness.read import read_states
from harness.run import load_run, pipeline, run_folder, run_judge
from harness.run.load_run import Run
from harness.run.pipeline import JudgedRun, Work
from harness.run.plan_record import plan_of
from tests.builders import sample_run
from tests.builders.recorded_run import RECORDED

Capture = pytest.CaptureFixture[str]

SUMMARY = "GITHUB_STEP_SUMMARY"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv(runs.ON_GITHUB, raising=False)
    monkeypatch.setenv(SUMMARY, str(tmp_path / "step"))
    return sample_run.make(tmp_path / "run")


def wrong(run: Run) -> JudgedRun:
    """Return what is wrong of a run, and nothing that is unknown."""
    verdicts = (e for e in run.verdicts if e.verdict is VerdictKind.WRONG and not e.known)
    return JudgedRun(run, Applied(tuple(verdicts)))


def late(run: Run) -> JudgedRun:
    (case, *_) = run_judge.late(run)
    return JudgedRun(
        run, Applied(tuple(verdict for verdict in run.verdicts if verdict.case == case))
    )


def test_show_ends_with_0_and_a_flaky_cell_fails_only_where_that_is_wanted(run: Run) -> None:
    quiet = Output(quiet=True)
    assert runs.end_judged(wrong(run), quiet, Ending()) == 1
    assert runs.end_judged(wrong(run), quiet, Ending(show=True)) == 0
    assert runs.end_judged(late(run), quiet, Ending()) == 0
    assert runs.end_judged(late(run), quiet, Ending(fail_on_flaky=True)) == 1


def test_github_is_told_where_it_runs_the_command_or_as_the_option_says(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for variable, option in (("", None), ("false", None), ("true", False)):
        monkeypatch.setenv(runs.ON_GITHUB, variable)
        runs.end_judged(wrong(run), Output(quiet=True), Ending(github=option))
        assert not (tmp_path / "step").exists()
        assert "::error " not in capsys.readouterr().out
    for variable, option in (("true", None), ("", True)):
        monkeypatch.setenv(runs.ON_GITHUB, variable)
        runs.end_judged(wrong(run), Output(quiet=True), Ending(github=option))
        assert (tmp_path / "step").exists()
        assert "::error " in capsys.readouterr().out


def test_a_program_reads_only_json_and_github_the_other_stream(run: Run, capsys: Capture) -> None:
    runs.end_judged(late(run), Output(json=True), Ending(github=True))
    capture_result = capsys.readouterr()
    (end,) = map(json.loads, capture_result.out.splitlines())
    assert (end["status"], end["flaky"]) == (0, 1)
    assert "::warning " in capture_result.err


def test_a_summary_that_cannot_be_written_changes_no_status(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv(SUMMARY, str(tmp_path / "none" / "step"))
    ending = Ending(github=True)
    assert runs.end_judged(late(run), Output(quiet=True), ending) == 0
    capture_result = capsys.readouterr()
    assert "the summary of the job is not written: No such file" in capture_result.err
    assert "::warning " in capture_result.out, "the annotations are there"


WRONG_USE, BROKEN = 2, 3
PROJECT = ("engines/mycar/src/a.py", "engines/table-x/kept", "notes.part")
"""Files of somebody whose names are like those of a run's half files."""


def begin(folder: Path | None, cache: Path) -> None:
    """Begin a run, as commands do, and end it before it does anything."""
    resources = Resources(Output(quiet=True), Cache(cache))
    with runs.begun(plan_of(load_run.read_info(RECORDED)), folder, resources):
        pass


def made(folder: Path, *names: str) -> list[Path]:
    """Make files in a folder; give all that is there then."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("kept", encoding="utf-8")
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize("name", [*PROJECT, "mine.yaml"])
def test_a_run_never_begins_in_a_folder_of_something_else(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    before = made(folder, name)
    refusal = r"project is not a run and not empty: it holds '.*a fol"
    with pytest.raises(UsageProblem, match=refusal):
        begin(folder, tmp_path / "cache")
    assert sorted(folder.rglob("*")) == before


def test_what_lies_beside_a_run_and_is_none_is_left_alone(tmp_path: Path) -> None:
    before = made(tmp_path / "project", *PROJECT, run_folder.LOCK)
    run = tmp_path / "elsewhere" / "project"
    made(run, *PROJECT, run_folder.LOCK, load_run.INFO)
    (tmp_path / "linked").symlink_to(run)
    begin(tmp_path / "run", tmp_path / "cache")
    assert sorted((tmp_path / "project").rglob("*")) == before
    assert all((run / name).exists() for name in PROJECT)


def test_what_a_dead_harness_left_is_removed_before_a_run_goes_on(tmp_path: Path) -> None:
    folder = shutil.copytree(RECORDED, tmp_path / "run")
    table = folder / run_folder.ENGINES / "table-1"
    table.mkdir(parents=True)
    with runs.resumed(folder, Resources(Output(quiet=True), Cache(tmp_path / "cache"))):
        assert not table.exists()


@pytest.mark.parametrize("left", [(), ("run.lock", "run.json.part"), ("pytest/cases.txt",)])
def test_a_run_begins_in_an_empty_folder_and_where_one_was_killed_before_its_plan_was_there(
    left: tuple[str, ...], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    made(folder, *left)
    begin(folder, tmp_path / "cache")
    assert load_run.read_info(folder).id == "run"
    assert not (folder / "run.json.part").exists()


@pytest.mark.parametrize(
    "command", [["run", "--profile", "first", "--offline"], ["run", "--resume"], ["judge"]]
)
def test_an_empty_name_of_a_folder_is_not_the_one_that_is_here(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main(["judge", "--run-dir", "."]) == WRONG_USE
    assert app.main([*command, "--run-dir", ""]) == WRONG_USE
    assert "it is empty; name the run" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_at_once_is_gone_on_with_and_does_not_hide_the_last_good_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begin(None, tmp_path / "cache")
    good = run_folder.LATEST_RUN.readlink()
    assert app.main(["run", "--profile", "first", "--offline"]) == BROKEN
    failed = (run_folder.RUNS / run_folder.BEGUN).readlink()
    assert run_folder.LATEST_RUN.readlink() == good != failed
    monkeypatch.setattr(pipeline, "fetch_all", lambda *_: None)
    monkeypatch.setattr(pipeline, "write_and_read", lambda *_, **__: None)
    assert app.main(["run", "--resume", "--quiet"]) == BROKEN
    assert run_folder.LATEST_RUN.readlink() == failed


BEFORE_IT = (
    "was begun last and has nothing to show: it failed, or has no answer yet; harness run --re"
)
COMMANDS = (["judge"], ["explain", "a"], ["read", "--offline"])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_on_the_latest_run_says_that_a_newer_one_has_nothing_to_show(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    begin(None, tmp_path / "cache")
    app.main(command)
    assert BEFORE_IT not in capsys.readouterr().err
    good = run_folder.LATEST_RUN.readlink()
    failed = tmp_path / "runs" / "failed"
    failed.mkdir()
    run_folder.point_begun(failed)
    app.main(command)
    (line,) = (line for line in capsys.readouterr().err.splitlines() if BEFORE_IT in line)
    assert line.startswith("harness: failed was begun last")
    assert line.endswith(f"sume goes on with it. This is about {good}")
    app.main([*command, "--run-dir", f"runs/{good}"])
    assert BEFORE_IT not in capsys.readouterr().err


@pytest.mark.parametrize(("unknown", "shown"), [("", True), ("silence", False)])
def test_a_run_that_goes_on_is_shown_from_its_first_known_answer(
    unknown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, shown: bool
) -> None:
    plan = plan_of(load_run.read_info(RECORDED))
    answer = Answer(plan.cells[0].case, "select", unknown=unknown)
    looks: list[Path] = []
    show = run_folder.show

    def seen(run: Path) -> None:
        looks.append(run)
        show(run)

    def read(*_: object) -> Iterator[Answer]:
        for __ in range(3):
            yield answer
            assert (tmp_path / run_folder.LATEST).exists() is shown
        assert len(looks) == shown, "no answer but the first changes what is the latest"

    monkeypatch.setattr(read_states, "read", read)
    monkeypatch.setattr(run_folder, "show", seen)
    folder = tmp_path / "run"
    folder.mkdir()
    run_folder.point_begun(folder)
    load_run.write_info(folder, load_run.read_info(RECORDED))
    work = Work(Cache(tmp_path / "cache"), folder, Progress())
    pipeline.read_answers(plan, work, fresh=False)


def test_a_program_is_told_of_the_end_when_an_option_is_wrong(capsys: Capture) -> None:
    assert app.main(["run", "--json", "--run-dri", "x"]) == WRONG_USE
    (end,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (end["event"], end["status"]) == ("end", WRONG_USE)
    assert app.main(["run", "--run-dri", "x"]) == WRONG_USE
    assert capsys.readouterr().out == ""

"""The command line: errors of users are reported in words, each with its exit status."""

import errno
import json
import os
from pathlib import Path

import pytest
import typer

from harness.cli import app, flow_commands, options, plan_options
from harness.core import yaml_reader
from harness.core.errors import EnvironmentProblem, UsageProblem
from harness.run import pipeline, run_folder
from tests.builders.scenario_texts import MOVED

Capture = pytest.CaptureFixture[str]

WRONG_USE = 2
BROKEN = 3


def test_a_scenario_of_ones_own_is_planned_with_the_readers_of_the_profile(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MOVED, encoding="utf-8")
    assert app.main(["plan", str(path), "--profile", "first"]) == 0
    message = capsys.readouterr().out
    assert "mine[hudi-cow]" in message
    assert "trino-476{use-column-names=false}" in message


def test_a_bad_scenario_is_reported_with_file_and_line(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(MOVED.replace("after: f2", "after: f9"), encoding="utf-8")
    assert app.main(["run", str(path)]) == WRONG_USE
    message = capsys.readouterr().err
    assert f"{path}:8:" in message
    assert "f9" in message


@pytest.mark.parametrize(
    ("arguments", "wording"),
    [
        (["plan", "--profile", "nope"], "unknown profile 'nope'; "),
        (["plan", "a" * 5000], "aaaa'… is no scenario file or folder: the path is too long"),
        (["plan", "nowhere.yaml"], "nowhere.yaml is not there; name a scenario file"),
        (["judge", "--run-dir", "nowhere"], "there is no run at nowhere"),
        (["plan", "-k", "no such case"], "no case contains 'no such case'"),
    ],
)
def test_what_is_not_there_is_wrong_use(
    arguments: list[str], wording: str, capsys: Capture
) -> None:
    assert app.main(arguments) == WRONG_USE
    assert wording in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reader", "wording"),
    [
        ("trino-476{colour=red}", "there is no setting 'colour'; allowed: use-column-names"),
        ("trino-476{use_column_names=true}", "did you mean 'use-column-names'? allowed: "),
        ("trino-476{use-column-names=maybe}", "allowed: true, false"),
        ("trino-1", "trino-476"),
        ("trino-476{", "is not a reader"),
        ("trino-476@docker", "there is no runtime 'docker'; allowed: process, container"),
        ("trino-99@container", "'trino-99' is not a reader; did you mean 'trino-483'? allowed: t"),
    ],
)
def test_a_reader_that_cannot_be_is_wrong_use(
    reader: str, wording: str, recorded: Path, capsys: Capture
) -> None:
    for command in (["read", "--run-dir", str(recorded)], ["plan"]):
        assert app.main([*command, "--reader", reader]) == WRONG_USE
        assert wording in capsys.readouterr().err


def test_a_new_run_does_not_go_over_an_old_one(recorded: Path, capsys: Capture) -> None:
    before = {path: path.read_bytes() for path in recorded.iterdir()}
    assert app.main(["run", "--profile", "first", "--run-dir", str(recorded)]) == WRONG_USE
    assert "there is a run at" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in recorded.iterdir()} == before


def test_a_cell_that_did_not_run_is_unknown_even_when_only_showing(
    recorded: Path, capsys: Capture
) -> None:
    answers = recorded / "answers.jsonl"
    lines = answers.read_text(encoding="utf-8").splitlines(keepends=True)
    answers.write_text("".join(lines[1:]), encoding="utf-8")
    assert app.main(["judge", "--show", "--run-dir", str(recorded)]) == BROKEN
    assert "did not run" in capsys.readouterr().out


@pytest.mark.parametrize("also", [["-k", "move"], ["a.yaml", "--fresh"]])
def test_a_run_that_is_resumed_keeps_its_plan(
    recorded: Path, also: list[str], capsys: Capture
) -> None:
    assert app.main(["run", "--resume", "--run-dir", str(recorded), *also]) == WRONG_USE
    assert "goes on with a run as it was planned" in capsys.readouterr().err


WITH_RESUME = {
    *("resume", "run_dir", "offline", "timeout", "write_timeout", "history"),
    *("show", "fail_on_flaky", "github", "quiet", "json", "verbose", "platform"),
}
"""Options that change no plan."""


def test_each_option_of_a_run_is_part_of_its_plan_or_goes_with_resume() -> None:
    command = typer.main.get_group(app.app).commands["run"]
    named = {parameter.name for parameter in command.params}
    assert named - {"context", "help"} == {*options.PLANNED_ALREADY, *WITH_RESUME}


def test_there_must_be_a_run_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main(["run", "--resume"]) == WRONG_USE
    assert "there is no run at runs/latest; make one with: harness run" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["run", "--resume"], ["read"], ["judge"]])
def test_one_harness_at_a_time_works_on_a_run(
    recorded: Path, command: list[str], capsys: Capture
) -> None:
    with run_folder.locked(recorded):
        assert app.main([*command, "--run-dir", str(recorded)]) == WRONG_USE
    assert "another harness works on" in capsys.readouterr().err


def test_a_program_is_told_the_end_with_totals_and_reports(
    recorded: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "fetch_all", lambda *_: None)
    monkeypatch.setattr(pipeline, "write_and_read", lambda *_, **__: None)
    assert app.main(["run", "--resume", "--json", "--run-dir", str(recorded)]) == 1
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (end["event"], end["status"], end["run"]) == ("end", 1, str(recorded))
    assert end["totals"]["wrong"] > 0
    assert all(Path(path).is_file() for path in end["reports"].values())
    assert end["reasons"]


@pytest.mark.parametrize(
    ("error", "wording"),
    [
        (EnvironmentProblem("the network is down"), "the network is down"),
        (OSError(errno.ENOSPC, "No space left on device", "x"), "cannot write x: the disk is full"),
        (ZeroDivisionError("by zero"), "this is a defect of the harness"),
    ],
)
def test_a_program_reads_what_broke_too(
    recorded: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: Exception, wording: str
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "fetch_all", broken)
    assert app.main(["run", "--resume", "--json", "--run-dir", str(recorded)]) == BROKEN
    end = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (end["event"], end["status"]) == ("end", BROKEN)
    assert wording in end["problem"]


def test_what_a_message_quotes_commands_no_terminal(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "\x1b[31mred\x07.yaml"
    assert app.main(["plan", str(path)]) == WRONG_USE
    path.write_text(MOVED, encoding="utf-8")
    assert app.main(["plan", str(path)]) == WRONG_USE
    message = capsys.readouterr().err
    assert "the file's name cannot be shown" in message
    assert "\x1b" not in message
    assert "\x07" not in message


@pytest.mark.parametrize("name", ["it's größe", "-x", "a [b] @c %s {0} a*?", "x" * 200])
def test_a_scenario_file_may_have_a_hard_name(name: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "my folder" / f"{name}.yaml"
    path.parent.mkdir()
    path.write_text(MOVED, encoding="utf-8")
    folder = str(path.parent / ".." / "my folder")
    assert app.main(["plan", folder, "--profile", "first", "--checks"]) == 0
    assert f"\nmy folder/{name}[hudi-cow]@spark" in capsys.readouterr().out


VERSIONS = """\
mine:
  scenarios: ["*"]
  formats: [hudi-cow]
  writers:
    - {distribution: spark-3.5.8-hudi-1.0.2, settings: {table_version: "6"}}
    - {distribution: spark-3.5.8-hudi-1.0.2, settings: {table_version: "8"}}
    - spark-3.5.8-hudi-1.2.0
    - sequence: [spark-3.5.8-hudi-0.15.0, spark-3.5.8-hudi-1.0.2]
      at: 2
  readers: [hive-3.1.3, trino-368]
"""


def test_a_plan_tells_how_many_cells_are_declared_unsupported_and_counts_no_minutes_for_them(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text(MOVED, encoding="utf-8")
    (tmp_path / "profiles.yaml").write_text(VERSIONS, encoding="utf-8")
    monkeypatch.setattr(flow_commands, "estimate", lambda made: 60.0 * len(made.cells))
    assert app.main(["plan", str(tmp_path), "--profile", "mine"]) == 0
    request = capsys.readouterr().out.splitlines()
    at = next(at for at, line in enumerate(request) if line.startswith("declared unsupported"))
    assert request[at] == (
        "declared unsupported, as far as a plan can say: 9 checks; one of each reader, format and "
        "version is sent, and the others if it is answered"
    )
    hive = "hive-3.1.3 knows hudi tables up to version 8, not 9 (HoodieTableVersion of Hudi 1.0.2)"
    trino = "trino-368 knows hudi tables up to version 7, not {} ({} of Hudi 0.11.1)"
    why = (trino.format(8, "TimelineLayoutVersion"), hive, trino.format(9, "TimelineLayoutVersion"))
    assert request[at + 1 : at + 4] == [f"  3 checks: {name}" for name in why]
    assert request[-1].endswith(" 24 checks; about 15 min when nothing is there yet")


@pytest.mark.parametrize(("name", "which"), [("my runs", "run"), ("100%", "cache")])
def test_a_folder_that_engines_would_write_otherwise_is_refused_before_it_is_made(
    name: str, which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    odd, plain = tmp_path / name, tmp_path / "plain"
    monkeypatch.setenv("HARNESS_CACHE", str(odd if which == "cache" else plain))
    run_dir = odd if which == "run" else plain
    assert app.main(["run", "--profile", "first", "--run-dir", str(run_dir)]) == WRONG_USE
    message = capsys.readouterr().err
    assert "tables would go astray; let " in message
    assert ("--run-dir" if which == "run" else "HARNESS_CACHE") in message
    assert list(tmp_path.iterdir()) == []


SERVICE = "hive-metastore-3.1.3"


@pytest.fixture(autouse=True)
def nothing_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "fetch_all", lambda *_: pytest.fail("it fetches"))


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.yaml"
    path.write_text(MOVED, encoding="utf-8")
    return path


def refused(capsys: Capture, *arguments: str) -> str:
    """Return the error of a wrong use."""
    assert app.main(arguments) == WRONG_USE
    message = capsys.readouterr().err
    assert "Traceback" not in message
    return message


def test_cases_may_be_saved_with_a_byte_order_mark_and_blank_lines(mine: Path) -> None:
    every = plan_options.make([mine], "first", "").cells
    cases = mine.with_name("cases.txt")
    named = every[0].case, every[-1].case
    cases.write_bytes(b"\xef\xbb\xbf" + "\r\n \r\n".join((*named, "")).encode())
    made = plan_options.make([mine], "first", "", cases)
    assert tuple(cell.case for cell in made.cells) == named


def test_cases_come_from_a_file_and_nothing_else_is_waited_for(mine: Path) -> None:
    pipe = mine.with_name("pipe")
    os.mkfifo(pipe)
    for path in (pipe, mine.parent):
        with pytest.raises(UsageProblem, match="this is not a file; give a text file that names"):
            plan_options.make([mine], "first", "", path)
    with pytest.raises(UsageProblem, match="cannot be read: No such file"):
        plan_options.make([mine], "first", "", mine.with_name("none"))
    assert yaml_reader.MAX_BYTES < plan_options.CASES_BYTES


def test_a_file_of_cases_is_read_up_to_a_limit(mine: Path) -> None:
    cases = mine.with_name("cases.txt")
    cases.touch()
    os.truncate(cases, plan_options.CASES_BYTES + 1)
    with pytest.raises(UsageProblem, match=r"cases\.txt:1: the file is longer than 67108864 bytes"):
        plan_options.make([mine], "first", "", cases)


@pytest.mark.parametrize("command", ["run", "write"])
def test_a_run_folder_that_cannot_be_made_is_wrong_use(
    command: str, mine: Path, capsys: Capture
) -> None:
    expected = {
        str(mine): f"{mine} is not a folder; let --run-dir name one",
        "/proc/x": "the folder /proc/x cannot be made: ",
        str(mine / "x"): f"the folder {mine / 'x'} cannot be made: ",
    }
    for where, wording in expected.items():
        message = refused(capsys, command, str(mine), "--profile", "first", "--run-dir", where)
        assert wording in message
    Path("runs").touch()
    message = refused(capsys, command, str(mine), "--profile", "first")
    assert "the folder runs cannot be made: File exists; let --run-dir name" in message


@pytest.mark.parametrize("command", ["judge", "report", "read", "baseline update", "run --resume"])
def test_a_file_is_no_run(command: str, mine: Path, capsys: Capture) -> None:
    message = refused(capsys, *command.split(), "--run-dir", str(mine))
    assert f"{mine} is not a folder; let --run-dir name one" in message


def test_a_working_folder_that_is_gone_is_reported(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    gone = mine.with_name("gone")
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    message = refused(capsys, "run", str(mine), "--profile", "first")
    assert "the current folder is gone; go to another one" in message


def test_what_only_serves_engines_is_no_reader_and_is_not_listed_as_one(
    mine: Path, capsys: Capture
) -> None:
    for name, other in ((SERVICE, "hive-4.0.1"), ("trino-1", "trino-476")):
        with pytest.raises(
            UsageProblem, match=f"'{name}' is not a reader; .*allowed: .*{other}"
        ) as at:
            plan_options.existing_reader(name)
        assert SERVICE not in str(at.value).partition("allowed")[2]
    profile = "mine: {scenarios: ['*'], formats: [hudi-cow], writers: [spark-3.5.8-hudi-0.15.0], "
    profile += f"readers: [{SERVICE}]}}\n"
    mine.with_name("profiles.yaml").write_text(profile, encoding="utf-8")
    assert f"'{SERVICE}' is not a reader" in refused(capsys, "plan", str(mine), "--profile", "mine")


def test_a_cache_in_the_home_of_nobody_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", "~nosuchuser/x")
    assert "HARNESS_CACHE is ~nosuchuser/x: " in refused(capsys, "doctor")

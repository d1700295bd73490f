"""The action for GitHub, its steps run from the file itself; `harness` and pip are simulated."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from harness.cli import app
from tests import ci_page
from tests.builders import action_run
from tests.builders.action_run import ACTION, Job, SimulatedGithub
from tests.wheel import ROOT

WORKFLOW, GITLAB = ".github/workflows/may-we-upgrade.yaml", "may-we-upgrade.gitlab-ci.yml"
PAIR = {"from": "trino-476", "to": "trino-483"}
PROGRAM = """#!/bin/sh
printf '%s\\n' "$0 $*" >> "$(dirname "$0")/calls"
case "$0" in *harness)
  mkdir lake-table-upgrade
  [ {status} = 2 ] || printf '%s' "{answer}" > lake-table-upgrade/upgrade.md
  exit {status};;
esac
"""


@pytest.fixture
def github() -> Iterator[SimulatedGithub]:
    with action_run.github() as simulated:
        yield simulated


def acted(
    folder: Path, github: SimulatedGithub, status: int = 1, answer: str = "Do not.", **more: str
) -> Job:
    (programs := folder / "programs").mkdir(parents=True)
    for name in ("harness", "python"):
        (programs / name).write_text(PROGRAM.format(status=status, answer=answer), "utf-8")
        (programs / name).chmod(0o755)
    return action_run.run(folder, {**PAIR, **more}, github.address, str(programs))


def calls(folder: Path) -> list[str]:
    lines = (folder / "programs" / "calls").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix(f"{folder / 'programs'}/") for line in lines]


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_answer_is_commented_and_the_job_ends_as_the_command(
    tmp_path: Path, github: SimulatedGithub, status: int
) -> None:
    job = acted(tmp_path, github, status)
    assert job.statuses == [0, 0, 0, status]
    assert job.outputs == {"status": str(status)}
    assert job.summary == "Do not."
    assert github.comments == {1: "<!-- harness upgrade trino-476 trino-483 -->\nDo not."}


def test_the_action_installs_itself_and_gives_the_command_its_inputs(
    tmp_path: Path, github: SimulatedGithub
) -> None:
    acted(tmp_path, github, usage="my usage.yaml", arguments="my/ --format iceberg")
    command = "--usage my usage.yaml my/ --format iceberg --run-dir lake-table-upgrade"
    assert calls(tmp_path) == [
        f"python -m pip install --quiet {ROOT}",
        f"harness upgrade --run --from trino-476 --to trino-483 {command}",
    ]


def test_a_later_run_changes_the_comment_of_an_earlier_one_and_no_other(
    tmp_path: Path, github: SimulatedGithub
) -> None:
    github.comments[1] = "well done"
    acted(tmp_path / "one", github)
    acted(tmp_path / "two", github, 0, "You may.")
    assert github.comments[1] == "well done"
    assert github.comments[2].endswith("You may.")
    assert len(github.comments) == 2


def test_wrong_arguments_leave_no_comment_and_the_status_2(
    tmp_path: Path, github: SimulatedGithub
) -> None:
    job = acted(tmp_path, github, 2)
    assert job.statuses[-1] == 2
    assert github.comments == {}


def test_a_token_that_may_only_read_fails_no_job(tmp_path: Path, github: SimulatedGithub) -> None:
    github.refuses = True
    job = acted(tmp_path, github, 0)
    assert job.statuses == [0, 0, 0, 0]
    assert "::warning::the answer is not commented: GitHub says HTTP Error 403" in job.text


def test_nothing_is_commented_where_the_workflow_says_so(
    tmp_path: Path, github: SimulatedGithub
) -> None:
    job = acted(tmp_path, github, 0, comment="false")
    assert job.statuses == [0, 0, 0]
    assert github.comments == {}


def test_an_answer_longer_than_a_comment_is_cut(tmp_path: Path, github: SimulatedGithub) -> None:
    acted(tmp_path, github, 0, "o" * 70_000)
    assert len(github.comments[1]) == 65_536
    assert github.comments[1].endswith("is in upgrade.md, an artifact of the job.")


def test_the_workflow_of_the_page_gives_the_action_inputs_that_it_has() -> None:
    steps = ci_page.read(WORKFLOW)["jobs"]["upgrade"]["steps"]
    given = steps[-1]["with"]
    assert given.keys() <= ACTION["inputs"].keys()
    required = {name for name, declared in ACTION["inputs"].items() if declared.get("required")}
    assert required <= given.keys()


def test_the_job_of_gitlab_runs_a_command_with_options_that_there_are() -> None:
    job = ci_page.read(GITLAB)["may we upgrade"]
    command = typer.main.get_group(app.app).commands["upgrade"]
    known = {option for parameter in command.params for option in parameter.opts}
    options = {word for word in job["script"][-1].split() if word.startswith("--")}
    assert options <= known


def test_the_job_of_gitlab_posts_the_answer_to_its_merge_request(
    tmp_path: Path, github: SimulatedGithub
) -> None:
    (folder := tmp_path / "lake-table-upgrade").mkdir()
    (folder / "upgrade.md").write_text("Do not & wait = +1", encoding="utf-8")
    variables = {
        "CI_API_V4_URL": github.address,
        "CI_PROJECT_ID": "5",
        "CI_MERGE_REQUEST_IID": "9",
        "HARNESS_TOKEN": "secret",
    }
    script = "\n".join(ci_page.read(GITLAB)["may we upgrade"]["after_script"])
    subprocess.run(
        ("/bin/bash", "-ec", script), cwd=tmp_path, env={**os.environ, **variables}, check=True
    )
    assert github.notes == {("secret", "/projects/5/merge_requests/9/notes"): "Do not & wait = +1"}

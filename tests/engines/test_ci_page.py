"""What docs/ci.md tells people to paste is run as it stands there, away from the checkout.

The wheel is installed into an empty environment, in a git repository with the page's files alone,
and lines of shell are run by `bash -e`, as GitHub and GitLab do. The rest is only looked at.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import junitparser
import pytest

from harness.artifacts.cache import Cache
from tests import ci_page, wheel

pytestmark = [pytest.mark.engines, pytest.mark.alone]

WRONG, BROKEN = 1, 3
GITHUB, GITLAB = ".github/workflows/lake-tables.yaml", ".gitlab-ci.yml"
OF_A_STEP = {"run", "id", "if", "uses", "with"}
OF_A_JOB = {"script", "variables", "image", "timeout", "cache", "artifacts"}
"""Keys of a step of GitHub's and of a job of GitLab's; others could change what is run, and how."""
KNOWN = "my/orders/rename.known.yaml"
SUMMARY = "GITHUB_STEP_SUMMARY"
PLAN = "harness plan --scenarios my/ --profile nightly"
ENGINES = ("artifacts", "jre", "unpacked", "archives")
"""Folders of the usual cache that a job shares, so that nothing is fetched anew."""
CHECKOUT = ("PYTHONPATH", "VIRTUAL_ENV")
"""Variables by which the checkout could stand in for what the wheel lacks."""
NO_NETWORK = {"HARNESS_MAVEN_REPOSITORY": "http://127.0.0.1:9", "PIP_NO_INDEX": "1"}
"""Where nobody is asked for anything: pip has no index, and no server listens on that port."""
LARGE = '    - "trino-476{use-column-names=true}"\n'
"""The reader whose server is a download of 800 MB."""


@dataclass(frozen=True, slots=True)
class Machine:
    repository: Path
    variables: Mapping[str, str]

    def bash(self, script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ("/usr/bin/env", "bash", "-e", "-c", script),
            cwd=self.repository,
            env={k: v for k, v in os.environ.items() if k not in CHECKOUT} | {**self.variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def done(self, script: str) -> str:
        ran = self.bash(script)
        assert ran.returncode == 0, output_of(ran)
        return ran.stdout

    def paths(self, *patterns: str) -> list[Path]:
        """What a build server would keep: each pattern must find something."""
        result = {pattern: sorted(self.repository.glob(pattern)) for pattern in patterns}
        assert [pattern for pattern, paths in result.items() if not paths] == []
        return [path for paths in result.values() for path in paths]

    def cases(self) -> list[junitparser.TestCase]:
        suites = junitparser.JUnitXml.fromfile(str(self.repository / "lake-tables" / "junit.xml"))
        return [case for suite in suites for case in suite]


@dataclass(frozen=True, slots=True)
class Github:
    """The job of GitHub, run; `expressions`: the values that its `${{ … }}` name."""

    machine: Machine
    steps: list[dict[str, Any]]
    expressions: dict[str, str]
    ran: list[subprocess.CompletedProcess[str]]
    cells: int
    """The number of checks that `harness plan` reports."""

    def given(self, action: str) -> dict[str, str]:
        (result,) = (
            step["with"] for step in self.steps if step.get("uses", "").startswith(f"{action}@")
        )
        return {name: evaluated(str(value), self.expressions) for name, value in result.items()}


def output_of(ran: subprocess.CompletedProcess[str]) -> str:
    return f"{ran.args[-1]}\n{ran.stdout}\n{ran.stderr}"


def evaluated(text: str, expressions: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: expressions[match[1]], text)


def types(case: junitparser.TestCase) -> set[str]:
    return {result.type for result in case.result}


def cells(plan: str) -> int:
    (result,) = re.findall(r"([\d,]+) checks", plan)
    return int(result.replace(",", ""))


def share_engines(cache: Path) -> None:
    cache.mkdir()
    for name in ENGINES:
        (shared := Cache.default().root / name).mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(shared)


@pytest.fixture(scope="module")
def requirement(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The one line of requirements-harness.txt: the path of a wheel."""
    return f"{wheel.build(tmp_path_factory.mktemp('wheel'))}\n"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """PATH where an empty environment comes first; the first job installs the wheel in it."""
    environment = tmp_path_factory.mktemp("environment")
    wheel.run(sys.executable, "-m", "venv", str(environment), cwd=environment)
    return f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory, requirement: str) -> Path:
    """A git repository with what the page shows below `my/`, and what it installs."""
    folder = tmp_path_factory.mktemp("repository")
    wheel.run("git", "init", "--quiet", cwd=folder)
    for name in ci_page.OWN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(ci_page.FILES[name], encoding="utf-8")
    (folder / "requirements-harness.txt").write_text(requirement, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def github(repository: Path, path: str, tmp_path_factory: pytest.TempPathFactory) -> Github:
    """The job of GitHub, on a machine where no cache was found."""
    job = ci_page.read(GITHUB)["jobs"]["harness"]
    assert {key for step in job["steps"] for key in step} <= OF_A_STEP
    workspace = shutil.copytree(repository, (folder := tmp_path_factory.mktemp("github")) / "work")
    (output := folder / "output").touch()
    known = {"github.workspace": str(workspace)}
    variables = {name: evaluated(value, known) for name, value in job["env"].items()}
    share_engines(Path(variables["HARNESS_CACHE"]))
    set_there = {
        "GITHUB_OUTPUT": str(output),
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(workspace),
        SUMMARY: str(folder / "summary"),
    }
    machine = Machine(workspace, {**variables, "PATH": path, **set_there})
    ran = [machine.bash(step["run"]) for step in job["steps"] if "run" in step]
    (named,) = (step["id"] for step in job["steps"] if {"id", "run"} <= step.keys())
    for name, _, value in (line.partition("=") for line in output.read_text("utf-8").splitlines()):
        known[f"steps.{named}.outputs.{name}"] = value
    return Github(machine, job["steps"], known, ran, cells(machine.done(PLAN)))


def test_the_job_of_github_ends_with_what_is_wrong_and_a_test_for_each_cell(github: Github) -> None:
    statuses = [process.returncode for process in github.ran]
    assert statuses == [0, 0, 0, WRONG], "\n".join(map(output_of, github.ran))
    cases = github.machine.cases()
    assert len(cases) == github.cells > 20
    assert "missing_rename" in {type_ for case in cases for type_ in types(case)}


def test_the_job_of_github_has_a_summary_and_annotations_on_the_line_that_renames(
    github: Github,
) -> None:
    (scenario,) = (name for name in ci_page.OWN if "rename_column" in ci_page.FILES[name])
    lines = ci_page.FILES[scenario].splitlines()
    (renames,) = (at for at, line in enumerate(lines, start=1) if "rename_column" in line)
    printed = [line for line in github.ran[-1].stdout.splitlines() if line.startswith("::")]
    assert 0 < len(printed) <= 10
    assert any(line.startswith(f"::error file={scenario},line={renames},") for line in printed)
    summary = Path(github.machine.variables[SUMMARY]).read_text(encoding="utf-8")
    assert summary.startswith("### Lake tables: something is new")
    assert "missing rename" in summary
    github.machine.done("harness report markdown --run-dir lake-tables")
    assert github.machine.paths("lake-tables/summary.md")


def test_the_job_of_github_caches_and_keeps_what_is_there(github: Github) -> None:
    restored, saved = github.given("actions/cache/restore"), github.given("actions/cache/save")
    assert restored == saved
    assert re.fullmatch(r"harness-[0-9a-f]{64}", saved["key"])
    assert {saved_path.name for saved_path in github.machine.paths(f"{saved['path']}/*")} >= {
        *ENGINES,
        "states",
    }
    github.machine.paths(github.given("actions/setup-python")["cache-dependency-path"])
    uploaded = github.machine.paths(*github.given("actions/upload-artifact")["path"].split())
    assert {"states.jsonl", "answers.jsonl", "verdicts.jsonl"} <= {
        upload.name for upload in uploaded
    }


@pytest.fixture(scope="module")
def elsewhere(
    github: Github, repository: Path, path: str, tmp_path_factory: pytest.TempPathFactory
) -> Machine:
    """Somebody's machine: the repository, and of the job the files that it keeps, all else gone."""
    workspace = shutil.copytree(repository, tmp_path_factory.mktemp("elsewhere") / "work")
    (workspace / "lake-tables").mkdir()
    for part in github.machine.paths(*github.given("actions/upload-artifact")["path"].split()):
        shutil.copy(part, workspace / "lake-tables")
    shutil.rmtree(github.machine.repository / "my")
    return Machine(workspace, {"PATH": path, "HARNESS_CACHE": str(workspace / "none")})


@pytest.fixture(scope="module")
def known(elsewhere: Machine) -> Path:
    """What is known of the scenario, as somebody writes it down from what the job kept."""
    elsewhere.done("harness baseline update --run-dir lake-tables")
    file = elsewhere.repository / KNOWN
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("TODO: say why", "it goes by name"), encoding="utf-8")
    return file


def test_what_a_job_keeps_is_enough_to_go_on_with_on_another_machine(
    elsewhere: Machine, known: Path
) -> None:
    assert 'because: "it goes by name"' in known.read_text(encoding="utf-8")
    elsewhere.done("harness judge --run-dir lake-tables")
    wrong = next(case for case in elsewhere.cases() if "known" in types(case))
    output = elsewhere.done(
        f"harness explain '{wrong.classname}/{wrong.name}' --run-dir lake-tables"
    )
    assert "missing rename" in output
    assert not (elsewhere.repository / "none").exists()


def test_the_job_of_gitlab_ends_well_where_all_that_is_wrong_is_known(
    github: Github, known: Path, repository: Path, path: str, tmp_path: Path
) -> None:
    job = ci_page.read(GITLAB)["lake tables"]
    assert job.keys() <= OF_A_JOB
    workspace = shutil.copytree(repository, tmp_path / "work")
    shutil.copy(known, workspace / KNOWN)
    variables = {
        name: Template(value).substitute(CI_PROJECT_DIR=workspace)
        for name, value in job["variables"].items()
    }
    Path(variables["HARNESS_CACHE"]).symlink_to(
        github.expressions["github.workspace"] + "/.harness-cache"
    )
    machine = Machine(workspace, {**variables, "PATH": path})
    machine.done("\n".join(job["script"]))
    machine.paths(*job["cache"]["key"]["files"], *job["artifacts"]["paths"])
    machine.paths(job["artifacts"]["reports"]["junit"])
    assert len(machine.cases()) == cells(machine.done(PLAN))
    places = {machine.done("pip cache dir").strip(), variables["HARNESS_CACHE"]}
    assert {str(workspace / text.rstrip("/")) for text in job["cache"]["paths"]} == places


@pytest.fixture
def there(repository: Path, path: str, tmp_path: Path) -> Machine:
    """A machine with a network, and a repository that needs no large download."""
    workspace = shutil.copytree(repository, tmp_path / "there")
    profiles = ci_page.FILES["my/profiles.yaml"]
    assert LARGE in profiles
    (workspace / "my" / "profiles.yaml").write_text(profiles.replace(LARGE, ""), encoding="utf-8")
    return Machine(workspace, {"PATH": path})


@pytest.fixture
def closed(there: Machine, tmp_path: Path) -> Machine:
    """A machine without a network, with the same repository and no cache."""
    workspace = shutil.copytree(there.repository, tmp_path / "closed")
    return Machine(workspace, {**there.variables, **NO_NETWORK})


@pytest.mark.nightly
@pytest.mark.usefixtures("github")  # which installs the wheel
def test_what_is_fetched_where_there_is_a_network_runs_where_there_is_none(
    there: Machine, closed: Machine
) -> None:
    fetch, pack, unpack, run = ci_page.commands("Without a network")
    lacking = closed.bash(run)
    assert lacking.returncode == BROKEN, output_of(lacking)
    assert "Run harness fetch where there is a network" in lacking.stderr
    there.done(f"{fetch}\n{pack}")
    shutil.move(there.repository / "engines.tar", closed.repository)
    closed.done(f"{unpack}\n{run}")
    assert list((closed.repository / "runs" / "latest").glob("junit.xml"))

"""The wheel, installed away from the checkout, holds and does what the checkout does.

It runs without the site module, so that neither the editable installation nor anything else that
a `.pth` file brings in can stand in for a file that the wheel lacks; or, where the harness starts
more of itself, in an environment of its own. With the libraries that it asks for, and real engines,
it is tried as the page on CI says (tests/engines/test_ci_page.py).
"""

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.scenario_texts import MOVED
from tests.wheel import ROOT, build, run

BROKEN = 3
SHARED = ("containers", "reports", "scenarios")
HARNESS = "from harness.__main__ import main; sys.exit(main())"
QUIET = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
NIGHTLY = """\
nightly:
  scenarios: ["my/*"]
  formats: [hudi-cow]
  writers: [spark-3.5.8-hudi-0.15.0]
  readers: ["trino-476{use-column-names=false}"]
"""
PATTERNS = "not shipped: enter its suffix in [tool.setuptools.package-data] of pyproject.toml"


@dataclass(frozen=True, slots=True)
class Installed:
    """The wheel's files in a folder that holds nothing else."""

    wheel: Path
    folder: Path

    def python(self, code: str, *arguments: str, cwd: Path | None = None) -> str:
        """Run code that sees this folder and the libraries, not the checkout; what it prints."""
        return run(*self.command(code), *arguments, cwd=cwd or self.folder)

    def command(self, code: str) -> tuple[str, ...]:
        """Return the command that runs code so."""
        libraries = sysconfig.get_path("purelib")
        start = f"import sys; sys.path[:0] = [{str(self.folder)!r}, {libraries!r}]\n"
        return sys.executable, "-I", "-S", "-c", start + code

    def harness(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run the `harness` command; what it prints."""
        return self.python(HARNESS, *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A wheel built from a copy of the checkout, and installed without its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build(folder)
    target = folder / "installed"
    install = (sys.executable, "-m", "pip", "install", *QUIET, "--target", str(target))
    run(*install, str(wheel), cwd=folder)
    return Installed(wheel, target)


def test_a_wheel_holds_one_package_and_every_file_once(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = wheel.namelist()
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"harness"}
    assert len(names) == len(set(names))
    assert not [name for name in names if "__pycache__" in name]


@pytest.mark.parametrize("shared", SHARED)
def test_a_wheel_holds_every_file_of_the_shared_folders(installed: Installed, shared: str) -> None:
    listed = run("git", "ls-files", "-z", "--", shared, cwd=ROOT)
    tracked = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    assert f"{shared}/__init__.py" in tracked
    here = installed.folder / "harness"
    assert {name for name in tracked if not (here / name).is_file()} == set(), PATTERNS


def test_every_data_file_of_the_product_is_in_the_wheel(installed: Installed) -> None:
    listed = run("git", "ls-files", "-z", "--", "harness", cwd=ROOT)
    files = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    assert {name for name in files if not (installed.folder / name).is_file()} == set(), PATTERNS


def test_the_installed_command_plans_the_shipped_scenarios(installed: Installed) -> None:
    output = installed.harness("plan", "--profile", "first")
    assert "hudi/move[hudi-cow,rewrites=none]" in output
    assert "1 variant, 3 readers, 21 checks" in output


def test_the_installed_command_judges_and_reports_a_recorded_run(
    installed: Installed, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(ROOT / "tests" / "recorded" / "findings_a5", folder)
    output = installed.harness("judge", "--show", "--run-dir", str(folder))
    assert "missing rename" in output
    for name in ("verdicts.jsonl", "report.html", "junit.xml"):
        assert (folder / name).stat().st_size > 10_000


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Somebody's repository, with a scenario and a profile of his own."""
    folder = tmp_path / "elsewhere"
    (folder / "my").mkdir(parents=True)
    (folder / "my" / "story.yaml").write_text(MOVED, encoding="utf-8")
    (folder / "my" / "profiles.yaml").write_text(NIGHTLY, encoding="utf-8")
    return folder


def test_in_another_repository_a_run_without_a_network_says_what_to_bring(
    installed: Installed, repository: Path
) -> None:
    command = (*installed.command(HARNESS), "run", "--scenarios", "my/", "--offline")
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == BROKEN
    assert "Run harness fetch where there is a network" in done.stderr


@pytest.fixture
def environment(installed: Installed, tmp_path: Path) -> Path:
    """An environment with the wheel, and the checkout's libraries behind it; its programs."""
    folder = tmp_path / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", str(folder), cwd=tmp_path)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    python = str(folder / "bin" / "python")
    install = (sys.executable, "-m", "pip", "--python", python, "install", *QUIET)
    run(*install, str(installed.wheel), cwd=tmp_path)
    return folder / "bin"


def test_in_an_environment_of_its_own_the_wheel_comes_before_the_checkout(
    environment: Path, repository: Path
) -> None:
    where = "import harness.engines.spark.worker as w, pyspark; print(w.__file__)"
    output = run(str(environment / "python"), "-c", where, cwd=repository)
    assert Path(output.strip()).is_relative_to(environment.parent)
    assert "my/story" in run(
        *(str(environment / "harness"), "plan", "--scenarios", "my/", "--profile", "nightly"),
        cwd=repository,
    )


def test_in_another_repository_pytest_collects_the_cells(
    installed: Installed, repository: Path
) -> None:
    code = "import harness, pytest; print(harness.__file__); sys.exit(pytest.main())"
    options = ("--collect-only", "-q", "--harness-profile", "nightly", "-p", "no:cacheprovider")
    lines = installed.python(code, *options, "my", cwd=repository).splitlines()
    assert Path(lines[0]).is_relative_to(installed.folder)
    case = "my/story.yaml::cell[my/story[hudi-cow]@spark-3.5.8-hudi-0.15.0/s{}/snapshot/all/"
    results = [line for line in lines if "::" in line]
    assert [text.partition("trino")[0] for text in results] == [*map(case.format, (1, 2, 3))]

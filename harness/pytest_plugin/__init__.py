"""pytest: every cell of a profile is a test, `pytest scenarios/`.

Collecting only plans. The process that was started by the user, also with pytest-xdist, starts one
`harness run` on exactly the selected cells; each test waits for the records of its cell. In a test
run without scenarios nothing of the harness is imported but this file.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from harness.pytest_plugin.child import Child

PROFILE: Final = "harness_profile"
RUN_DIR: Final = "harness_run_dir"
FOLDERS: Final = "harness_scenarios"

_PROFILES: Final = "profiles.yaml"
_BASELINE: Final = ".known.yaml"
_SNIFFED: Final = 1 << 20
"""A scenario file is not longer, in bytes."""
_KEYS: Final = re.compile(rb"^table *:", re.MULTILINE), re.compile(rb"^steps *:", re.MULTILINE)
_BEFORE: Final = "cell["
_AFTER: Final = "]"
_NAMED: Final = pytest.StashKey[tuple[Path, ...]]()
_FOLDER: Final = pytest.StashKey[Path]()
_CHILD: Final[pytest.StashKey[Child]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; all begin with `--harness-`."""
    group = parser.getgroup("lake-table-harness")
    group.addoption(
        "--harness-profile",
        metavar="NAME",
        help="profile whose cells are the tests (default: the ini option, else quick-start)",
    )
    group.addoption(
        "--harness-run-dir",
        type=Path,
        metavar="FOLDER",
        help="the run's folder (default: a new one in runs/)",
    )
    parser.addini(PROFILE, "profile whose cells are the tests", default="quick-start")
    parser.addini(FOLDERS, "folders in which every *.yaml is a scenario", "paths", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a scenario file."""
    if file_path.suffix != ".yaml" or not is_scenario(file_path, parent.config):
        return None
    from harness.pytest_plugin.cells import ScenarioFile  # noqa: PLC0415 - only where it is needed

    found: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
    return found


def is_scenario(path: Path, config: pytest.Config) -> bool:
    """Tell whether a YAML file is a scenario, and not something else of the user's.

    It is when it was named itself or lies in a folder of the ini option; in a folder that was
    named, when it has a table and steps.
    """
    if path.name == _PROFILES or path.name.endswith(_BASELINE):
        return False
    above = set(path.parents)
    if not above.isdisjoint(config.getini(FOLDERS)) or path in named(config):
        return True
    # The root and what is above it are named by a mere `pytest .`, which means other tests.
    too_much = {config.rootpath, *config.rootpath.parents}
    return not above.isdisjoint(set(named(config)) - too_much) and _looks_like_one(path)


def _looks_like_one(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            text = file.read(_SNIFFED)
    except OSError:
        return False
    return all(key.search(text) for key in _KEYS)


def named(config: pytest.Config) -> tuple[Path, ...]:
    """Give the files and folders that the user named on pytest's command line."""
    if _NAMED not in config.stash:
        config.stash[_NAMED] = tuple(map(Path, _named(config)))
    return config.stash[_NAMED]


def _named(config: pytest.Config) -> Sequence[str]:
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist takes all for named
        told: Sequence[str] = config.workerinput["harness_named"]
        return told
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return ()
    names = (each.partition("[")[0].partition("::")[0] for each in config.args)
    return [os.path.normpath(config.invocation_params.dir / name) for name in names]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the cells in the order in which the readers are asked, so that none waits in vain."""
    readers = {item: item.harness_reader for item in items if hasattr(item, "harness_reader")}
    places = [at for at, item in enumerate(items) if item in readers]
    for at, item in zip(places, sorted(readers, key=readers.__getitem__), strict=True):
        items[at] = item


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Start the run on the selected cells, unless workers run the tests."""
    config = session.config
    elsewhere = hasattr(config, "workerinput") or config.pluginmanager.hasplugin("dsession")
    broken = session.testsfailed and not config.option.continue_on_collection_errors
    if elsewhere or broken or config.option.collectonly:
        return
    found = (item for item in session.items if hasattr(item, "harness_reader"))
    cells = [(item.path, case_of(item.name)) for item in found]
    if cells:
        _start(config, cells)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - pytest-xdist may not be there
    """Tell a worker of pytest-xdist what only this process knows."""
    config: pytest.Config = node.config
    node.workerinput["harness_named"] = [str(path) for path in named(config)]
    node.workerinput["harness_run"] = str(folder(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:  # noqa: ANN401
    """Start the run once the first worker has told which cells are selected."""
    config: pytest.Config = node.config
    parts = (each.partition("::") for each in ids)
    own = ((config.rootpath / path, name) for path, _, name in parts if name.startswith(_BEFORE))
    found = [(Path(os.path.normpath(path)), case_of(name)) for path, name in own]
    cells = [each for each in found if each[0].suffix == ".yaml" and is_scenario(each[0], config)]
    if cells and _CHILD not in config.stash:
        _start(config, cells)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let the run end; or end it, when the tests were broken off."""
    child = session.config.stash.get(_CHILD, None)
    if child is None:
        return
    broken_off = session.exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    status = child.end(at_once=bool(broken_off or session.shouldfail or session.shouldstop))
    if status and session.exitstatus == pytest.ExitCode.OK:
        # What is no cell fails as well: a step that was refused, a baseline line that is gone.
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Tell where the run is, and how it ended."""
    child = config.stash.get(_CHILD, None)
    if child is not None:
        terminalreporter.section("lake-table-harness")
        terminalreporter.write_line(child.told())


def name_of(case: str) -> str:
    """Give the name of the test of a case.

    pytest takes all from the first bracket on for parameters and puts the last bracket to it.
    """
    return f"{_BEFORE}{case}{_AFTER}"


def case_of(name: str) -> str:
    """Give the case of a test by its name."""
    return name.removeprefix(_BEFORE).removesuffix(_AFTER)


def profile(config: pytest.Config) -> str:
    """Give the name of the profile that is asked for."""
    return str(config.getoption(PROFILE) or config.getini(PROFILE))


def folder(config: pytest.Config) -> Path:
    """Give the folder of the run; the same in every worker of pytest-xdist."""
    if _FOLDER not in config.stash:
        config.stash[_FOLDER] = _folder(config)
    return config.stash[_FOLDER]


def _folder(config: pytest.Config) -> Path:
    if hasattr(config, "workerinput"):
        return Path(config.workerinput["harness_run"])
    here = config.invocation_params.dir
    if config.getoption(RUN_DIR):
        return here / Path(config.getoption(RUN_DIR))
    now = datetime.datetime.now(datetime.UTC)
    return here / "runs" / f"{now:%Y%m%d-%H%M%S}-{profile(config)}-pytest-{os.getpid()}"


def _start(config: pytest.Config, cells: Sequence[tuple[Path, str]]) -> None:
    # Only where they are needed: they load the harness.
    from harness.errors import HarnessError  # noqa: PLC0415
    from harness.pytest_plugin import child  # noqa: PLC0415

    try:
        config.stash[_CHILD] = child.Child(folder(config), profile(config), cells)
    except HarnessError as problem:
        raise pytest.UsageError(str(problem)) from problem

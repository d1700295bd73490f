"""pytest: every cell of a profile is a test, `pytest scenarios/`.

Collecting only plans. The process that the user started, also with pytest-xdist, starts one
`harness run` on the selected cells; each test waits for its end, and has the verdict on its cell.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from harness.cli.pytest_plugin import pytest_options

if TYPE_CHECKING:
    from harness.cli.pytest_plugin.harness_run import HarnessRun

_RUN: Final[pytest.StashKey[HarnessRun]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lake-table-harness")
    group.addoption(
        "--harness-profile",
        metavar="NAME",
        help="profile whose checks are the tests (default: the ini option, else quick-start)",
    )
    group.addoption(
        "--harness-run-dir",
        type=Path,
        metavar="FOLDER",
        help="the run's folder (default: a new one in runs/)",
    )
    parser.addini(
        pytest_options.PROFILE, "profile whose checks are the tests", default="quick-start"
    )
    parser.addini(
        pytest_options.FOLDERS, "folders in which every *.yaml is a scenario", "paths", default=[]
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix != ".yaml" or not pytest_options.is_scenario(file_path, parent.config):
        return None
    from harness.cli.pytest_plugin.collection import ScenarioFile  # noqa: PLC0415 - only where it is needed

    file: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
    return file


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Start the run on the selected cells, unless workers run the tests."""
    config = session.config
    elsewhere = hasattr(config, "workerinput") or config.pluginmanager.hasplugin("dsession")
    broken = session.testsfailed and not config.option.continue_on_collection_errors
    if elsewhere or broken or config.option.collectonly:
        return
    tests = (item for item in session.items if hasattr(item, "harness_case"))
    if cells := [(item.path, item.harness_case) for item in tests]:
        _start(config, cells)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # noqa: ANN401 - pytest-xdist may not be there
    """Tell a worker of pytest-xdist what only this process knows."""
    config: pytest.Config = node.config
    node.workerinput["harness_named"] = [str(path) for path in pytest_options.named(config)]
    node.workerinput["harness_run"] = str(pytest_options.folder(config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:  # noqa: ANN401
    """Start the run once the first worker has told which cells are selected."""
    config: pytest.Config = node.config
    cells = list[tuple[Path, str]]()
    for local, _, name in (id_.partition("::") for id_ in ids):
        path = Path(os.path.normpath(config.rootpath / local))
        is_cell = path.suffix == ".yaml" and pytest_options.is_cell(name)
        if is_cell and pytest_options.is_scenario(path, config):
            cells.append((path, pytest_options.case_of(name)))
    if cells and _RUN not in config.stash:
        _start(config, cells)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let the run end; or end it, when the tests were broken off."""
    run = session.config.stash.get(_RUN, None)
    if run is None:
        return
    broken_off = session.exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    status = run.end(at_once=bool(broken_off or session.shouldfail or session.shouldstop))
    if status and session.exitstatus == pytest.ExitCode.OK:
        # What is no cell fails as well: a step that was refused, a baseline line that is gone.
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    run = config.stash.get(_RUN, None)
    if run is not None:
        terminalreporter.section("lake-table-harness")
        terminalreporter.write_line(run.summary())


def _start(config: pytest.Config, cells: Sequence[tuple[Path, str]]) -> None:
    # Only where they are needed: they load the harness.
    from harness.cli.pytest_plugin import harness_run  # noqa: PLC0415
    from harness.core.errors import HarnessError  # noqa: PLC0415

    try:
        config.stash[_RUN] = harness_run.HarnessRun(
            pytest_options.folder(config), pytest_options.profile(config), cells
        )
    except HarnessError as problem:
        raise pytest.UsageError(str(problem)) from problem

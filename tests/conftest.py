"""What every test gets: a cache folder of its own, unless it starts real engines, and no
distributions that another test has made known.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from harness.artifacts import distributions, result_cache
from harness.usage import own_tables

# How long an example takes says more about the machine than about the code. The gate of a change
# asks the same examples each time, so that it tells of that change; `make hunt` looks for others.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("hunt", deadline=None, print_blob=True)
settings.load_profile("steady")

# In the background of a shell, or under nohup, Ctrl-C is ignored, and programs inherit that: those
# that tests interrupt would go on for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


BUILD_SERVER = (
    *("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "GITHUB_REPOSITORY"),
    *("CI_PROJECT_DIR", "CI_PROJECT_URL", "WORKSPACE", "BUILD_URL"),
)
"""Variables by which reports know that a build server reads them, and which."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fetch-large",
        action="store_true",
        help="also download engines of more than 1 GB; tests of those not there are skipped else",
    )


@pytest.fixture(autouse=True)
def custom_distributions(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what distributions of somebody's own, and place for tables, a test has made known."""
    known: dict[str, tuple[str, str]] = {}
    monkeypatch.setattr(distributions, "_custom", known)
    own_tables.use(None)
    yield
    if known:
        distributions.load.cache_clear()


@pytest.fixture(autouse=True)
def no_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep nothing that code works out which a test may have changed in this process alone."""
    monkeypatch.setattr(result_cache, "harness_digest", lambda: "")


@pytest.fixture(autouse=True)
def no_build_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a test that runs on a build server from telling it anything."""
    for name in BUILD_SERVER:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def own_cache(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep a test without engines from reading or filling the cache of the person who runs it."""
    if request.node.get_closest_marker("engines") is None:
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test whose name has an address in it: it is another one in each process."""
    if named := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"name its parameters by ids: {named[0]}")

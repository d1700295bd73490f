"""What tests with real engines share: a metastore, servers, writers and one run of all plans.

Each is started when a test first asks for it, and stays for the whole session.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.fetch import Installation
from harness.cli.output import PlainProgress
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.engines.api import Server
from harness.plan import Writer
from harness.read.questions import load_engine
from harness.run.load_run import Run
from harness.runtime import docker_daemon, provide
from harness.runtime.metastore import Metastore, oldest_for
from harness.runtime.process_runtime import ProcessRuntime
from harness.scenario.cells import Cell, parse_reader
from harness.scenario.definition import Scenario
from harness.write import write_variants
from harness.write.send_step import WriterFor
from harness.write.state_records import VariantResult
from harness.write.writer_pool import WriteContext, WriterPool, WriteTarget
from tests.engines.ci_run import SECRETS, Finished
from tests.engines.ci_run import run as ci
from tests.engines.everyone import Installed, Running, TooLarge
from tests.engines.fetch_engines import LARGE, download_size
from tests.engines.hudi_writers import Write, variant_of
from tests.engines.planned_run import done, merge, part, without
from tests.engines.shared_servers import SharedServers

LEFT_OUT: Final[defaultdict[str, set[Cell]]] = defaultdict(set)
"""By module, the cells of tests that are not to run: their questions are not asked."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            cell = item.callspec.params.get("cell")
            LEFT_OUT[item.module.__name__] |= {cell} if isinstance(cell, Cell) else set()


@pytest.fixture(scope="session")
def cache() -> Cache:
    """The user's own cache: what is fetched for a test serves a run too."""
    return Cache.default()


@pytest.fixture(scope="session")
def progress() -> Progress:
    return PlainProgress(sys.stderr)


@pytest.fixture(scope="session")
def metastore(
    cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Metastore]:
    """A running metastore; tests make databases of their own in it (`database`)."""
    folder = tmp_path_factory.mktemp("metastore")
    with provide.start_metastore(cache, folder, progress) as running:
        yield running


@pytest.fixture(scope="session")
def too_large(request: pytest.FixtureRequest, cache: Cache) -> TooLarge:
    """Tells why a distribution is not downloaded unasked; empty when it is, or is there."""

    def tell(name: str) -> str:
        lacking = download_size(name, cache)
        if lacking <= LARGE or request.config.getoption("--fetch-large"):
            return ""
        return f"{name} is {lacking / 1e6:.0f} MB to download: --fetch-large does"

    return tell


@pytest.fixture(scope="session")
def installed(too_large: TooLarge, cache: Cache, progress: Progress) -> Installed:
    """Return an installation of a distribution; skip where its download is large and unasked."""

    def give(name: str) -> Installation:
        if why := too_large(name):
            pytest.skip(why)
        return fetch.ensure(distributions.load(name), cache, progress)

    return give


@pytest.fixture
def database() -> str:
    """A name of a database that no other test uses; nobody has created it."""
    return f"db_{uuid4().hex[:12]}"


@pytest.fixture
def target(metastore: Metastore, database: str, tmp_path: Path) -> WriteTarget:
    """States go to a cache of the test's own, so that they are really written."""
    (tmp_path / "original").mkdir()
    return WriteTarget(Cache(tmp_path / "cache"), metastore.uri, database, tmp_path / "original")


@pytest.fixture(scope="session")
def servers(
    metastore: Metastore,
    installed: Installed,
    cache: Cache,
    progress: Progress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SharedServers]:
    """The servers of distributions, for tests that change nothing in them.

    Who cannot ask through the metastore that the others share has one of its own.
    """

    @contextmanager
    def serve(name: str) -> Iterator[Server]:
        runtime, uris = ProcessRuntime(installed(name)), metastore.uris
        with ExitStack() as stack:
            if oldest := oldest_for(runtime.distribution):
                folder = tmp_path_factory.mktemp(oldest)
                starting = provide.start_metastore(cache, folder, progress, oldest)
                uris = stack.enter_context(starting).uris
            folder = tmp_path_factory.mktemp(name)
            yield stack.enter_context(load_engine(name).serve(runtime, uris, folder, progress))

    with ExitStack() as stack:
        yield SharedServers(serve, stack)


@pytest.fixture
def readers(request: pytest.FixtureRequest, servers: SharedServers) -> Sequence[Running]:
    """The readers whose texts are the parameter; one server for all of a distribution."""
    asked = [parse_reader(text) for text in request.param]
    return [
        Running(reader, load_engine(reader.distribution), servers(reader.distribution))
        for reader in asked
    ]


@pytest.fixture(scope="session")
def writer_for(
    metastore: Metastore, cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WriterFor]:
    """Yield the writing process of a distribution; those that were asked for stay, as in a run."""
    context = WriteContext(cache, tmp_path_factory.mktemp("writers"), progress)
    pool = WriterPool(context, metastore.uris)
    with closing(pool):
        yield pool.writer


@pytest.fixture
def write(writer_for: WriterFor, target: WriteTarget) -> Write:
    def give(scenario: Scenario | str, format_name: str, writer: Writer | str) -> VariantResult:
        variant = variant_of(scenario, format_name, writer)
        return write_variants.write_variant(variant, target, writer_for)

    return give


@pytest.fixture(scope="session")
def everything_planned(
    request: pytest.FixtureRequest,
    cache: Cache,
    progress: Progress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """One run of the plans (`PLAN`) of all modules whose tests ask for `run`."""
    asking = (item for item in request.session.items if isinstance(item, pytest.Function))
    plans = {
        (name := item.module.__name__): without(item.module.PLAN, LEFT_OUT[name])
        for item in asking
        if "run" in item.fixturenames
    }
    return done(merge(plans.values()), tmp_path_factory.mktemp("planned"), cache, progress)


@pytest.fixture(scope="module")
def run(request: pytest.FixtureRequest, everything_planned: Run) -> Run:
    return part(everything_planned, request.module.PLAN)


@pytest.fixture(scope="session")
def ci_run(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return ci(tmp_path_factory.mktemp("run") / "ci", "--fresh", variables=SECRETS)


@pytest.fixture(scope="session")
def docker() -> None:
    """Skip where no Docker daemon answers; fail where the tests are to have one."""
    try:
        docker_daemon.describe()
    except EnvironmentProblem as problem:
        if os.environ.get("HARNESS_REQUIRE_DOCKER"):
            raise
        pytest.skip(str(problem))

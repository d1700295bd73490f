"""What tests with real engines share. One metastore for a whole session (of a worker)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Final
from uuid import uuid4

import pytest

from harness import engines
from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.fetch import Installation
from harness.cli.console.progress_display import PlainProgress
from harness.core.progress import Progress
from harness.engines.api import Engine, Server
from harness.runtime import metastore as runtime
from harness.runtime.metastore import Metastore
from harness.scenario.cells import parse_reader
from harness.write.send_step import SparkFor
from harness.write.writer_pool import WriteContext, WriterPool
from tests.engines.everyone import Installed, Running, TooLarge

LARGE: Final = 1_000_000_000
"""A download of more bytes is made only when it is asked for."""


@pytest.fixture(scope="session")
def cache() -> Cache:
    """The user's own cache: what is fetched for a test serves a run too."""
    return Cache.default()


@pytest.fixture(scope="session")
def progress() -> Progress:
    return PlainProgress()


@pytest.fixture(scope="session")
def metastore(
    cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Metastore]:
    """A running metastore; tests make databases of their own in it (`database`)."""
    distribution = distributions.load("hive-metastore-3.1.3")
    installation = fetch.ensure(distribution, cache, progress)
    folder = tmp_path_factory.mktemp("metastore")
    with runtime.serve(installation, cache, folder, progress) as running:
        yield running


@pytest.fixture(scope="session")
def too_large(request: pytest.FixtureRequest, cache: Cache) -> TooLarge:
    """Tells why a distribution is not downloaded unasked; empty when it is, or is there."""

    def tell(name: str) -> str:
        lacking = sum(each.size for each in fetch.missing(distributions.load(name), cache))
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


@pytest.fixture(scope="module")
def readers(
    request: pytest.FixtureRequest,
    metastore: Metastore,
    installed: Installed,
    progress: Progress,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Sequence[Running]]:
    """The readers whose texts are the parameter; one server for all of a distribution."""
    wanted = [parse_reader(text) for text in request.param]
    with ExitStack() as stack:
        servers: dict[str, tuple[Engine, Server]] = {}
        for name in dict.fromkeys(each.distribution for each in wanted):
            installation = installed(name)
            engine = engines.load(installation.distribution.engine)
            folder = tmp_path_factory.mktemp(name)
            serving = engine.serve(installation, metastore.uri, folder, progress)
            servers[name] = engine, stack.enter_context(serving)
        yield [Running(each, *servers[each.distribution]) for each in wanted]


@pytest.fixture(scope="module")
def spark_for(
    metastore: Metastore, cache: Cache, progress: Progress, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkFor]:
    """Yield the writing process of a distribution; those that were asked for stay, as in a run."""
    context = WriteContext(cache, tmp_path_factory.mktemp("writers"), progress)
    pool = WriterPool(context, metastore.uri)
    with pool.running():
        yield pool.spark

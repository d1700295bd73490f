"""What tests with real engines share. One metastore for a whole session (of a worker)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from harness.progress import PlainProgress, Progress
from harness.runtimes import distributions, fetch
from harness.runtimes import metastore as runtime
from harness.runtimes.cache import Cache
from harness.runtimes.metastore import Metastore


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


@pytest.fixture
def database() -> str:
    """A name of a database that no other test uses; nobody has created it."""
    return f"db_{uuid4().hex[:12]}"

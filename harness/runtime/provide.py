"""How the servers of a distribution are run: what is fetched for it, and which runtime it has."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress, started
from harness.runtime import metastore
from harness.runtime.api import Runtime
from harness.runtime.metastore import Metastore
from harness.runtime.process_runtime import ProcessRuntime


def runtime(distribution: Distribution, cache: Cache, progress: Progress) -> Runtime:
    """Return how the servers of a distribution are run, once what it needs is there.

    Raises:
        EnvironmentProblem: something that it needs cannot be had.

    """
    return ProcessRuntime(fetch.ensure(distribution, cache, progress))


def start_metastore(
    cache: Cache, folder: Path, progress: Progress
) -> AbstractContextManager[Metastore]:
    """Start an empty metastore in a folder of its own, for as long as the context lasts.

    Raises:
        EnvironmentProblem: it did not get ready; the message holds the end of its log.

    """
    found = distributions.load(metastore.DISTRIBUTION)
    installation = fetch.ensure(found, cache, progress)
    prepared = metastore.schema(installation, cache, progress)
    serving = metastore.serve(ProcessRuntime(installation), prepared, folder)
    return started(found.name, serving, progress)

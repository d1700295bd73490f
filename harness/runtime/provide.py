"""How the servers of a distribution are run: what is fetched for it, and which runtime it has."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from harness.artifacts import distributions, fetch, object_storage, table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.core.progress import Progress, started
from harness.core.runtime_names import CONTAINER
from harness.runtime import (
    container_network,
    docker_daemon,
    image_choice,
    metastore,
    object_store,
    template,
    work_folders,
)
from harness.runtime.api import Runtime
from harness.runtime.container_runtime import ContainerRuntime
from harness.runtime.metastore import Metastore
from harness.runtime.object_store import ObjectStore
from harness.runtime.process_runtime import ProcessRuntime


def runtime(
    distribution: Distribution, cache: Cache, progress: Progress, writes: Path | None = None
) -> Runtime:
    """Return how servers are run, once all is there; `writes`: the folder that they write in."""
    if distribution.runtime != CONTAINER:
        return ProcessRuntime(fetch.ensure(distribution, cache, progress))
    image = image_choice.choose(distribution, cache, progress)
    network = container_network.shared()
    states, homes = cache.states(), table_homes.folder(cache)
    for path in (states, homes):
        path.mkdir(parents=True, exist_ok=True)  # the daemon would make it, as root
    if writes is None:
        return ContainerRuntime(distribution, image, network, (states, homes))
    return ContainerRuntime(distribution, image, network, (states,), (homes, writes))


def digest(distribution: Distribution) -> str:
    """Return the digest of all that can change what a distribution's servers answer."""
    settings = distributions.digest(distribution)
    if distribution.warehouse:
        store = distributions.digest(distributions.load(object_storage.store()))
        store = distributions.digest_of([store, template.sources(object_store.TEMPLATES)])
        return distributions.digest_of([settings, store])
    if distribution.runtime == CONTAINER:
        return distributions.digest_of([settings, image_choice.chosen(distribution.name).digest])
    return settings


def check(every: Iterable[Distribution]) -> None:
    """Check that a Docker daemon answers if any of these needs one, before anything is begun."""
    if any(distribution.runtime == CONTAINER for distribution in every):
        docker_daemon.client().close()


def ensure(distribution: Distribution, cache: Cache, progress: Progress) -> None:
    if distribution.runtime != CONTAINER:
        fetch.ensure(distribution, cache, progress)
    else:
        image_choice.choose(distribution, cache, progress)


@contextmanager
def start_metastore(
    cache: Cache,
    folder: Path,
    progress: Progress,
    name: str = metastore.DISTRIBUTION,
    prepared: Path | None = None,
    *,
    compacts: bool = False,
) -> Iterator[Metastore]:
    """Start a metastore in an empty folder, with its object store if it knows one.

    `prepared`: the database that it starts from, else an empty one. `compacts`: whether it carries
    out compactions of transactional tables.
    """
    distribution = distributions.load(name)
    if compacts:
        site = {**distribution.options_if_any("site"), **metastore.COMPACTS, **metastore.TAKES_ALL}
        distribution = replace(distribution, settings={**distribution.settings, "site": site})
    storing = (
        start_store(cache, folder.parent, progress) if distribution.warehouse else nullcontext()
    )
    with storing as store:
        reached = object_storage.reaching(distribution, store.url) if store else distribution
        how = runtime(reached, cache, progress, folder.parent)
        if prepared is None and isinstance(how, ProcessRuntime):
            prepared = metastore.empty_database(how.installation, cache, progress)
        serving = metastore.serve(how, prepared, folder, compacts=compacts)
        with started(name, serving, progress) as running:
            yield replace(running, store=store)


def start_store(
    cache: Cache, folder: Path, progress: Progress, written: Path | None = None
) -> AbstractContextManager[ObjectStore]:
    """Start an object store in a new folder beside others; `written`: see `object_store.serve`."""
    name = object_storage.store()
    how = runtime(distributions.load(name), cache, progress)
    serving = object_store.serve(how, work_folders.numbered(folder, name), written)
    return started(name, serving, progress)


def upgraded(cache: Cache, folder: Path, progress: Progress, name: str) -> Path:
    """Return the database of a metastore that has ended, upgraded for the distribution `name`."""
    tool = distributions.load(distributions.load(name).text(metastore.TOOL))
    installation = fetch.ensure(tool, cache, progress)
    progress.note(f"upgrade the metastore's database for {name}")
    return metastore.upgrade_database(installation, folder / metastore.DERBY)

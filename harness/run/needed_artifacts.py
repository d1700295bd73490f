"""What a plan needs, and how it comes to be there before anything starts."""

from __future__ import annotations

from collections.abc import Iterable

from harness.artifacts import distributions, fetch, object_storage
from harness.artifacts.cache import Cache
from harness.core import runtime_names
from harness.core.counting import counted
from harness.core.metastore_choice import MetastoreChoice
from harness.core.progress import Progress
from harness.core.runtime_names import PROCESS
from harness.runtime import hive_mutation, metastore, provide
from harness.scenario.cells import Plan


def needed(plan: Plan) -> tuple[str, ...]:
    """Name every distribution that a plan needs, in the order of their use."""
    writers = {writer: None for variant in plan.variants for writer in variant.writers}
    tools = hive_mutation.needed(map(distributions.load, writers))
    readers = (reader.distribution for reader in plan.readers)
    asked = tuple(dict.fromkeys((*writers, *readers)))
    catalog = metastore.distribution_for(asked)
    reached = distributions.load(catalog).warehouse or any(
        object_storage.written(distributions.load(writer)) for writer in writers
    )
    store = (object_storage.store(),) if reached else ()
    # Tables are written on the usual one, whatever their readers ask through, unless a writer is
    # too new for it.
    unusual = () if plan.metastore.usual else metastore.needed(plan.metastore)
    newer = filter(None, (metastore.oldest_for(distributions.load(writer)) for writer in writers))
    return tuple(dict.fromkeys((catalog, *store, *newer, *unusual, *asked, *tools)))


def metastore_of(plan: Plan) -> str:
    """Name the metastore that all engines of a plan can reach, on which its tables are written."""
    return needed(plan)[0]


def writers_metastore(plan: Plan) -> str:
    """Name the same as writers need it, who write to the disk."""
    return runtime_names.on_disk(metastore_of(plan))


def readers_metastore(plan: Plan) -> MetastoreChoice:
    """Return the metastore that the readers of a plan ask through, with its runtime."""
    return MetastoreChoice(metastore_of(plan)) if plan.metastore.usual else plan.metastore


def fetch_all(names: Iterable[str], cache: Cache, progress: Progress) -> None:
    """Make every distribution be there, telling first what has to be fetched and where it goes."""
    cache.claim()
    result = [distributions.load(name) for name in names]
    processes = [distribution for distribution in result if distribution.runtime == PROCESS]
    lacking = {one.name: fetch.missing(one, cache) for one in processes}
    there = ", ".join(name for name, files in lacking.items() if not files)
    if there:
        progress.note(f"there already, in {cache.root}: {there}")
    missing = {artifact.name: artifact for files in lacking.values() for artifact in files}
    fetch.check_online(tuple(missing.values()), cache)
    if missing:
        total = sum(artifact.size for artifact in missing.values()) / 1e6
        progress.note(
            f"fetch {counted(len(missing), 'file')}, {total:.0f} MB, once, into {cache.root}"
        )
    for distribution in result:
        provide.ensure(distribution, cache, progress)

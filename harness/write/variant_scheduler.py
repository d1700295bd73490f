"""The verb *write*: every variant is found in the cache, or written and frozen after each step.

Variants of the same writers are written together, two at a time, by one process for each writer of
their sequence, most often one. A variant whose writer falls silent is written once more, alone, in
fresh processes.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from typing import Final

from harness.artifacts import distributions, fetch
from harness.artifacts.cache import Cache
from harness.core.progress import Progress, started
from harness.core.records import StateRecord
from harness.engines.spark import launch, session
from harness.runtime import memory, metastore, work_folders
from harness.scenario.cells import Variant
from harness.write import state_store, table_state, variant_writer
from harness.write.state_records import Written
from harness.write.variant_writer import Place, WriterSilent

AT_ONCE: Final = 2
"""Variants that are written at once: 1.6 times faster than one after another."""


@dataclass(frozen=True, slots=True)
class Writing:
    """Where a writing phase works."""

    cache: Cache
    folder: Path
    """The run's own folder for processes, logs and the tables while they are written."""
    progress: Progress
    timeout_s: float = variant_writer.TIMEOUT_S
    """After so long a statement counts as unanswered."""


def write(variants: Sequence[Variant], where: Writing, found: Callable[[Written], None]) -> None:
    """Get the states of every variant; `found` is told of each variant as it is written.

    Raises:
        EnvironmentProblem: an artifact is missing, or a process does not start.

    """
    missing = []
    for variant in variants:
        kept = variant_writer.kept(variant, where.cache)
        if kept is None:
            missing.append(variant)
        else:
            found(kept)
    if len(missing) < len(variants):
        where.progress.note(
            f"kept from earlier runs: {len(variants) - len(missing)} of {len(variants)} variants"
        )
    if missing:
        with where.progress.count("write tables", len(missing)) as tables:
            for written in _write_missing(missing, where):
                tables.advance()
                found(written)


def memory_mb(variants: Sequence[Variant]) -> int:
    """Return how much memory writing takes: the metastore, and every writer of one variant."""
    at_once = {frozenset((metastore.DISTRIBUTION, *variant.writers)) for variant in variants}
    sums = (sum(distributions.load(name).memory_mb for name in names) for names in at_once)
    return max(sums, default=0)


def load(records: Iterable[StateRecord], cache: Cache) -> table_state.States:
    """Find the states that records name; those that are no longer kept are left out."""
    named = ((each, state_store.load(cache, each.digest)) for each in records if each.digest)
    return {(each.variant, each.outcome.step): state for each, state in named if state}


def _write_missing(missing: Sequence[Variant], where: Writing) -> Iterator[Written]:
    where.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        found = fetch.ensure(
            distributions.load(metastore.DISTRIBUTION), where.cache, where.progress
        )
        folder = Path(tempfile.mkdtemp(prefix="metastore-", dir=where.folder))
        running = metastore.serve(found, where.cache, folder, where.progress)
        serving = started(metastore.DISTRIBUTION, running, where.progress)
        bench = Bench(where, stack.enter_context(serving).uri)
        for writers, group in groupby(sorted(missing, key=_by_writer), key=_by_writer):
            where.progress.note(f"write with {', '.join(dict.fromkeys(writers))}")
            yield from _write_group(list(group), bench)


def _by_writer(variant: Variant) -> tuple[str, ...]:
    # Only whether and when the writer changes counts, not how many steps there are.
    return tuple(each for each, _ in groupby(variant.writers))


def _write_group(group: Sequence[Variant], bench: Bench) -> Iterator[Written]:
    again: list[tuple[Variant, WriterSilent]] = []
    with bench.at_work(), ThreadPoolExecutor(AT_ONCE) as threads:
        attempts = [(each, threads.submit(bench.write, each)) for each in group]
        for variant, attempt in attempts:
            try:
                yield attempt.result()
            except WriterSilent as silence:
                again.append((variant, silence))
            except BaseException:
                # The others are not waited for: their process ends with the bench.
                threads.shutdown(wait=False, cancel_futures=True)
                bench.end()
                raise
    for variant, why in again:
        bench.where.progress.note(f"{variant.id}: {why}; once more, alone")
        with bench.at_work():
            yield _once_more(variant, bench)


def _once_more(variant: Variant, bench: Bench) -> Written:
    try:
        return bench.write(variant)
    except WriterSilent as silence:
        broken = StateRecord(variant.id, silence.outcome, "")
        return Written((*silence.done.records, broken), silence.done.states)


class Bench:
    """The writing processes that run, and a place for each variant."""

    def __init__(self, where: Writing, metastore_uri: str) -> None:
        """No process runs yet."""
        self.where = where
        self._metastore_uri = metastore_uri
        self._stack = ExitStack()
        self._running: dict[str, session.Spark] = {}
        self._lock = threading.Lock()
        self._numbers = count()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """End the processes that run on the way out."""
        try:
            yield
        finally:
            self.end()

    def write(self, variant: Variant) -> Written:
        """Write a variant; raises as `writing.write` does."""
        folder = self._folder("table")
        uri, database = self._metastore_uri, folder.name.replace("-", "_")
        place = Place(self.where.cache, uri, database, folder, timeout_s=self.where.timeout_s)
        return variant_writer.write(variant, place, self._spark)

    def _spark(self, name: str) -> session.Spark:
        """Return the process of a distribution, a new one when it is the first or the last died."""
        with self._lock:
            if name not in self._running or not self._running[name].alive():
                found = fetch.ensure(
                    distributions.load(name), self.where.cache, self.where.progress
                )
                memory.check(found.distribution)
                running = launch.spark(found, self._metastore_uri, self._folder(name))
                serving = started(name, running, self.where.progress)
                self._running[name] = self._stack.enter_context(serving)
            return self._running[name]

    def _folder(self, name: str) -> Path:
        """Make a folder for one process or one table, of a name that was never used here."""
        return work_folders.numbered(self.where.folder, name, self._numbers)

    def end(self) -> None:
        """End the processes that run."""
        self._running.clear()
        self._stack.close()

"""The verb *write*: every variant is found in the cache, or written and frozen after each step.

Variants of the same writers are written together, two at a time, by one process for each writer of
their sequence, most often one; those that kill it are written one at a time. A variant whose writer
falls silent is written once more, alone, in fresh processes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Final

from harness import formats
from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import StateRecord
from harness.runtime import metastore, provide
from harness.scenario.cells import Variant
from harness.scenario.operations.failed_writes import KilledWrite
from harness.scenario.operations.second_writer import BeginWrite
from harness.write import state_store, write_variant
from harness.write.state_records import VariantResult
from harness.write.table_state import States
from harness.write.write_variant import WriterSilent
from harness.write.writer_pool import WriteContext, WriterPool

AT_ONCE: Final = 2
"""Variants that are written at once: 1.6 times faster than one after another."""


def write(
    variants: Sequence[Variant], context: WriteContext
) -> Generator[VariantResult, None, None]:
    """Yield the records and states of every variant, those found in the cache first.

    Raises:
        EnvironmentProblem: an artifact is missing, or a process does not start.

    """
    missing, progress = list[Variant](), context.progress
    for variant in variants:
        result = write_variant.find_variant(variant, context.cache)
        if result is None:
            missing.append(variant)
        else:
            yield result
    if len(missing) < len(variants):
        reused = len(variants) - len(missing)
        progress.note(f"kept from earlier runs: {reused} of {counted(len(variants), 'variant')}")
    if missing:
        with progress.count("write tables", len(missing)) as tables:
            by_catalog = grouped([(metastore_of(v, context.metastore), v) for v in missing])
            for catalog, variants_on_it in sorted(by_catalog.items()):
                for result in _write_on(catalog, variants_on_it, context):
                    tables.advance()
                    yield result


def memory_mb(variants: Sequence[Variant]) -> int:
    """Return how much memory writing takes: the metastore, and every writer of one variant."""
    at_once = {(frozenset(variant.writers), _in_two(variant)) for variant in variants}
    served = distributions.load(metastore.DISTRIBUTION).memory_mb
    sums = (
        sum(distributions.load(name).memory_mb for name in names) * (2 if two else 1)
        for names, two in at_once
    )
    return max((served + sum_ for sum_ in sums), default=0)


def load(records: Iterable[StateRecord], cache: Cache) -> States:
    """Find the states that records name; those that are no longer kept are left out."""
    named = (
        (record, state_store.load(cache, record.digest)) for record in records if record.digest
    )
    return {(record.variant, record.outcome.step): state for record, state in named if state}


def metastore_of(variant: Variant, usual: str) -> str:
    """Return the metastore on which a variant is written: another one if a writer is too new."""
    named = (metastore.oldest_for(distributions.load(name)) for name in variant.writers)
    return max(filter(None, named), default=usual)


def _write_on(
    catalog: str, missing: Sequence[Variant], context: WriteContext
) -> Iterator[VariantResult]:
    """Yield what came of variants that are written on one metastore."""
    context.folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="metastore-", dir=context.folder))
    serving = provide.start_metastore(
        context.cache,
        folder,
        context.progress,
        catalog,
        compacts=any(formats.facts(variant.format).transactional for variant in missing),
    )
    with serving as running:
        pool = WriterPool(context, running.uris)
        for (writers, kills), group in groupby(sorted(missing, key=_group), key=_group):
            context.progress.note(f"write with {', '.join(dict.fromkeys(writers))}")
            yield from _write_group(list(group), pool, 1 if kills else AT_ONCE)


def _in_two(variant: Variant) -> bool:
    """Return whether a second writer has a process of its own beside that of the first.

    It writes at the same time; or it is a server that is killed in its transaction.
    """
    begins = any(isinstance(step.operation, BeginWrite) for step in variant.scenario.steps)
    return begins or (_kills(variant) and formats.facts(variant.format).transactional)


def _kills(variant: Variant) -> bool:
    return any(isinstance(step.operation, KilledWrite) for step in variant.scenario.steps)


def _group(variant: Variant) -> tuple[tuple[str, ...], bool]:
    """Return what variants have in common that share processes; who kills one has it alone."""
    return _by_writer(variant), _kills(variant)


def _by_writer(variant: Variant) -> tuple[str, ...]:
    # Only whether and when the writer changes counts, not how many steps there are.
    return tuple(writer for writer, _ in groupby(variant.writers))


def _write_group(
    group: Sequence[Variant], pool: WriterPool, at_once: int = AT_ONCE
) -> Iterator[VariantResult]:
    again: list[tuple[Variant, WriterSilent]] = []
    with pool.running(), ThreadPoolExecutor(at_once) as threads:
        attempts = [(variant, threads.submit(_write_one, variant, pool)) for variant in group]
        for variant, attempt in attempts:
            try:
                yield attempt.result()
            except WriterSilent as silence:
                again.append((variant, silence))
            except BaseException:
                # The others are not waited for: their process ends with the pool.
                threads.shutdown(wait=False, cancel_futures=True)
                pool.end()
                raise
    for variant, why in again:
        pool.context.progress.note(f"{variant.id}: {why}; once more, alone")
        with pool.running():
            yield _once_more(variant, pool)


def _write_one(variant: Variant, pool: WriterPool) -> VariantResult:
    return write_variant.write_variant(variant, pool.target(), pool.writer)


def _once_more(variant: Variant, pool: WriterPool) -> VariantResult:
    try:
        return _write_one(variant, pool)
    except WriterSilent as silence:
        broken = StateRecord(variant.id, silence.outcome, "")
        return VariantResult((*silence.done.records, broken), silence.done.states)

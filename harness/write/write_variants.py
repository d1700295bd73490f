"""The verb *write*: every variant is found in the cache, or written and frozen after each step.

Variants of the same writers are written two at a time by one process for each writer; those that
kill it alone. One whose writer falls silent is written once more, alone, in fresh processes.
"""

import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Final

from harness import formats
from harness.artifacts import distributions, table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.result_cache import ResultCache
from harness.core import refusals
from harness.core.errors import HarnessError
from harness.core.grouping import grouped
from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.core.texts import counted
from harness.engines.api import NoAnswerError, RefusedError
from harness.formats.api import NO_CATALOG, FileFactError
from harness.model.canonical import Value
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import IN_ORDER, FileFact, StoredStatistics
from harness.runtime import metastore, metastore_client, provide
from harness.runtime.metastore_client import Catalog
from harness.runtime.metastore_objects import CatalogHistory
from harness.scenario.cells import Variant
from harness.scenario.operations.row_writes import WriteWithMetadata
from harness.scenario.operations.unfinished_writes import BeginWrite, KilledWrite
from harness.scenario.statements import filled
from harness.write import state_records, state_store
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import StepSender, WriterFor
from harness.write.state_records import VariantResult
from harness.write.state_store import Frozen, State, States
from harness.write.writer_pool import WriteContext, WriterPool, WriteTarget

AT_ONCE: Final = 2
"""Variants that are written at once: 1.6 times faster than one after another."""


class WriterSilent(Exception):
    """The writer crashed or did not answer: nothing is known of the table since then."""

    def __init__(self, outcome: Outcome) -> None:
        """`outcome`: of the step that got no answer."""
        super().__init__(outcome.because)
        self.outcome = outcome
        self.done = VariantResult((), {})
        """The steps before."""


def write(
    variants: Sequence[Variant], context: WriteContext
) -> Generator[VariantResult, None, None]:
    """Yield the records and states of every variant, those found in the cache first.

    Before others are written, which takes longer than an engine takes to start, come none.
    """
    missing, progress = list[Variant](), context.progress
    for variant in variants:
        result = find_variant(variant, context.cache)
        if result is None:
            missing.append(variant)
        else:
            yield result
    if len(missing) < len(variants):
        reused = len(variants) - len(missing)
        progress.note(f"kept from earlier runs: {reused} of {counted(len(variants), 'variant')}")
    if missing:
        yield VariantResult((), {})
        with progress.count("write tables", len(missing)) as tables:
            for result in _write_missing(missing, context):
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


def _write_missing(missing: Sequence[Variant], context: WriteContext) -> Iterator[VariantResult]:
    by_catalog = grouped([(metastore_of(v, context.metastore), v) for v in missing])
    context.folder.mkdir(parents=True, exist_ok=True)
    for catalog, variants in sorted(by_catalog.items()):
        serving = provide.start_metastore(
            context.cache,
            Path(tempfile.mkdtemp(prefix="metastore-", dir=context.folder)),
            context.progress,
            catalog,
            compacts=any(formats.facts(variant.format).transactional for variant in variants),
        )
        with serving as running:
            pool = WriterPool(context, running.uris)
            for (writers, kills), group in groupby(sorted(variants, key=_group), key=_group):
                context.progress.note(f"write with {', '.join(dict.fromkeys(writers))}")
                # Of a server that compacts as well, two jobs at once were seen to write nothing.
                alone = kills or running.uris.database
                yield from _write_group(list(group), pool, 1 if alone else AT_ONCE)


def _in_two(variant: Variant) -> bool:
    """Return whether a second writer, or a server that is killed, has a process of its own."""
    begins = any(isinstance(step.operation, BeginWrite) for step in variant.scenario.steps)
    return begins or (_kills(variant) and formats.facts(variant.format).transactional)


def _kills(variant: Variant) -> bool:
    return any(isinstance(step.operation, KilledWrite) for step in variant.scenario.steps)


def _group(variant: Variant) -> tuple[tuple[str, ...], bool]:
    """Return what variants have in common that share processes; who kills one has it alone."""
    # Only whether and when the writer changes counts, not how many steps there are.
    return tuple(writer for writer, _ in groupby(variant.writers)), _kills(variant)


def _write_group(
    group: Sequence[Variant], pool: WriterPool, at_once: int = AT_ONCE
) -> Iterator[VariantResult]:
    again: list[tuple[Variant, WriterSilent]] = []
    with closing(pool), ThreadPoolExecutor(at_once) as threads:
        attempts = [
            (variant, threads.submit(write_variant, variant, pool.target(), pool.writer))
            for variant in group
        ]
        for variant, attempt in attempts:
            try:
                yield attempt.result()
            except WriterSilent as silence:
                again.append((variant, silence))
            except BaseException:
                # The others are not waited for: their process ends with the pool.
                threads.shutdown(wait=False, cancel_futures=True)
                pool.close()
                raise
    for variant, why in again:
        pool.context.progress.note(f"{variant.id}: {why}; once more, alone")
        with closing(pool):
            try:
                result = write_variant(variant, pool.target(), pool.writer)
            except WriterSilent as silence:
                broken = StateRecord(variant.id, silence.outcome, "")
                result = VariantResult((*silence.done.records, broken), silence.done.states)
        yield result


def find_variant(variant: Variant, cache: Cache) -> VariantResult | None:
    """Find the states of all steps in the cache; None when one is not there."""
    outcomes, states = VariantOutcomes(variant), list[State | None]()
    while not outcomes.complete:
        step = outcomes.next_step()
        state = None if step.skipped else state_store.load(cache, step.address)
        if state is None and not step.skipped:
            return None
        states.append(state)
        outcome = state.frozen.outcome if state else step.skip
        outcomes = outcomes.then(replace(outcome, step=step.step))
    return state_records.record(outcomes, states, ResultCache.in_cache(cache), reused=True)


def write_variant(variant: Variant, target: WriteTarget, writer_for: WriterFor) -> VariantResult:
    """Write a variant from its creation on and remove its folder; raises WriterSilent."""
    outcomes, states = VariantOutcomes(variant), list[State | None]()
    results = ResultCache.in_cache(target.cache)
    try:
        for outcome, state in write_steps(variant, target, writer_for):
            outcomes = outcomes.then(outcome)
            states.append(state)
    except WriterSilent as silence:
        silence.done = state_records.record(outcomes, states, results, reused=False)
        raise
    return state_records.record(outcomes, states, results, reused=False)


@dataclass(frozen=True, slots=True)
class TableContents:
    """What the files and the catalog of a table say after a step."""

    files: tuple[FileFact, ...] = ()
    catalog: CatalogHistory = NO_CATALOG
    """What the catalog has of it, and had after the steps before."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Instants beside those of the steps, each with the step whose rows it found."""


def write_steps(
    variant: Variant, target: WriteTarget, writer_for: WriterFor
) -> Iterator[tuple[Outcome, State | None]]:
    """Yield each step's outcome and state while the table is in it; raises WriterSilent."""
    outcomes, contents = VariantOutcomes(variant), TableContents()
    new_home: AbstractContextManager[Path | None] = nullcontext()
    if outcomes.shape.absolute_paths:
        new_home = table_homes.new(target.cache)
    with ExitStack() as stack:
        home = stack.enter_context(new_home)
        client = stack.enter_context(metastore_client.connect(target.metastore_uri))
        target = replace(target, home=home)
        client.create_database(target.database)
        sender = StepSender(outcomes, target, client, writer_for)
        stack.callback(sender.let_go)
        while not outcomes.complete:
            step = outcomes.next_step()
            if step.skipped:
                outcomes = outcomes.then(step.skip)
                yield step.skip, None
                continue
            outcome = sender.send(step, contents.files)
            if outcome.kind is OutcomeKind.UNKNOWN:
                raise WriterSilent(outcome)
            outcomes = outcomes.then(outcome)
            contents = observe(outcomes, target, client, contents)
            frozen = _frozen(outcomes, target, contents, writer_for)
            state = state_store.freeze(target.cache, step.address, target.table, frozen)
            before, now = state.frozen.outcome.word, outcome.word
            if before != now:
                why = f"{now} now, but {before} when the same was written before ({state.folder})"
                raise WriterSilent(
                    replace(outcome, kind=OutcomeKind.UNKNOWN, refusal=None, because=why)
                )
            yield outcome, state
    shutil.rmtree(target.folder)


def observe(
    outcomes: VariantOutcomes, target: WriteTarget, client: Catalog, before: TableContents
) -> TableContents:
    """Return what files and metastore tell after the last step; `before`: after the one before."""
    shape, entries = outcomes.shape, client.entries(target.database)
    steps = {outcome.instant: outcome.step for outcome in outcomes.outcomes if outcome.instant}
    others = dict(before.others)
    for instant in shape.instants(target.table, entries):
        if instant not in steps and instant not in others:
            seen = shape.instants_before(target.table, instant)
            others[instant] = max((steps.get(earlier, 0) for earlier in seen), default=0)
    instant = outcomes.outcomes[-1].instant
    at_step = {instant: entries} if instant else {}
    catalog = CatalogHistory(entries, {**before.catalog.then, **at_step})
    key = outcomes.variant.scenario.table.key
    files = state_records.read_files(shape, target.table, key, catalog)
    return TableContents(files.facts, catalog, others)


def _frozen(
    outcomes: VariantOutcomes, target: WriteTarget, contents: TableContents, writer_for: WriterFor
) -> Frozen:
    return Frozen(
        outcomes.outcomes[-1],
        contents.catalog.now,
        tuple(outcome.instant for outcome in outcomes.outcomes),
        table_version=outcomes.shape.table_version(target.table),
        home=str(target.home or ""),
        others=tuple(contents.others.items()),
        statistics=ask_statistics(outcomes, target, contents.files, writer_for),
        metadata=ask_metadata(outcomes, target, writer_for),
    )


def ask_metadata(
    outcomes: VariantOutcomes, target: WriteTarget, writer_for: WriterFor
) -> ExtraMetadata | None:
    """Return the extra metadata of the last step's commit; None where the step writes none."""
    last = outcomes.outcomes[-1]
    steps = outcomes.variant.scenario.steps
    has_metadata = last.step > 0 and isinstance(steps[last.step - 1].operation, WriteWithMetadata)
    if not has_metadata or last.kind is not OutcomeKind.APPLIED or not last.instant:
        return None
    metadata = outcomes.shape.stored_metadata(target.table, last.instant)
    if metadata is None:
        return None
    rows, why = _ask(outcomes, target, writer_for, metadata.question)
    shown = {str(row["metadata_key"]): str(row["metadata_value"]) for row in rows}
    stored, shown_pairs = (
        tuple(
            sorted((name, value) for name, value in of.items() if name not in metadata.format_keys)
        )
        for of in (metadata.stored, shown)
    )
    return ExtraMetadata(stored, shown_pairs, why)


def ask_statistics(
    outcomes: VariantOutcomes, target: WriteTarget, files: Sequence[FileFact], writer_for: WriterFor
) -> StoredStatistics:
    """Return what the writer of the last step says of the statistics, or why it is not known."""
    queried = outcomes.shape.queried_statistics(outcomes.variant.settings)
    if queried is None or not queried.exist(target.table):
        return IN_ORDER
    rows, why = _ask(outcomes, target, writer_for, queried.sql)
    try:
        return StoredStatistics(queried.parse(rows, files), why)
    except FileFactError as problem:
        return StoredStatistics(unknown=str(problem))


def _ask(
    outcomes: VariantOutcomes, target: WriteTarget, writer_for: WriterFor, question: str
) -> tuple[list[Mapping[str, Value]], str]:
    """Return what the last step's writer answers in another session, or why it does not."""
    sql = filled(question, target.database, str(target.table))
    writer = outcomes.variant.writers[outcomes.outcomes[-1].step]
    try:
        with closing(writer_for(writer).open(outcomes.session(writer))) as session:
            answer = session.run(sql, timeout_s=target.timeout_s)
    except RefusedError as refused:
        return [], refusals.text(refused.refusal)
    except (NoAnswerError, HarnessError) as problem:
        return [], str(problem)
    names = [name for name, _ in answer.columns]
    return [dict(zip(names, row, strict=True)) for row in answer.rows], ""

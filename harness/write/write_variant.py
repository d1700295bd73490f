"""One variant: found in the cache, or written step by step and frozen after each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.artifacts import table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.result_cache import ResultCache
from harness.core.outcomes import word
from harness.core.records import Outcome, OutcomeKind
from harness.formats.api import NO_CATALOG
from harness.model.column_statistics import IN_ORDER, StoredStatistics
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import FileFact
from harness.runtime import metastore_client
from harness.runtime.metastore_client import Catalog
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.scenario.cells import Variant
from harness.write import ask_writer, state_records, state_store, table_files
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import StepSender, WriterFor
from harness.write.state_records import VariantResult
from harness.write.table_state import Frozen, State
from harness.write.writer_pool import WriteTarget


@dataclass(frozen=True, slots=True)
class TableContents:
    """What the files and the catalog of a table say after a step."""

    files: tuple[FileFact, ...] = ()
    statistics: StoredStatistics = IN_ORDER
    """What the writer's own Spark says of those that nothing else can read."""
    metadata: ExtraMetadata | None = None
    """What the step's own commit has, where the step was told of some."""
    others: dict[str, int] = field(default_factory=dict)
    """Instants beside those of the steps, each with the step whose rows it found."""
    catalog: CatalogHistory = NO_CATALOG
    """What the catalog has of it, and had after the steps before."""


def observe(
    outcomes: VariantOutcomes, target: WriteTarget, client: Catalog, before: TableContents
) -> TableContents:
    """Return what the table's files and its metastore tell after the last step.

    Args:
        outcomes: those up to this step.
        target: where the table is.
        client: a connection to its metastore.
        before: what they said after the step before.

    """
    entries, instant = client.entries(target.database), outcomes.outcomes[-1].instant
    others = before.others | _new_others(outcomes, target, entries, before)
    at_step = {instant: entries} if instant else {}
    catalog = CatalogHistory(entries, {**before.catalog.then, **at_step})
    key = outcomes.variant.scenario.table.key
    files = table_files.read_files(outcomes.shape, target.table, key, catalog)
    return TableContents(files.facts, others=others, catalog=catalog)


def freeze(
    address: str,
    outcomes: VariantOutcomes,
    contents: TableContents,
    target: WriteTarget,
) -> State:
    """Freeze the table after the last step; an earlier run may have done so.

    Args:
        address: of the state.
        outcomes: those up to this step.
        contents: what the table's files tell.
        target: where the table is.

    """
    frozen = Frozen(
        outcomes.outcomes[-1],
        contents.catalog.now,
        tuple(outcome.instant for outcome in outcomes.outcomes),
        table_version=outcomes.shape.table_version(target.table),
        home=str(target.home or ""),
        statistics=contents.statistics,
        metadata=contents.metadata,
        others=tuple(contents.others.items()),
    )
    return state_store.freeze(target.cache, address, target.table, frozen)


def contradiction(state: State, outcome: Outcome) -> Outcome | None:
    """Return the outcome where an earlier run that sent the same had another; None where not."""
    before, now = word(state.frozen.outcome), word(outcome)
    if before == now:
        return None
    why = f"{now} now, but {before} when the same was written before ({state.folder})"
    return replace(outcome, kind=OutcomeKind.UNKNOWN, refusal=None, because=why)


def _new_others(
    outcomes: VariantOutcomes,
    target: WriteTarget,
    entries: Sequence[CatalogEntry],
    before: TableContents,
) -> dict[str, int]:
    """Return the instants that came with the last step and are not its own."""
    shape, others = outcomes.shape, dict[str, int]()
    steps = {outcome.instant: outcome.step for outcome in outcomes.outcomes if outcome.instant}
    for instant in shape.instants(target.table, entries):
        if instant not in steps and instant not in before.others:
            seen = shape.instants_before(target.table, instant)
            others[instant] = max((steps.get(earlier, 0) for earlier in seen), default=0)
    return others


@dataclass(frozen=True, slots=True)
class StepState:
    """What came of a step, and the state it led to; none where it was skipped."""

    outcome: Outcome
    state: State | None


class StepUnknownError(Exception):
    """Nothing is known of the table since a step."""

    def __init__(self, outcome: Outcome) -> None:
        """`outcome`: of that step."""
        super().__init__(outcome.because)
        self.outcome = outcome


class WriterSilent(Exception):
    """The writer crashed or did not answer: nothing is known of the table since then."""

    def __init__(self, done: VariantResult, outcome: Outcome) -> None:
        """`done`: the steps before; `outcome`: of the step that got no answer."""
        super().__init__(outcome.because)
        self.done = done
        self.outcome = outcome


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
    return state_records.found(outcomes, states, ResultCache.in_cache(cache))


def write_variant(variant: Variant, target: WriteTarget, writer_for: WriterFor) -> VariantResult:
    """Write a variant from its creation on; `target.folder` is removed at the end.

    Raises:
        WriterSilent: a statement got no answer.
        HarnessError: the metastore is gone, or the worker failed.

    """
    outcomes, states = VariantOutcomes(variant), list[State | None]()
    try:
        for step_state in write_steps(variant, target, writer_for):
            outcomes = outcomes.then(step_state.outcome)
            states.append(step_state.state)
    except StepUnknownError as unknown:
        done = state_records.record(outcomes, states, ResultCache.in_cache(target.cache))
        raise WriterSilent(done, unknown.outcome) from None
    return state_records.record(outcomes, states, ResultCache.in_cache(target.cache))


def write_steps(
    variant: Variant, target: WriteTarget, writer_for: WriterFor
) -> Iterator[StepState]:
    """Yield what came of each step, while the table itself still is in that state.

    Raises:
        StepUnknownError: a statement got no answer.
        HarnessError: the metastore is gone, or the worker failed.

    """
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
                yield StepState(step.skip, None)
                continue
            outcome = sender.send(step, contents.files)
            if outcome.kind is OutcomeKind.UNKNOWN:
                raise StepUnknownError(outcome)
            outcomes = outcomes.then(outcome)
            contents = observe(outcomes, target, client, contents)
            statistics = ask_writer.ask_statistics(outcomes, target, contents.files, writer_for)
            metadata = ask_writer.ask_metadata(outcomes, target, writer_for)
            contents = replace(contents, statistics=statistics, metadata=metadata)
            state = freeze(step.address, outcomes, contents, target)
            if unknown := contradiction(state, outcome):
                raise StepUnknownError(unknown)
            yield StepState(outcome, state)
    shutil.rmtree(target.folder)

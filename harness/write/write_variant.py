"""One variant: found in the cache, or written step by step and frozen after each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from harness.artifacts import table_homes
from harness.artifacts.cache import Cache
from harness.artifacts.result_cache import ResultCache
from harness.core.records import Outcome, OutcomeKind
from harness.runtime import metastore_client
from harness.scenario.cells import Variant
from harness.write import ask_metadata, ask_statistics, freeze_step, state_records, state_store
from harness.write.freeze_step import TableContents
from harness.write.next_step import VariantOutcomes
from harness.write.send_step import StepSender, WriterFor
from harness.write.state_records import VariantResult
from harness.write.table_state import State
from harness.write.writer_pool import WriteTarget


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


def find(variant: Variant, cache: Cache) -> VariantResult | None:
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


def write(variant: Variant, target: WriteTarget, writer_for: WriterFor) -> VariantResult:
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
    abstract_context_manager: AbstractContextManager[Path | None] = nullcontext()
    if outcomes.shape.absolute_paths:
        abstract_context_manager = table_homes.new(target.cache)
    with ExitStack() as stack:
        home = stack.enter_context(abstract_context_manager)
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
            contents = freeze_step.look(outcomes, target, client, contents)
            stored_statistics = ask_statistics.ask(outcomes, target, contents.files, writer_for)
            metadata = ask_metadata.ask(outcomes, target, writer_for)
            contents = replace(contents, statistics=stored_statistics, metadata=metadata)
            state = freeze_step.freeze(step.address, outcomes, contents, target)
            if doubt := freeze_step.doubt(state, outcome):
                raise StepUnknownError(doubt)
            yield StepState(outcome, state)
    shutil.rmtree(target.folder)

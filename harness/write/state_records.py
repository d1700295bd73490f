"""Last stage of writing: a record for each step of a variant, with what its files hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.artifacts.result_cache import ResultCache
from harness.core.records import FileValues, StateRecord
from harness.formats import data_files
from harness.formats.api import FileFactError
from harness.model.file_facts import FileFact
from harness.write import state_store
from harness.write.next_step import VariantOutcomes
from harness.write.table_state import Frozen, State
from harness.write.wrong_statistics import FileRowsSeen, wrong


@dataclass(frozen=True, slots=True)
class VariantResult:
    """A variant's records in the order of its steps, and its states."""

    records: tuple[StateRecord, ...]
    states: Mapping[tuple[str, int], State]


def record(
    outcomes: VariantOutcomes, states: Sequence[State | None], results: ResultCache
) -> VariantResult:
    """Return what is known of a variant that was written just now: its records and its states.

    Args:
        outcomes: of the steps so far.
        states: one for each of these steps, None where there is none.
        results: gets the records for later runs.

    """
    made = tuple(_of_now(outcomes, states))
    results.records(StateRecord, _told(outcomes, states), partial(iter, made), _whole)
    return _result(outcomes, states, (replace(each, reused=False) for each in made))


def found(
    outcomes: VariantOutcomes, states: Sequence[State | None], results: ResultCache
) -> VariantResult:
    """Return the same of a variant whose states were found; `results` has it of states seen before.

    The files of a state are as they were when it was frozen, or it would not be found.
    """
    make = partial(_of_now, outcomes, states)
    records = results.records(StateRecord, _told(outcomes, states), make, _whole)
    return _result(outcomes, states, records)


def _told(outcomes: VariantOutcomes, states: Sequence[State | None]) -> tuple[str, ...]:
    """Return all that records are made from."""
    return repr(outcomes), *(state_store.facts(each) if each else "" for each in states)


def _result(
    outcomes: VariantOutcomes, states: Sequence[State | None], records: Iterable[StateRecord]
) -> VariantResult:
    variant = outcomes.variant.id
    there = {(variant, step): state for step, state in enumerate(states) if state}
    return VariantResult(tuple(records), there)


def _whole(record: StateRecord) -> bool:
    """Return whether every file was read: the next time one may be that was not."""
    return not any(each.unread for each in record.values)


def _of_now(variant: VariantOutcomes, states: Sequence[State | None]) -> Iterator[StateRecord]:
    """Yield the records of states whose files are looked at once more.

    What was frozen with a state is what the harness of that day made of its files.
    """
    return _records(variant, [each and _looked_at(variant, each) for each in states])


def _looked_at(variant: VariantOutcomes, state: State) -> State:
    key, frozen = variant.variant.scenario.table.key, state.frozen
    try:
        files, layout = variant.shape.facts(state.table, key, frozen.entries), ""
    except FileFactError as problem:
        files, layout = (), str(problem)
    return replace(state, frozen=replace(frozen, files=files, layout=layout))


def _records(variant: VariantOutcomes, states: Sequence[State | None]) -> Iterator[StateRecord]:
    seen, held = set[FileFact](), FileRowsSeen()
    # A catalog that lists the meta columns now may leave them out again at a later step.
    meta = any(state.bare for state in states if state)
    for outcome, state in zip(variant.outcomes, states, strict=True):
        if state is None:
            yield StateRecord(variant.variant.id, outcome, "", reused=True)
            continue
        names = _names(state.frozen, [each.instant for each in variant.outcomes])
        files = _relabelled(state.frozen, names)
        new = [number for number, fact in enumerate(files) if fact not in seen]
        seen.update(files)
        facts, read = state.frozen.files, variant.shape.file_rows
        kept = variant.shape.schema_history(state.table)
        values = tuple(data_files.read(state.table, facts, new, read, meta=meta))
        held.add(files, values)
        yield StateRecord(
            variant=variant.variant.id,
            outcome=outcome,
            digest=state.digest,
            files=files,
            tables=tuple(entry.name for entry in state.frozen.entries),
            reused=True,
            layout=state.frozen.layout,
            others=state.frozen.others,
            table_version=state.frozen.table_version,
            values=_as_known(values, names),
            statistics=wrong(variant.shape, state, [facts[each] for each in new], held),
            bare=state.bare,
            unlisted=state.unlisted,
            catalog=state.catalog,
            catalog_types=state.catalog_types,
            schema_history=kept and kept.with_instants(names),
            metadata=state.frozen.metadata,
            listed_as=state.listed_as(variant.variant.scenario.table.partition_by),
        )


def _names(frozen: Frozen, instants: Sequence[str]) -> Mapping[str, str]:
    """Return by which instant these records know the step of each instant of a state.

    The states of a variant need not all come from one writing: an earlier run may have frozen the
    first ones, and each writing has instants of its own.
    """
    return dict(zip(frozen.instants, instants, strict=False))


def _as_known(values: Iterable[FileValues], names: Mapping[str, str]) -> tuple[FileValues, ...]:
    """Return what files hold; the frozen facts name the instants that stand in the files."""
    return tuple(
        replace(each, commits=tuple(names.get(at, at) for at in each.commits)) for each in values
    )


def _relabelled(frozen: Frozen, names: Mapping[str, str]) -> tuple[FileFact, ...]:
    """Return the file facts with the instants that these records know the steps by."""
    return tuple(
        replace(fact, instant=names.get(fact.instant, fact.instant)) for fact in frozen.files
    )

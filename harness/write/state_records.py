"""Last stage of writing: a record for each step of a variant, with what its files hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.artifacts.result_cache import ResultCache
from harness.core.records import FileValues, StateRecord
from harness.formats.files import data_files
from harness.model.file_facts import FileFact
from harness.runtime.metastore_objects import CatalogHistory
from harness.write import state_store, table_files
from harness.write.next_step import VariantOutcomes
from harness.write.table_files import TableFiles
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
    made = tuple(_records(outcomes, states))
    results.records(StateRecord, _told(outcomes, states), partial(iter, made), _whole)
    return _result(outcomes, states, (replace(state, reused=False) for state in made))


def found(
    outcomes: VariantOutcomes, states: Sequence[State | None], results: ResultCache
) -> VariantResult:
    """Return the same of a variant whose states were found; `results` has it of states seen before.

    The files of a state are as they were when it was frozen, or it would not be found.
    """
    make = partial(_records, outcomes, states)
    records = results.records(StateRecord, _told(outcomes, states), make, _whole)
    return _result(outcomes, states, records)


def _told(outcomes: VariantOutcomes, states: Sequence[State | None]) -> tuple[str, ...]:
    """Return all that records are made from."""
    return repr(outcomes), *(state_store.facts(state) if state else "" for state in states)


def _result(
    outcomes: VariantOutcomes, states: Sequence[State | None], records: Iterable[StateRecord]
) -> VariantResult:
    variant = outcomes.variant.id
    there = {(variant, step): state for step, state in enumerate(states) if state}
    return VariantResult(tuple(records), there)


def _whole(record: StateRecord) -> bool:
    """Return whether every file was read: the next time one may be that was not."""
    return not any(values.unread for values in record.values)


def _files(variant: VariantOutcomes, states: Sequence[State | None]) -> TableFiles | None:
    """Return what the files of the last of some states tell; None where there is no such state."""
    state = states[-1]
    if state is None:
        return None
    made = zip(state.frozen.instants, states, strict=False)
    then = {instant: state.frozen.entries for instant, state in made if instant and state}
    catalog = CatalogHistory(state.frozen.entries, then)
    return table_files.read(variant.shape, state.table, variant.variant.scenario.table.key, catalog)


def _records(variant: VariantOutcomes, states: Sequence[State | None]) -> Iterator[StateRecord]:
    """Yield the records of states, whose files are looked at now."""
    looked_at = [_files(variant, states[: at + 1]) for at in range(len(states))]
    seen, file_rows_seen = set[FileFact](), FileRowsSeen()
    # A catalog that lists the meta columns now may leave them out again at a later step.
    meta = any(files.bare for files in looked_at if files)
    for outcome, state, table in zip(variant.outcomes, states, looked_at, strict=True):
        if state is None or table is None:
            yield StateRecord(variant.variant.id, outcome, "", reused=True)
            continue
        names = _names(state.frozen, [outcome.instant for outcome in variant.outcomes])
        files, facts = _relabelled(table.facts, names), table.facts
        new = [number for number, fact in enumerate(files) if fact not in seen]
        seen.update(files)
        schema_history, read = variant.shape.schema_history(state.table), variant.shape.file_rows
        values = tuple(data_files.read(state.table, facts, new, read, meta=meta))
        file_rows_seen.add(files, values)
        yield StateRecord(
            variant=variant.variant.id,
            outcome=outcome,
            digest=state.digest,
            files=files,
            tables=tuple(entry.name for entry in state.frozen.entries),
            reused=True,
            layout=table.layout,
            others=state.frozen.others,
            table_version=state.frozen.table_version,
            values=_as_known(values, names),
            statistics=wrong(variant.shape, state, facts, new, file_rows_seen),
            bare=table.bare,
            unlisted=table.unlisted,
            catalog=state.catalog,
            catalog_types=state.catalog_types,
            schema_history=schema_history and schema_history.with_instants(names),
            metadata=state.frozen.metadata,
            listed_as=table.listed_as(variant.variant.scenario.table.partition_by),
        )


def _names(frozen: Frozen, instants: Sequence[str]) -> Mapping[str, str]:
    """Return by which instant these records know the step of each instant of a state.

    The states of a variant need not all come from one writing: an earlier run may have frozen the
    first ones, and each writing has instants of its own.
    """
    return dict(zip(frozen.instants, instants, strict=False))


def _as_known(values: Iterable[FileValues], names: Mapping[str, str]) -> tuple[FileValues, ...]:
    """Return what files hold, whose instants are those that stand in the files."""
    return tuple(
        replace(file_values, commits=tuple(names.get(at, at) for at in file_values.commits))
        for file_values in values
    )


def _relabelled(facts: Iterable[FileFact], names: Mapping[str, str]) -> tuple[FileFact, ...]:
    """Return file facts with the instants that these records know the steps by."""
    return tuple(replace(fact, instant=names.get(fact.instant, fact.instant)) for fact in facts)

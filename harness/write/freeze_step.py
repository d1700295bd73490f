"""Third stage of writing: the table after a step is looked at, and frozen in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.core.outcomes import word
from harness.core.records import Outcome, OutcomeKind
from harness.formats.api import NO_CATALOG
from harness.model.column_statistics import IN_ORDER, StoredStatistics
from harness.model.commit import ExtraMetadata
from harness.model.file_facts import FileFact
from harness.runtime.metastore_client import Catalog
from harness.runtime.metastore_objects import CatalogEntry, CatalogHistory
from harness.write import state_store, table_files
from harness.write.next_step import VariantOutcomes
from harness.write.table_state import Frozen, State
from harness.write.writer_pool import WriteTarget


@dataclass(frozen=True, slots=True)
class TableContents:
    """What the files of a table that is written tell after a step."""

    files: tuple[FileFact, ...] = ()
    statistics: StoredStatistics = IN_ORDER
    """What the writer's own Spark says of those that nothing else can read."""
    metadata: ExtraMetadata | None = None
    """What the step's own commit has, where the step was told of some."""
    others: dict[str, int] = field(default_factory=dict)
    """Instants beside those of the steps, each with the step whose rows it found."""
    catalog: CatalogHistory = NO_CATALOG
    """What the catalog has of it, and had after the steps before."""


def look(
    outcomes: VariantOutcomes, target: WriteTarget, client: Catalog, before: TableContents
) -> TableContents:
    """Return what the table's files and its metastore tell after the last step.

    Args:
        outcomes: those up to this step.
        target: where the table is.
        client: a connection to its metastore.
        before: what they told after the step before.

    """
    entries, instant = client.entries(target.database), outcomes.outcomes[-1].instant
    others = before.others | _new_others(outcomes, target, entries, before)
    at_step = {instant: entries} if instant else {}
    catalog = CatalogHistory(entries, {**before.catalog.then, **at_step})
    key = outcomes.variant.scenario.table.key
    files = table_files.read(outcomes.shape, target.table, key, catalog)
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


def doubt(state: State, outcome: Outcome) -> Outcome | None:
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

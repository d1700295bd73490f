"""A variant with everything that was recorded of it, as the judge takes it."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.model import past_views
from harness.model.canonical import UNSETTLED, Value
from harness.model.commit import BRANCH
from harness.model.past_views import Past
from harness.model.truth import History, Row, Rows, Truth
from harness.scenario.cells import Variant

READ_OPTIMIZED: Final = "read_optimized"
SNAPSHOT: Final = "snapshot"

Limit = Callable[[str, str, str], str]
"""Why a reader is declared not to know tables: reader, format, table version → text, or empty."""


def view_of_rows(view: str) -> str:
    """Return the view whose rows a view shows: all but read-optimized and past ones show now's."""
    return view if view == READ_OPTIMIZED or past_views.past(view) else SNAPSHOT


def numbered(history: History, states: Mapping[int, StateRecord]) -> History:
    """Return the truth with the numbers that a writer gave rows, as the files of its writes say.

    Which ones it takes no specification says, but that no two rows get the same (Delta transaction
    log protocol, "Identity Columns"): those that do, and NULL, stay unsettled.
    """
    ids = [f.id for f in history[0].schema.fields if f.option and f.option.identity]
    written = {
        (id_, row.key, now.step): _in_files(states[now.step], now, row.key, id_)
        for now in history
        for row in (now.rows.values() if now.step in states else ())
        for id_ in ids
        if row.values.get(id_) is UNSETTLED and row.written[id_] == now.step
    }
    owners = Counter((id_, value) for (id_, _, _), value in written.items() if value is not None)

    def known(row: Row) -> Row:
        unknown = [id_ for id_ in ids if row.values.get(id_) is UNSETTLED]
        numbers = {id_: written.get((id_, row.key, row.written[id_])) for id_ in unknown}
        once = {id_: number for id_, number in numbers.items() if owners[id_, number] == 1}
        return replace(row, values={**row.values, **once}) if once else row

    def every(rows: Rows) -> Rows:
        return {key: known(row) for key, row in rows.items()} if written else rows

    return tuple(replace(now, rows=every(now.rows), base=every(now.base)) for now in history)


def _in_files(state: StateRecord, now: Truth, row: Value, id_: int) -> Value:
    key, column = now.table.key, str(now.schema.path_of(id_))
    whole = (dict(zip(of.columns, row, strict=True)) for of in state.values for row in of.rows)
    return next((one.get(column) for one in whole if one.get(key) == row), None)


@dataclass(frozen=True)  # no slots: what is derived is kept
class RecordedVariant:
    variant: Variant
    merge_on_read: bool
    """Whether changes go to log files first."""
    states: Sequence[StateRecord]
    """One for each step, the creation first."""
    limit: Limit = lambda *_: ""
    entry_of: Callable[[str], str] = lambda view: view
    """The name of the catalog entry through which a view is asked."""

    @cached_property
    def state_of(self) -> Mapping[int, StateRecord]:
        return {state.outcome.step: state for state in self.states}

    @cached_property
    def outcomes(self) -> Mapping[int, Outcome]:
        return {step: state.outcome for step, state in self.state_of.items()}

    @cached_property
    def instants(self) -> Mapping[str, int]:
        """The step that made each instant, without those that a step made beside its own."""
        return {outcome.instant: at for at, outcome in self.outcomes.items() if outcome.instant}

    @cached_property
    def broken(self) -> int | None:
        """The first step of which nothing is known; None where there is none."""
        unknown = (at for at, kind in self._kinds.items() if kind is OutcomeKind.UNKNOWN)
        return next(unknown, None)

    @cached_property
    def history(self) -> History:
        """The truth after every step, by which of them were applied."""
        truths = self.variant.scenario.truths(merge_on_read=self.merge_on_read).history(
            [kind is OutcomeKind.APPLIED for kind in self._kinds.values()],
            {step: state.catalog for step, state in self.state_of.items()},
        )
        return numbered(truths, self.state_of)

    def made(self, step: int) -> Mapping[str, int]:
        """Return the step that made each instant which the files after a step may name."""
        return {**self.instants, **dict(self.state_of[step].others)}

    def unlisted(self, step: int, view: str) -> Collection[str]:
        """Return the folders after a step that the catalog entry of a view does not list."""
        state = self.state_of[step]
        entry = self.entry_of(past_views.name_of(view))
        return dict(state.unlisted_at).get(entry, state.unlisted)

    def past(self, view: str, after: int) -> Past | None:
        """Return a view of the past with the step that can be asked for; None for one of now.

        Where no step up to the planned one made an instant nothing can be asked, and 0 stands.
        """
        result = past_views.past(view)
        if result is None or result.name == BRANCH:
            return result
        made = set(self.instants.values()) - result.undone(self.history[: after + 1])
        return replace(result, step=past_views.anchor(made, result.step) or 0)

    @property
    def _kinds(self) -> Mapping[int, OutcomeKind]:
        """What became of each step of the scenario, in their order."""
        steps = range(1, len(self.variant.scenario.steps) + 1)
        unknown = Outcome(0, OutcomeKind.UNKNOWN)
        return {step: self.outcomes.get(step, unknown).kind for step in steps}

"""A variant with everything that was recorded of it, as the judge takes it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.model import past_views
from harness.model.commit import BRANCH
from harness.model.past_views import Past
from harness.model.truth import History
from harness.scenario.cells import Variant

READ_OPTIMIZED: Final = "read_optimized"
SNAPSHOT: Final = "snapshot"

Limit = Callable[[str, str, str], str]
"""Why a reader is declared not to know tables: reader, format, table version → text, or empty."""


def view_of_rows(view: str) -> str:
    """Return the view whose rows a view shows: all but read-optimized and past ones show now's."""
    return view if view == READ_OPTIMIZED or past_views.past(view) else SNAPSHOT


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
        return self.variant.scenario.truths(merge_on_read=self.merge_on_read).history(
            [kind is OutcomeKind.APPLIED for kind in self._kinds.values()],
            {step: state.catalog for step, state in self.state_of.items()},
        )

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

"""What the data files of each state tell by themselves: layout, rows, instants.

They say which of the model's row versions a view shows, never that a row exists or what it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from harness.core.cached_method import cached_method
from harness.core.outcomes import half_done
from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.judge.file_contents import Holdings, NotKnown, ViewContent
from harness.judge.recorded_variant import READ_OPTIMIZED, RecordedVariant
from harness.model.commit import INCREMENTAL
from harness.model.file_facts import FileFact, FileKind
from harness.model.simulation import catalog, column_resolution, row_files
from harness.model.simulation.catalog import Lists
from harness.model.simulation.hudi import NO_META, Meta
from harness.model.simulation.incremental import Commits, Since
from harness.model.simulation.row_files import Base, RowFile, base_rows
from harness.model.truth import History
from harness.scenario.definition import CASCADE, SCHEMA_CHANGES, WRITE_CLIENT


class StateFiles:
    """The files of all states of a variant."""

    def __init__(self, case: RecordedVariant, history: History) -> None:
        """`history`: the truth after every step, as far as a product can show it."""
        self._case = case
        self._history = history

    @cached_method
    def base(self, step: int) -> Base:
        """Return what base files show by themselves: the truth of a read-optimized view."""
        state, history = self._case.state_of[step], self._history[: step + 1]
        return base_rows(history, state.files, self._case.made(step), state.layout)

    def of_rows(self, step: int, view: str) -> Mapping[str, Sequence[RowFile]]:
        """Return the files which hold each row that a view reads.

        By the text of the key; nothing where the files tell nothing.
        """
        state = self._case.state_of.get(step)
        facts = _read_by(view, state.files) if state and not state.layout else ()
        if not facts:
            return {}
        try:
            return row_files.lying(self._history[: step + 1], facts, self._case.made(step))
        except column_resolution.LayoutError:
            return {}

    def lists(self, step: int) -> Lists | None:
        """Return the catalog's lists of columns, as far as they follow from the steps.

        A write that was refused may have made partitions known before it failed; what a half-done
        step told the catalog is not known at all, nor what a sync tells it of partitions.
        """
        if self._case.variant.settings.get(SCHEMA_CHANGES) == WRITE_CLIENT:
            return None
        outcomes = [each for at, each in self._case.outcomes.items() if 0 < at <= step]
        if any(half_done(outcome) or self._refused_write(outcome) for outcome in outcomes):
            return None
        bare = {at for at, state in self._case.state_of.items() if state.bare}
        files = self._case.state_of[step].files
        stay = self._case.variant.settings.get(CASCADE) == "off"
        return catalog.lists(self._history[: step + 1], files, bare, stay=stay)

    def _refused_write(self, outcome: Outcome) -> bool:
        operation = self._case.variant.scenario.steps[outcome.step - 1].operation
        return outcome.kind is OutcomeKind.REFUSED and not operation.CHANGES_SCHEMA

    def since(self, step: int, view: str) -> Since | None:
        """Return which rows a view gives by when they were committed; None where it gives all."""
        past = self._case.past(view, step)
        if past is None or past.name != INCREMENTAL:
            return None
        return Since(past.step, self._case.made(step), self._commits)

    def content(self, step: int, view: str) -> ViewContent | None:
        """Return what the files of a view of now hold; None where that is not known."""
        state = self._case.state_of[step]
        if state.layout or not state.files:
            return None
        try:
            return self.holdings.content(_read_by(view, state.files), self.since(step, view))
        except NotKnown:
            return None

    @cached_property
    def holdings(self) -> Holdings:
        """The rows of all files."""
        return Holdings(self._case.states, self._history)

    def meta(self, state: StateRecord) -> Meta:
        """Return what the meta columns of each base file hold, where a catalog lists none."""
        return self._meta if state.bare else NO_META

    @cached_property
    def _meta(self) -> Meta:
        return {
            state.files[value.file].path: value.meta
            for state in self._case.states
            for value in state.values
            if value.meta
        }

    @cached_property
    def _commits(self) -> Commits:
        """When the rows of each file were committed, as far as records tell."""
        return {
            state.files[value.file]: value.commits
            for state in self._case.states
            for value in state.values
            if value.commits
        }


def _read_by(view: str, files: Sequence[FileFact]) -> Sequence[FileFact]:
    """Return the files that a view reads."""
    if view != READ_OPTIMIZED:
        return files
    return tuple(file for file in files if file.kind is FileKind.BASE)

"""What the answers about a variant are held against: all that was written, or what a product shows.

A product may be declared to cut what was written (`harness.core.tolerances`): its answers are held
against the history as it can show it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.core import tolerances
from harness.core.cached_method import cached_method
from harness.core.records import Answer, Expected
from harness.judge import truncated_history
from harness.judge.agreement import FileAgreement
from harness.judge.expected_state import ExpectedState, index_of
from harness.judge.file_evidence import Layout
from harness.judge.recorded_variant import READ_OPTIMIZED, SNAPSHOT, RecordedVariant
from harness.judge.state_files import StateFiles
from harness.model import past_views
from harness.model.commit import BRANCH
from harness.model.past_views import Past
from harness.model.pending_write import staged
from harness.model.query import Query
from harness.model.simulation.catalog import CatalogColumns
from harness.model.truth import History

OF_BRANCHES: Final = "the files of branches are not looked at"


class Expectations:
    """What is expected of one product after each step in each view, and what files tell beside."""

    def __init__(
        self,
        case: RecordedVariant,
        history: History,
        written: Expectations | None = None,
        *,
        lowers: bool = False,
    ) -> None:
        """Take the truth after every step, as far as the product can show it.

        `written`: the standard of all that was written, where the product cannot show all of it.
        `lowers`: whether the product has all names in lower case, and some are not.
        """
        self.case, self.history, self.written = case, history, written
        self._lowers = lowers
        self._files, self._index = StateFiles(case, history), index_of(history)

    @property
    def truncated(self) -> bool:
        """Whether the product cannot show all that was written."""
        return self.written is not None

    @cached_method
    def state(self, step: int, view: str) -> ExpectedState:
        """Return what checks may ask about a step and a view."""
        past = self.case.past(view, step)
        return self._of_the_past(step, past) if past else self._of_now(step, view)

    @cached_method
    def asked(self, step: int, view: str, query: Query) -> ExpectedState:
        """Return the same where only the rows that a query asks for should be seen."""
        return self.state(step, view).narrowed(query)

    @cached_method
    def table(self, step: int, view: str, query: Query) -> Expected:
        """Return the table that a view should answer to a query after a step."""
        return self.state(step, view).table(query)

    @cached_method
    def layout(self, step: int, view: str) -> Layout:
        """Return the files of a step beside the truth of a view."""
        past, since = self.case.past(view, step), self._files.since(step, view)
        at = past.step if past and past.of_then else step
        state = self.case.state_of[at]
        return Layout(
            self.state(step, view),
            state.files,
            self.case.made(at),
            OF_BRANCHES if past and past.name == BRANCH else state.layout,
            since=since,
            meta=self._files.meta(state),
            catalog=CatalogColumns(
                () if past else state.catalog,
                self._files.lists(step) if past is None or since else None,
                self._lowers,
            ),
            statistics=state.statistics.told,
            whole=self.written.layout(step, view) if self.written else None,
        )

    @cached_method
    def agreement(self, step: int, view: str) -> FileAgreement | None:
        """Return what was written beside what the files hold; None where that is not known."""
        if self.written is not None:
            return self.written.agreement(step, view)
        past = self.case.past(view, step)
        if past and past.name == BRANCH:
            return None
        if past and past.of_then:
            return self.agreement(past.step, SNAPSHOT)
        content = self._files.content(step, view)
        return (
            FileAgreement(self.state(step, view), content, self._files.holdings)
            if content
            else None
        )

    def layout_problem(self, step: int) -> str:
        """Return why the files do not tell what base files show; empty where they do."""
        return self._files.base(step).why

    def _of_now(self, step: int, view: str) -> ExpectedState:
        history, base = self.history[: step + 1], self._files.base(step)
        files, now = self._files.of_rows(step, view), history[-1].rows
        state = ExpectedState(history, self._index, now, row_files=files, base=base.rows)
        return replace(state, rows=base.rows, newer=(now,)) if view == READ_OPTIMIZED else state

    def _of_the_past(self, step: int, past: Past) -> ExpectedState:
        """Return the world of a view of the past: as of a step, or what was written since.

        Of a branch: what is staged there.
        """
        if past.of_then:
            state, later = self.state(past.step, SNAPSHOT), self.history[past.step + 1 : step + 1]
            return replace(state, newer=tuple(truth.rows for truth in later), later=later)
        state = self.state(step, SNAPSHOT)
        if past.name == BRANCH:
            truth = staged(state.history[-1])
            with_staged = (*state.history[:-1], truth)
            return replace(state, history=with_staged, rows=truth.rows, row_files={}, base=None)
        rows = past_views.written_since(state.rows, past.step)
        older = {key: row for key, row in state.rows.items() if key not in rows}
        return replace(state, rows=rows, left_out=older)


class ExpectationsByEngine:
    """The standards of one variant, each made once."""

    def __init__(self, case: RecordedVariant) -> None:
        """Work out the truth of all that was written."""
        self.written = Expectations(case, case.history)

    def of(self, reader: str, answer: Answer | None = None) -> Expectations:
        """Return the standard of a reader's product.

        It is that of all that was written where the answer shows more than the product is declared
        to show.
        """
        less = self._of_product(tolerances.product(reader))
        finer = less.truncated and answer is not None and truncated_history.finer(answer)
        return self.written if finer else less

    @cached_method
    def _of_product(self, name: str) -> Expectations:
        written, declared = self.written, tolerances.declared_for(name)
        history = truncated_history.truncated_history(written.history, declared)
        lowers = tolerances.LOWER in declared and _has_capitals(written.history)
        if history is written.history:
            return Expectations(written.case, history, lowers=True) if lowers else written
        return Expectations(written.case, history, written, lowers=lowers)


def _has_capitals(history: History) -> bool:
    names = (name for truth in history for name in truth.schema.names)
    return any(name != name.lower() for name in names)

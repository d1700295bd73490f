"""What the answers about a variant are held against: all that was written, or what a product shows.

A product may be declared to cut what was written (`harness.core.tolerances`). What the data files
of each state tell says which of the model's row versions a view shows, never what a row holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property
from typing import Final

from harness.core import tolerances
from harness.core.records import Answer, Expected, OutcomeKind, PartitionColumns
from harness.judge import understand
from harness.judge.expected_state import ExpectedState, index_of
from harness.judge.file_contents import FileAgreement, Holdings, NotKnown
from harness.judge.file_evidence import Layout
from harness.judge.hidden_from_readers import PartitionLists
from harness.judge.recorded_variant import READ_OPTIMIZED, SNAPSHOT, RecordedVariant
from harness.model import past_views
from harness.model.canonical import has_unsettled
from harness.model.commit import BRANCH, INCREMENTAL
from harness.model.file_facts import FileFact, FileKind
from harness.model.past_views import Past
from harness.model.query import Query
from harness.model.simulation import catalog, row_files
from harness.model.simulation.catalog import NO_LISTS, CatalogColumns, Lists
from harness.model.simulation.column_resolution import LayoutError, WrittenFiles
from harness.model.simulation.hudi import NO_META, Meta
from harness.model.simulation.incremental import Commits, Since
from harness.model.simulation.row_files import Base, RowFile, base_rows
from harness.model.truth import History, staged
from harness.scenario.definition import CASCADE, SCHEMA_CHANGES, WRITE_CLIENT

OF_BRANCHES: Final = "the files of branches are not looked at"


class Expectations:
    """What is expected of readers after each step in each view, and what files tell beside.

    All that was written is expected. `for_reader` returns what is expected of one product.
    """

    def __init__(
        self,
        case: RecordedVariant,
        history: History | None = None,
        written: Expectations | None = None,
        *,
        lowers: bool = False,
    ) -> None:
        """Take the truth after every step, as far as a product can show it.

        `written`: all that was written, where the product cannot show all of it.
        `lowers`: whether the product has all names in lower case, and some are not.
        """
        self.case, self.history, self.written = case, history or case.history, written
        self._lowers, self._index = lowers, index_of(self.history)
        # Each is worked out once.
        self._of_product: Callable[[str], Expectations] = cache(self._make_for_product)
        self._base: Callable[[int], Base] = cache(self._make_base)
        self.state: Callable[[int, str], ExpectedState] = cache(self._state)
        self.asked: Callable[[int, str, Query], ExpectedState] = cache(self._asked)
        self.table: Callable[[int, str, Query], Expected] = cache(self._table)
        self.unsettled: Callable[[int, str, Query], Sequence[str]] = cache(self._unsettled)
        self.layout: Callable[[int, str], Layout] = cache(self._layout)
        self.lists: Callable[[int, str], Lists | None] = cache(self._lists)
        self.agreement: Callable[[int, str], FileAgreement | None] = cache(self._agreement)

    def for_reader(self, reader: str, answer: Answer | None = None) -> Expectations:
        """Return what is expected of a reader's product.

        It is all that was written where the answer shows more than the product is declared to show.
        """
        expectations = self._of_product(tolerances.product(reader))
        finer = expectations.truncated and answer is not None and understand.finer(answer)
        return self if finer else expectations

    def _make_for_product(self, name: str) -> Expectations:
        declared = tolerances.declared_for(name)
        history = understand.truncated_history(self.history, declared)
        names = {name for truth in self.history for name in truth.schema.names}
        lowers = tolerances.LOWER in declared and names != set(map(str.lower, names))
        if history is self.history:
            return Expectations(self.case, history, lowers=True) if lowers else self
        return Expectations(self.case, history, self, lowers=lowers)

    @property
    def truncated(self) -> bool:
        return self.written is not None

    def _state(self, step: int, view: str) -> ExpectedState:
        past = self.case.past(view, step)
        if past:
            return self._past_state(step, past)
        history, base = self.history[: step + 1], self._base(step)
        files, now = self._row_files(step, view), history[-1].rows
        state = ExpectedState(history, self._index, now, row_files=files, base=base.rows)
        return replace(state, rows=base.rows, newer=(now,)) if view == READ_OPTIMIZED else state

    def _past_state(self, step: int, past: Past) -> ExpectedState:
        """Return the state of a view of the past: as of a step, or what was written since.

        Of a branch: what is staged there.
        """
        if past.of_then:
            state, later = self.state(past.step, SNAPSHOT), self.history[past.step + 1 : step + 1]
            newer = tuple(truth.rows for truth in later)
            then = past_views.of_commit(state.history)
            return replace(state, history=then, newer=newer, later=later)
        state = self.state(step, SNAPSHOT)
        if past.name == BRANCH:
            truth = staged(state.history[-1])
            with_staged = (*state.history[:-1], truth)
            return replace(state, history=with_staged, rows=truth.rows, row_files={}, base=None)
        rows = {key: row for key, row in state.rows.items() if row.newest > past.step}
        older = {key: row for key, row in state.rows.items() if key not in rows}
        return replace(state, rows=rows, left_out=older)

    def _asked(self, step: int, view: str, query: Query) -> ExpectedState:
        return self.state(step, view).narrowed(query)

    def _table(self, step: int, view: str, query: Query) -> Expected:
        return self.state(step, view).table(query)

    def _unsettled(self, step: int, view: str, query: Query) -> Sequence[str]:
        """Return the columns with a value of which no specification settles what it became."""
        table = self.table(step, view, query)
        return tuple(
            dict.fromkeys(
                name
                for row in table.rows
                for (name, _), value in zip(table.columns, row, strict=True)
                if has_unsettled(value)
            )
        )

    def _layout(self, step: int, view: str) -> Layout:
        past, since = self.case.past(view, step), self._since(step, view)
        at = past.step if past and past.of_then else step
        state = self.case.state_of[at]
        return Layout(
            self.state(step, view),
            state.files,
            self.case.made(at),
            OF_BRANCHES if past and past.name == BRANCH else state.layout,
            since=since,
            meta=self._meta if state.bare else NO_META,
            catalog=CatalogColumns(
                () if past else state.catalog,
                self.lists(step, view) if past is None or since else None,
                self._lowers,
            ),
            statistics=state.statistics.columns,
            whole=self.written.layout(step, view) if self.written else None,
        )

    def has_lists(self, step: int, view: str) -> bool:
        """Return whether partitions have lists of columns that are not the table's, or may have."""
        past = self.case.past(view, step)
        if not self.history[0].table.partition_by or (past and past.name != INCREMENTAL):
            return False
        lists = self.lists(step, view)
        return lists is None or lists.differ

    def partition_lists(self, step: int, view: str, query: Query) -> PartitionLists:
        """Return what the catalog's lists of the columns of partitions give."""
        return PartitionLists(self.state(step, view), query, self.lists(step, view))

    def _agreement(self, step: int, view: str) -> FileAgreement | None:
        """Return what was written beside what the files hold; None where that is not known."""
        if self.written is not None:
            return self.written.agreement(step, view)
        past, state = self.case.past(view, step), self.case.state_of[step]
        if past and past.of_then:
            return self.agreement(past.step, SNAPSHOT)
        if (past and past.name == BRANCH) or state.layout or not state.files:
            return None
        try:
            files = _read_by(view, state.files)
            content = self._holdings.content(files, self._since(step, view))
        except NotKnown:
            return None
        return FileAgreement(self.state(step, view), content, self._holdings)

    def unjudged(self, step: int, view: str) -> str:
        """Return why no answer about a view can be judged; empty where it can.

        The files must tell what base files show.
        """
        why = self._base(step).why if view == READ_OPTIMIZED else ""
        return f"layout: {why}" if why else ""

    def _make_base(self, step: int) -> Base:
        """Return what base files show by themselves: the truth of a read-optimized view."""
        state = self.case.state_of[step]
        return base_rows(self._written(step, state.files), state.layout)

    def _written(self, step: int, files: Sequence[FileFact]) -> WrittenFiles:
        return WrittenFiles(self.history[: step + 1], files, self.case.made(step))

    def _row_files(self, step: int, view: str) -> Mapping[str, Sequence[RowFile]]:
        """Return the files which hold each row that a view reads, by the text of the key.

        Nothing where the files tell nothing.
        """
        state = self.case.state_of.get(step)
        facts = _read_by(view, state.files) if state and not state.layout else ()
        if not facts:
            return {}
        try:
            return row_files.lying(self._written(step, facts))
        except LayoutError:
            return {}

    def _lists(self, step: int, view: str) -> Lists | None:
        """Return the catalog's lists of columns, as recorded or else as they follow from the steps.

        None where they are not known. From the steps they do not follow after a refused write,
        which may have made partitions known, or a half-done step.
        """
        variant, states = self.case.variant, self.case.state_of
        recorded = states[step].partition_columns
        if recorded is not None:
            return self._recorded_lists(step, view, recorded)
        if variant.settings.get(SCHEMA_CHANGES) == WRITE_CLIENT:
            return None
        for outcome in (self.case.outcomes[at] for at in self.case.outcomes if 0 < at <= step):
            writes = not variant.scenario.steps[outcome.step - 1].operation.CHANGES_SCHEMA
            if outcome.half_done or (outcome.kind is OutcomeKind.REFUSED and writes):
                return None
        bare = {at for at, state in states.items() if state.bare}
        stay = variant.settings.get(CASCADE) == "off"
        files = states[step].files
        return catalog.lists(self.history[: step + 1], files, bare, stay=stay) or NO_LISTS

    def _recorded_lists(
        self, step: int, view: str, recorded: Sequence[PartitionColumns]
    ) -> Lists | None:
        entry = self.case.entry_of(past_views.name_of(view))
        lists = next((lists for lists in recorded if entry in lists.entries), None)
        if lists is None:
            return NO_LISTS
        of_folder = {folder: columns for columns, folders in lists.partitions for folder in folders}
        files = self._written(step, self.case.state_of[step].files)
        with suppress(LayoutError):
            return catalog.recorded_lists(files, lists.table, of_folder)
        return None

    def _since(self, step: int, view: str) -> Since | None:
        """Return which rows a view gives by when they were committed; None where it gives all."""
        past = self.case.past(view, step)
        if past is None or past.name != INCREMENTAL:
            return None
        return Since(past.step, self.case.made(step), self._commits)

    @cached_property
    def _holdings(self) -> Holdings:
        return Holdings(self.case.states, self.history)

    @cached_property
    def _meta(self) -> Meta:
        """What the meta columns of each base file hold, where a catalog lists none."""
        values = ((state, value) for state in self.case.states for value in state.values)
        return {state.files[v.file].path: v.meta for state, v in values if v.meta}

    @cached_property
    def _commits(self) -> Commits:
        """When the rows of each file were committed, as far as records tell."""
        values = ((state, value) for state in self.case.states for value in state.values)
        return {state.files[v.file]: v.commits for state, v in values if v.commits}


def _read_by(view: str, files: Sequence[FileFact]) -> Sequence[FileFact]:
    if view != READ_OPTIMIZED:
        return files
    return tuple(file for file in files if file.kind is FileKind.BASE)

"""A variant with everything that was recorded of it, as the judge takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from harness.core.records import Outcome, OutcomeKind, StateRecord
from harness.judge.misled_columns import MisledColumn, misled_columns
from harness.model import past_views
from harness.model.commit import BRANCH
from harness.model.partition_paths import folder_of
from harness.model.past_views import Past
from harness.model.truth import History
from harness.scenario.cells import Variant

READ_OPTIMIZED: Final = "read_optimized"
SNAPSHOT: Final = "snapshot"

Limit = Callable[[str, str, str], str]
"""Why a reader is declared not to know tables: reader, format, table version → text, or empty."""


def no_limit(_reader: str, _format: str, _table_version: str) -> str:
    """Return the empty text: nothing is declared of any reader."""
    return ""


def view_of_rows(view: str) -> str:
    """Return the view whose rows a view shows: all but read-optimized and past ones show now's."""
    return view if view == READ_OPTIMIZED or past_views.past(view) else SNAPSHOT


@dataclass(frozen=True)  # no slots: what is derived is kept
class RecordedVariant:
    """One variant with its recorded states."""

    variant: Variant
    merge_on_read: bool
    """Whether changes go to log files first."""
    states: Sequence[StateRecord]
    """One for each step, the creation first."""
    limit: Limit = no_limit

    @cached_property
    def state_of(self) -> Mapping[int, StateRecord]:
        """The state after each step."""
        return {state.outcome.step: state for state in self.states}

    @cached_property
    def outcomes(self) -> Mapping[int, Outcome]:
        """What became of each step."""
        return {step: state.outcome for step, state in self.state_of.items()}

    @cached_property
    def instants(self) -> Mapping[str, int]:
        """The step that made each instant, without those that a step made beside its own."""
        return {each.instant: step for step, each in self.outcomes.items() if each.instant}

    @cached_property
    def broken(self) -> int | None:
        """The first step of which nothing is known; None where there is none."""
        return next((step for step in self._steps if self._kind(step) is OutcomeKind.UNKNOWN), None)

    @cached_property
    def history(self) -> History:
        """The truth after every step, by which of them were applied."""
        return self.variant.scenario.truths(merge_on_read=self.merge_on_read).history(
            self._applied, {step: state.catalog for step, state in self.state_of.items()}
        )

    @property
    def _applied(self) -> list[bool]:
        """Whether each step of the scenario was applied, in their order."""
        return [self._kind(step) is OutcomeKind.APPLIED for step in self._steps]

    def made(self, step: int) -> Mapping[str, int]:
        """Return the step that made each instant which the files after a step may name."""
        return {**self.instants, **dict(self.state_of[step].others)}

    def unlisted(self, step: int) -> frozenset[str]:
        """Return the keys, as text, of the rows in partitions that the catalog does not list."""
        state = self.state_of[step]
        folders = set(state.unlisted)
        there = (file for file in state.files if folder_of(file.path) in folders)
        return frozenset(key for fact in there for key in fact.keys)

    def catalog(self, step: int) -> frozenset[str]:
        """Return the columns that the catalog lists, in lower case; none where it is not known."""
        return frozenset(each.lower() for each in self.state_of[step].catalog)

    def outdated_types(self, step: int) -> Mapping[str, str]:
        """Return the columns, in lower case, that the catalog lists with a type of before."""
        state, (*earlier, now) = self.state_of[step], self.history[: step + 1]
        listed = dict(zip(map(str.lower, state.catalog), state.catalog_types, strict=False))
        result: dict[str, str] = {}
        for field in now.schema.fields:
            type_, name = listed.get(field.name.lower(), ""), field.name.lower()
            before = {str(each.type) for t in earlier if (each := t.schema.by_id(field.id))}
            if type_ != str(field.type) and type_ in before:
                result[name] = type_
        return result

    def mistaken_for(self, step: int) -> Mapping[str, frozenset[int]]:
        """Return the columns that the table's own history takes for others, with those fields.

        It gives them an id that another column had; after a rename it is the same column. Or its
        mapping of names leads from the column of a file to another one, which has the name by now,
        or the catalog has another one at its place, and the file says nothing of its columns.
        """
        fields: dict[str, set[int]] = {}
        for truth in self.history[: step + 1]:
            for field in truth.schema.fields:
                fields.setdefault(field.name.lower(), set()).add(field.id)
        result: dict[str, frozenset[int]] = {}
        state = self.state_of[step]
        recorded = state.schema_history
        for name, before in recorded.former_names if recorded else state.former_names:
            now = {f.id for f in self.history[step].schema.fields if f.name.lower() == name.lower()}
            others = fields.get(before.lower(), set())
            if now and not now & others:
                result[name.lower()] = result.get(name.lower(), frozenset()) | others
        for column in self._misled(step):
            if column.shown_as:
                result[column.shown_as] = result.get(column.shown_as, frozenset()) | {column.id}
        return result

    def lost(self, step: int) -> Mapping[str, frozenset[str]]:
        """Return the columns, and parts of structs, that nothing leads to in files that have them.

        By their paths of now, with the keys, as text, of the rows in these files.
        """
        result: dict[str, frozenset[str]] = {}
        for column in self._misled(step):
            if path := self.history[step].schema.path_of(column.id):
                result[path] = result.get(path, frozenset()) | frozenset(column.keys)
        return result

    def _misled(self, step: int) -> Iterator[MisledColumn]:
        files = self.state_of[step].files
        return misled_columns(files, self.made(step), self.history[: step + 1])

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
    def _steps(self) -> range:
        return range(1, len(self.variant.scenario.steps) + 1)

    def _kind(self, step: int) -> OutcomeKind:
        outcome = self.outcomes.get(step)
        return outcome.kind if outcome is not None else OutcomeKind.UNKNOWN

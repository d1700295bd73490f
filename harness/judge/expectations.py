"""The truth of one variant, step by step, and what is told of the answers about it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.core import tolerances
from harness.core.records import Answer, Expected, Normalised, Outcome, OutcomeKind, StateRecord
from harness.judge import assess as told
from harness.judge import attribution, compare, diagnosis, understand
from harness.judge.assess import Told
from harness.judge.attribution import Beside
from harness.judge.checks.place import Place, World, index_of
from harness.judge.file_contents import Holdings, NotKnown
from harness.judge.file_evidence import Layout
from harness.model import past_views
from harness.model.canonical import text_of
from harness.model.commit import AS_OF
from harness.model.file_facts import FileKind
from harness.model.past_views import Past
from harness.model.query import Query
from harness.model.simulation import column_resolution, partition_schemas, row_files
from harness.model.simulation.incremental import Commits, Since
from harness.model.simulation.partition_schemas import Lists
from harness.model.simulation.read_optimized import Base, base_rows
from harness.model.simulation.reader import NO_META, Meta
from harness.model.truth import History, row_values
from harness.scenario import expected_history
from harness.scenario.cells import Variant

READ_OPTIMIZED = "read_optimized"
SNAPSHOT = "snapshot"


Limit = Callable[[str, str, str], str]


def _no_limit(_reader: str, _format: str, _table_version: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Case:
    """One variant with everything that was recorded of it."""

    variant: Variant
    merge_on_read: bool
    states: Sequence[StateRecord]
    """One for each step, the creation first."""
    limit: Limit = _no_limit
    """What readers are declared not to know: reader, format, table version → why, or empty."""


class Histories:
    """The truth and the world of every step of one variant, made once."""

    def __init__(
        self,
        case: Case,
        less: History | None = None,
        written: Histories | None = None,
    ) -> None:
        """`less`: what a product can show of the `written`, where that is not all of it."""
        self._case, self._shown, self._written = case, dict[str, Histories](), written
        self.states = {state.outcome.step: state for state in case.states}
        self.outcomes = outcomes = {step: state.outcome for step, state in self.states.items()}
        steps = range(1, len(case.variant.scenario.steps) + 1)
        applied = [_applied(outcomes.get(step)) for step in steps]
        self.broken = next((s for s in steps if _unknown(outcomes.get(s))), None)
        self.history = less or expected_history.history(
            case.variant.scenario, merge_on_read=case.merge_on_read, applied=applied
        )
        self.instants = {o.instant: step for step, o in outcomes.items() if o.instant}
        self._index = index_of(self.history)
        self._worlds: dict[tuple[int, str], World] = {}
        self._layouts: dict[tuple[int, str], Layout] = {}
        self._expected: dict[tuple[int, str, Query], Expected] = {}
        self._bases: dict[int, Base] = {}
        self._told: dict[Hashable, Told] = {}
        self._differs: dict[Hashable, bool] = {}
        self._holdings = Holdings(case.states, self.history)
        self._besides: dict[tuple[int, str], Beside | None] = {}
        self._meta = _meta(case.states)
        self._commits = _commits(case.states)

    def shown_by(self, reader: str, answer: Answer | None) -> Histories:
        """Return those of what the product of a reader can show: these where it shows all."""
        less = self._less(reader)
        finer = less is not self and answer is not None and understand.finer(answer)
        return self if finer else less

    def _less(self, reader: str) -> Histories:
        name = tolerances.product(reader)
        if name not in self._shown:
            history = understand.history(self.history, tolerances.of(reader))
            all_of_it = history is self.history
            self._shown[name] = self if all_of_it else Histories(self._case, history, self)
        return self._shown[name]

    def normalised(self, step: int, view: str, answer: Answer) -> tuple[Normalised, ...]:
        """Count what was evened out in an answer, and what is expected but was not written."""
        applied = tolerances.merged(answer.normalised, *(p.normalised for p in answer.parts))
        if self._written is None or answer.refusal is not None:
            return applied
        seen, written = compare.narrowed(self.world(step, view), answer.question), self._written
        cut = understand.cut(
            answer.question, seen.schema, written.world(step, view).rows, seen.rows
        )
        return tolerances.merged(applied, cut)

    def asked(self, answer: Answer) -> Answer:
        """Return an answer as one to what its product can have understood of the question."""
        return understand.asked(answer) if self._written else answer

    @property
    def merge_on_read(self) -> bool:
        """Whether changes go to log files first."""
        return self._case.merge_on_read

    def until(self, step: int) -> History:
        """Return the history up to a step."""
        return self.history[: step + 1]

    def world(self, step: int, view: str) -> World:
        """Return what checks may ask about a step and a view."""
        if (step, view) not in self._worlds:
            self._worlds[step, view] = self._world(step, view)
        return self._worlds[step, view]

    def _world(self, step: int, view: str) -> World:
        if back := self.back(view):
            return self._earlier(step, back)
        history, base = self.until(step), self.base(step)
        files, now = self._lying(step, view), history[-1].rows
        world = World(history, self._index, now, lying=files, base=base.rows)
        return replace(world, rows=base.rows, newer=(now,)) if view == READ_OPTIMIZED else world

    def back(self, view: str) -> Past | None:
        """Return a view of the past with the step that can be asked for; None for one of now.

        Where no step up to the planned one made an instant nothing can be asked, and 0 stands.
        """
        back = past_views.past(view)
        return back and replace(
            back, step=past_views.anchor(self.instants.values(), back.step) or 0
        )

    def _earlier(self, step: int, back: Past) -> World:
        """Return the world of a view of the past: as of a step, or what was written since."""
        now = self.until(step)
        if back.name == AS_OF:
            world, later = self.world(back.step, SNAPSHOT), now[back.step + 1 :]
            return replace(world, newer=tuple(each.rows for each in later), later=later)
        world = self.world(step, SNAPSHOT)
        rows = past_views.written_since(world.rows, back.step)
        older = {key: row for key, row in world.rows.items() if key not in rows}
        return replace(world, rows=rows, left_out=older)

    def _lying(self, step: int, view: str) -> Mapping[str, Sequence[int]]:
        """Return which files hold each row that a view reads; nothing where they tell nothing."""
        state = self.states.get(step)
        facts = state.files if state and not state.layout else ()
        if view == READ_OPTIMIZED:
            facts = tuple(fact for fact in facts if fact.kind is FileKind.BASE)
        if not facts:
            return {}
        try:
            return row_files.lying(self.until(step), facts, self._made(step))
        except column_resolution.LayoutError:
            return {}

    def _lists(self, step: int) -> Lists | None:
        """Return the catalog's lists of columns, as far as they follow from the steps.

        A write that was refused may have made partitions known before it failed.
        """
        steps = self._case.variant.scenario.steps
        refused = (at for at, each in self.outcomes.items() if _refused(each) and 0 < at <= step)
        if not all(steps[at - 1].operation.CHANGES_SCHEMA for at in refused):
            return None
        bare = {at for at, state in self.states.items() if state.bare}
        return partition_schemas.lists(self.until(step), self.states[step].files, bare)

    def _made(self, step: int) -> Mapping[str, int]:
        """Return the step that made each instant."""
        return {**self.instants, **dict(self.states[step].others)}

    def expected(self, step: int, view: str, query: Query) -> Expected:
        """Return the table that a view should answer to a query after a step."""
        if (step, view, query) not in self._expected:
            self._expected[step, view, query] = expected_table(self.world(step, view), query)
        return self._expected[step, view, query]

    def told(self, step: int, view: str, answer: Answer) -> Told:
        """Return what is told of an answer; readers of one table often give the same one."""
        same = step, view, answer.question, told.content(answer)
        if same not in self._told:
            world, layout = self.world(step, view), self.layout(step, view)
            beside, again = self.beside(step, view), partial(self._wrong, answer, layout)
            blamed = attribution.blamed(beside, world, again(world), again)
            places = told.filed(answer, blamed, layout)
            if answer.refusal is None:
                self._told[same] = told.of_rows(answer, places, world, layout)
            else:
                self._told[same] = Told(diagnosis.findings(places, world))
        return told.quoted(self._told[same], answer, self.history[0].table.key)

    def differs(self, step: int, view: str, answer: Answer) -> bool:
        """Whether `told` finds anything in an answer that has rows; far less is worked out."""
        same = step, view, answer.question, told.content(answer)
        if same not in self._differs:
            self._differs[same] = told.differs(answer, self.world(step, view))
        return self._differs[same]

    def _wrong(self, answer: Answer, layout: Layout, world: World) -> tuple[Place, ...]:
        """Return what is wrong were the table what a world says, as far as the product can show it.

        What files hold is uncut.
        """
        rows = understand.as_shown(world.rows, world.schema) if self._written else world.rows
        world = world if rows is world.rows else replace(world, rows=rows)
        return told.wrong(answer, world, layout)

    def beside(self, step: int, view: str) -> Beside | None:
        """Return what was written beside what the files hold; None where that is not known."""
        if self._written is not None:
            return self._written.beside(step, view)
        if (step, view) not in self._besides:
            self._besides[step, view] = self._beside(step, view)
        return self._besides[step, view]

    def _beside(self, step: int, view: str) -> Beside | None:
        if (back := self.back(view)) and back.name == AS_OF:
            return self.beside(back.step, SNAPSHOT)
        state, since = self.states[step], self._since(step, view)
        if state.layout or not state.files:
            return None
        base_only = view == READ_OPTIMIZED
        files = [each for each in state.files if not base_only or each.kind is FileKind.BASE]
        try:
            held = self._holdings.held(files, since)
        except NotKnown:
            return None
        return Beside(self.world(step, view), held, self._holdings)

    def _since(self, step: int, view: str) -> Since | None:
        """Return which rows a view gives by when they were committed; None where it gives all."""
        back = self.back(view)
        if back is None or back.name == AS_OF:
            return None
        return Since(back.step, self._made(step), self._commits)

    def base(self, step: int) -> Base:
        """Return what base files show by themselves: the truth of a read-optimized view."""
        if step not in self._bases:
            state, history = self.states[step], self.until(step)
            self._bases[step] = base_rows(history, state.files, self._made(step), state.layout)
        return self._bases[step]

    def layout(self, step: int, view: str) -> Layout:
        """Return what the files of a step tell beside the truth of a view."""
        if (step, view) not in self._layouts:
            back = self.back(view)
            at = back.step if back and back.name == AS_OF else step
            state, since = self.states[at], self._since(step, view)
            layout = Layout(
                self.world(step, view),
                state.files,
                self._made(at),
                state.layout,
                since=since,
                meta=self._meta if state.bare else NO_META,
                lists=self._lists(step) if back is None or since else None,
                whole=self._written.layout(step, view) if self._written else None,
            )
            self._layouts[step, view] = layout
        return self._layouts[step, view]


def _meta(states: Sequence[StateRecord]) -> Meta:
    """Return what the meta columns of each base file hold, as far as records tell."""
    return {
        state.files[each.file].path: each.meta
        for state in states
        for each in state.values
        if each.meta
    }


def _commits(states: Sequence[StateRecord]) -> Commits:
    """Return when the rows of each file were committed, as far as records tell."""
    return {
        state.files[each.file]: each.commits
        for state in states
        for each in state.values
        if each.commits
    }


def _applied(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.APPLIED


def _refused(outcome: Outcome) -> bool:
    return outcome.kind is OutcomeKind.REFUSED


def _unknown(outcome: Outcome | None) -> bool:
    return outcome is None or outcome.kind is OutcomeKind.UNKNOWN


def shows(view: str) -> str:
    """Return the view that a view shows the rows of: what is not read-optimized, those of now."""
    return view if view == READ_OPTIMIZED or past_views.past(view) else SNAPSHOT


def expected_table(world: World, query: Query) -> Expected:
    """Return the table that the view should answer to a query."""
    schema = world.schema
    rows = sorted(world.rows.values(), key=lambda row: text_of(row.key))
    shown = query.answer(schema.names, (row_values(row, schema) for row in rows))
    labels = query.labels(schema.names)
    types = ("long",) if query.count else (str(schema.find(path).type) for path in labels)
    return Expected(tuple(zip(labels, types, strict=True)), tuple(shown))

"""The judge: answers against the truth. Pure: everything comes from records."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness import compare, diagnosis, differences, party, refusals
from harness.cells import Cell, Variant
from harness.checks.place import Place, What, World, index_of
from harness.differences import shown
from harness.held import Holdings, NotKnown
from harness.layout import Layout
from harness.model import lying, resolution
from harness.model.admissible import Base, base_rows
from harness.model.canonical import Value, text_of
from harness.model.files import FileKind
from harness.model.query import Query
from harness.model.truth import History, row_values
from harness.party import Beside
from harness.record import (
    Answer,
    Column,
    Expected,
    Finding,
    Normalised,
    Outcome,
    OutcomeKind,
    Part,
    Refusal,
    StateRecord,
    Verdict,
    VerdictKind,
)
from harness.scenario import generation

READ_OPTIMIZED = "read_optimized"
SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class _Told:
    """What an answer tells, whoever gave it."""

    findings: tuple[Finding, ...]
    ways: tuple[str, ...] = ()
    """How columns were found, where that reproduces the answer."""
    doubt: str = ""
    """How the files are not as the truth says, or tell nothing, where something is wrong."""


@dataclass(frozen=True, slots=True)
class Case:
    """One variant with everything that was recorded of it."""

    variant: Variant
    merge_on_read: bool
    states: Sequence[StateRecord]
    """One for each step, the creation first."""


def judge(case: Case, cells: Sequence[Cell], answers: Mapping[str, Answer]) -> tuple[Verdict, ...]:
    """Give a verdict for every cell of a variant whose step was not skipped.

    There is none either where nothing could be asked, since a refused step left out its column.
    A step that the writer refused, or of which nothing is known, gets a verdict of its own.
    """
    outcomes = {state.outcome.step: state.outcome for state in case.states}
    histories = _Histories(case, outcomes)
    verdicts = [_of_step(case, outcome) for outcome in outcomes.values() if _failed(outcome)]
    for cell in cells:
        outcome = outcomes.get(cell.step)
        answer = answers.get(cell.case)
        if _skipped(outcome) or (_fell_away(answer) and _incomplete(outcomes, cell.step)):
            continue
        shows = histories.shown_by(cell.reader, answer)
        verdicts.append(_of_cell(cell, case, shows, answer))
    return party.settled(verdicts, answers)


class _Histories:
    """The truth and the world of every step of one variant, made once."""

    def __init__(
        self,
        case: Case,
        outcomes: Mapping[int, Outcome],
        less: History | None = None,
        written: _Histories | None = None,
    ) -> None:
        """`less`: what a product can show of the `written`, where that is not all of it."""
        self._of, self._shown, self._written = (case, outcomes), dict[str, _Histories](), written
        steps = range(1, len(case.variant.scenario.steps) + 1)
        applied = [_applied(outcomes.get(step)) for step in steps]
        self.broken = next((s for s in steps if _unknown(outcomes.get(s))), None)
        self.history = less or generation.history(
            case.variant.scenario, merge_on_read=case.merge_on_read, applied=applied
        )
        self.states = {state.outcome.step: state for state in case.states}
        self.instants = {o.instant: step for step, o in outcomes.items() if o.instant}
        self._index = index_of(self.history)
        self._worlds: dict[tuple[int, str], World] = {}
        self._layouts: dict[tuple[int, str], Layout] = {}
        self._expected: dict[tuple[int, str, Query], Expected] = {}
        self._bases: dict[int, Base] = {}
        self._told: dict[Hashable, _Told] = {}
        self._holdings = Holdings(case.states, self.history)
        self._besides: dict[tuple[int, str], Beside | None] = {}

    def shown_by(self, reader: str, answer: Answer | None) -> _Histories:
        """Give those of what the product of a reader can show: these where it shows all."""
        less = self._less(reader)
        finer = less is not self and answer is not None and shown.finer(answer)
        return self if finer else less

    def _less(self, reader: str) -> _Histories:
        name = differences.product(reader)
        if name not in self._shown:
            history = shown.history(self.history, differences.of(reader))
            all_of_it = history is self.history
            self._shown[name] = self if all_of_it else _Histories(*self._of, history, self)
        return self._shown[name]

    def normalised(self, step: int, view: str, answer: Answer) -> tuple[Normalised, ...]:
        """Count what was evened out in an answer, and what is expected but was not written."""
        applied = differences.merged(answer.normalised, *(p.normalised for p in answer.parts))
        if self._written is None or answer.refusal is not None:
            return applied
        seen, written = compare.narrowed(self.world(step, view), answer.question), self._written
        cut = shown.cut(answer.question, seen.schema, written.world(step, view).rows, seen.rows)
        return differences.merged(applied, cut)

    def asked(self, answer: Answer) -> Answer:
        """Give an answer as one to what its product can have understood of the question."""
        return shown.asked(answer) if self._written else answer

    def until(self, step: int) -> History:
        """Give the history up to a step."""
        return self.history[: step + 1]

    def world(self, step: int, view: str) -> World:
        """Give what checks may ask about a step and a view."""
        if (step, view) not in self._worlds:
            self._worlds[step, view] = self._world(step, view)
        return self._worlds[step, view]

    def _world(self, step: int, view: str) -> World:
        history, base = self.until(step), self.base(step)
        files, now = self._lying(step, view), history[-1].rows
        world = World(history, self._index, now, lying=files, base=base.rows)
        return replace(world, rows=base.rows, newer=now) if view == READ_OPTIMIZED else world

    def _lying(self, step: int, view: str) -> Mapping[str, Sequence[int]]:
        """Give which files hold each row that a view reads; nothing where they tell nothing."""
        state = self.states.get(step)
        facts = state.files if state and not state.layout else ()
        if view == READ_OPTIMIZED:
            facts = tuple(fact for fact in facts if fact.kind is FileKind.BASE)
        if not facts:
            return {}
        try:
            return lying.lying(self.until(step), facts, self._made(step))
        except resolution.LayoutError:
            return {}

    def _made(self, step: int) -> Mapping[str, int]:
        """Give the step that made each instant."""
        return {**self.instants, **dict(self.states[step].others)}

    def expected(self, step: int, view: str, query: Query) -> Expected:
        """Give the table that a view should answer to a query after a step."""
        if (step, view, query) not in self._expected:
            self._expected[step, view, query] = expected_table(self.world(step, view), query)
        return self._expected[step, view, query]

    def told(self, step: int, view: str, answer: Answer) -> _Told:
        """Give what is told of an answer; readers of one table often give the same one."""
        same = step, view, answer.question, _content(answer)
        if same not in self._told:
            world, layout = self.world(step, view), self.layout(step, view)
            beside, again = self.beside(step, view), partial(_wrong, answer)
            places = party.blamed(beside, world, again(world), again)
            if answer.refusal is None:
                self._told[same] = _of_rows(answer, places, world, layout)
            else:
                self._told[same] = _Told(diagnosis.findings(places, world))
        return self._told[same]

    def beside(self, step: int, view: str) -> Beside | None:
        """Give what was written beside what the files hold; None where that is not known."""
        if self._written is not None:
            return self._written.beside(step, view)
        if (step, view) not in self._besides:
            self._besides[step, view] = self._beside(step, view)
        return self._besides[step, view]

    def _beside(self, step: int, view: str) -> Beside | None:
        state = self.states[step]
        if state.layout or not state.files:
            return None
        base_only = view == READ_OPTIMIZED
        files = [each for each in state.files if not base_only or each.kind is FileKind.BASE]
        try:
            return Beside(self.world(step, view), self._holdings.held(files), self._holdings)
        except NotKnown:
            return None

    def base(self, step: int) -> Base:
        """Give what base files show by themselves: the truth of a read-optimized view."""
        if step not in self._bases:
            state, history = self.states[step], self.until(step)
            self._bases[step] = base_rows(history, state.files, self._made(step), state.layout)
        return self._bases[step]

    def layout(self, step: int, view: str) -> Layout:
        """Give what the files of a step tell beside the truth of a view."""
        if (step, view) not in self._layouts:
            state = self.states[step]
            layout = Layout(self.world(step, view), state.files, self._made(step), state.layout)
            self._layouts[step, view] = layout
        return self._layouts[step, view]


def _applied(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.APPLIED


def _unknown(outcome: Outcome | None) -> bool:
    return outcome is None or outcome.kind is OutcomeKind.UNKNOWN


def _skipped(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.SKIPPED


def _fell_away(answer: Answer | None) -> bool:
    return answer is not None and bool(answer.void)


def _incomplete(outcomes: Mapping[int, Outcome], step: int) -> bool:
    """Tell whether some step so far was refused: else the plan's columns are all there."""
    return any(_skipped(each) or _failed(each) for at, each in outcomes.items() if at <= step)


def _failed(outcome: Outcome) -> bool:
    return outcome.kind in {OutcomeKind.REFUSED, OutcomeKind.UNKNOWN}


def _of_step(case: Case, outcome: Outcome) -> Verdict:
    refused = outcome.kind is OutcomeKind.REFUSED
    cell = Cell(case.variant.id, outcome.step, case.variant.writers[outcome.step], "write", "step")
    why = refusals.text(outcome.refusal) if outcome.refusal else outcome.because
    kind = VerdictKind.REFUSED if refused else VerdictKind.UNKNOWN
    return replace(_blank(cell, case, kind), because=why, sql="; ".join(outcome.statements))


def _blank(cell: Cell, case: Case, kind: VerdictKind) -> Verdict:
    return Verdict(
        case=cell.case,
        scenario=case.variant.scenario.name,
        variant=cell.variant,
        step=cell.step,
        reader=cell.reader,
        view=cell.view,
        query=cell.query,
        verdict=kind,
    )


def _of_cell(cell: Cell, case: Case, histories: _Histories, answer: Answer | None) -> Verdict:
    blank = _blank(cell, case, VerdictKind.UNKNOWN)
    if histories.broken is not None and cell.step >= histories.broken:
        return replace(blank, because=f"nothing is known of the table after step {cell.step}")
    if answer is None:
        return replace(blank, because="did not run")
    asked = replace(blank, sql=answer.sql, seconds=answer.seconds, reused=answer.reused)
    if answer.unknown or answer.void:
        return replace(asked, because=answer.unknown or answer.void)
    if cell.view == READ_OPTIMIZED and (why := histories.base(cell.step).why):
        return replace(asked, because=f"layout: {why}")
    view, answer = _shows(cell.view), histories.asked(answer)
    expected = histories.expected(cell.step, view, answer.question)
    answer = shown.taken(answer, dict(expected.columns), differences.of(cell.reader))
    told = histories.told(cell.step, view, answer)
    asked = replace(asked, expected=expected, findings=told.findings, reproduces=told.ways)
    asked = replace(asked, normalised=histories.normalised(cell.step, view, answer))
    if answer.refusal is not None:
        because = _why_refused(answer.refusal, histories.layout(cell.step, view))
        return replace(asked, verdict=VerdictKind.REFUSED, because=because)
    kind = VerdictKind.WRONG if told.findings else VerdictKind.CORRECT
    return replace(asked, verdict=kind, because=told.doubt)


def _shows(view: str) -> str:
    """Give the view that a view shows the rows of: what is not read-optimized, those of now."""
    return view if view == READ_OPTIMIZED else SNAPSHOT


def _content(answer: Answer) -> Hashable:
    """Give all of an answer that is judged, as texts: 1, 1.0 and true are not the same.

    The order of rows is no part of it.
    """
    parts = [
        (each.column, _heads(each.columns), _texts(each.rows), _answered(each))
        for each in answer.parts
    ]
    told = _heads(answer.columns), _texts(answer.rows), parts
    return answer.refusal is None, repr(told)


def _texts(rows: Sequence[tuple[Value, ...]]) -> list[str]:
    return sorted(map(repr, rows))


def _heads(columns: Sequence[Column]) -> list[tuple[str, str]]:
    # The engine's own word for a type counts only where it has none in our words.
    return [(each.name, each.canonical or f"engine's {each.type}") for each in columns]


def _why_refused(refusal: Refusal, layout: Layout) -> str:
    because = refusals.meaning(refusal)
    if because == refusals.OTHER_TYPE and (way := layout.clash()):
        return f"read {way}: {because}"
    return because


def _in_parts(answer: Answer, world: World) -> tuple[Place, ...]:
    """Give the wrong places of the columns asked alone, each once.

    Every part shows the key column and all rows again, so what is wrong with them is in several.
    """
    if not answer.parts:
        return ()
    rows: dict[tuple[What, str, str], list[Place]] = {}
    columns: dict[str, Column] = {}
    for part in answer.parts:
        again: dict[tuple[What, str, str], list[Place]] = {}
        for place in compare.wrong_rows(world, part.columns, part.rows) if _answered(part) else ():
            again.setdefault((place.what, place.key, place.column), []).append(place)
        rows |= {at: places for at, places in again.items() if len(places) > len(rows.get(at, ()))}
        columns |= {column.name: column for column in part.columns}
        columns.setdefault(part.column, Column(part.column, ""))
    names = world.schema.names
    heads = compare.wrong_columns(world, tuple(columns.values()), names)
    return (*(place for places in rows.values() for place in places), *heads)


def _answered(part: Part) -> bool:
    return part.refusal is None and not part.unknown


def _wrong(answer: Answer, world: World) -> tuple[Place, ...]:
    """Give the wrong places of an answer, or of the columns asked alone."""
    if answer.refusal is not None:
        return _in_parts(answer, world)
    seen = compare.narrowed(world, answer.question)
    return compare.wrong(seen, answer.question, answer.columns, answer.rows)


def _of_rows(answer: Answer, places: Sequence[Place], world: World, layout: Layout) -> _Told:
    seen = compare.narrowed(world, answer.question)
    found, ways = diagnosis.findings(places, seen), layout.ways(answer)
    doubt = layout.doubt() if found else ""
    return _Told(found, ways, doubt)


def expected_table(world: World, query: Query) -> Expected:
    """Give the table that the view should answer to a query."""
    schema = world.schema
    rows = sorted(world.rows.values(), key=lambda row: text_of(row.key))
    shown = query.answer(schema.names, (row_values(row, schema) for row in rows))
    labels = query.labels(schema.names)
    types = ("long",) if query.count else (str(schema.find(path).type) for path in labels)
    return Expected(tuple(zip(labels, types, strict=True)), tuple(shown))


def layout_of(case: Case, cell: Cell, answer: Answer | None = None) -> Layout:
    """Give what the files of a cell's step tell, beside the truth of its view.

    The truth is as the cell's reader can show it, judged by its answer where there is one.

    Raises:
        KeyError: no state after that step was recorded.

    """
    outcomes = {state.outcome.step: state.outcome for state in case.states}
    return _Histories(case, outcomes).shown_by(cell.reader, answer).layout(cell.step, cell.view)


def beside_of(case: Case, cell: Cell) -> Beside | None:
    """Give what was written beside what the files of a cell's step hold; None where not known.

    Raises:
        KeyError: no state after that step was recorded.

    """
    outcomes = {state.outcome.step: state.outcome for state in case.states}
    return _Histories(case, outcomes).beside(cell.step, _shows(cell.view))

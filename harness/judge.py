"""The judge: answers against the truth. Pure: everything comes from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness import compare, diagnosis, refusals
from harness.cells import Cell, Variant
from harness.checks.place import Place, What, World, index_of
from harness.model import resolution
from harness.model.canonical import text_of
from harness.model.files import FileKind
from harness.model.truth import History, Rows, row_values
from harness.record import (
    Answer,
    Column,
    Expected,
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


@dataclass(frozen=True, slots=True)
class Case:
    """One variant with everything that was recorded of it."""

    variant: Variant
    merge_on_read: bool
    states: Sequence[StateRecord]
    """One for each step, the creation first."""


def judge(case: Case, cells: Sequence[Cell], answers: Mapping[str, Answer]) -> tuple[Verdict, ...]:
    """Give a verdict for every cell of a variant whose step was not skipped.

    A step that the writer refused, or of which nothing is known, gets a verdict of its own.
    """
    outcomes = {state.outcome.step: state.outcome for state in case.states}
    histories = _Histories(case, outcomes)
    verdicts = [_of_step(case, outcome) for outcome in outcomes.values() if _failed(outcome)]
    for cell in cells:
        outcome = outcomes.get(cell.step)
        if outcome is not None and outcome.kind is OutcomeKind.SKIPPED:
            continue
        verdicts.append(_of_cell(cell, case, histories, answers.get(cell.case)))
    return tuple(verdicts)


class _Histories:
    """The truth and the world of every step of one variant, made once."""

    def __init__(self, case: Case, outcomes: Mapping[int, Outcome]) -> None:
        steps = range(1, len(case.variant.scenario.steps) + 1)
        applied = [_applied(outcomes.get(step)) for step in steps]
        self.broken = next((s for s in steps if _unknown(outcomes.get(s))), None)
        self.history = generation.history(
            case.variant.scenario, merge_on_read=case.merge_on_read, applied=applied
        )
        self.states = {state.outcome.step: state for state in case.states}
        self.instants = {o.instant: step for step, o in outcomes.items() if o.instant}
        self._index = index_of(self.history)
        self._worlds: dict[tuple[int, str], World] = {}

    def until(self, step: int) -> History:
        """Give the history up to a step."""
        return self.history[: step + 1]

    def world(self, step: int, view: str) -> World:
        """Give what checks may ask about a step and a view."""
        if (step, view) not in self._worlds:
            history = self.until(step)
            rows = history[-1].base if view == READ_OPTIMIZED else history[-1].rows
            self._worlds[step, view] = World(history, self._index, rows)
        return self._worlds[step, view]


def _applied(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.kind is OutcomeKind.APPLIED


def _unknown(outcome: Outcome | None) -> bool:
    return outcome is None or outcome.kind is OutcomeKind.UNKNOWN


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
    if answer.unknown:
        return replace(asked, because=answer.unknown)
    world = histories.world(cell.step, cell.view)
    if (doubt := _layout_doubt(world, cell, histories)) is not None:
        return replace(asked, because=f"layout: {doubt}")
    expected = expected_table(world)
    if answer.refusal is not None:
        because = _meaning(answer.refusal, world, cell, histories)
        return _refused(replace(asked, because=because), answer, world, expected)
    return _answered(asked, answer, world, expected, _reproducing(world, cell, histories, answer))


def _refused(asked: Verdict, answer: Answer, world: World, expected: Expected) -> Verdict:
    found = diagnosis.findings(_in_parts(answer, world), world)
    return replace(asked, verdict=VerdictKind.REFUSED, findings=found, expected=expected)


def _meaning(refusal: Refusal, world: World, cell: Cell, histories: _Histories) -> str:
    """Say what a refusal means; a clash of types has the way to read for its cause, if it is one.

    Where the column's type changed, every way meets another type, and none is named.
    """
    means = refusals.meaning(refusal)
    if means != refusals.OTHER_TYPE:
        return means
    files = histories.states[cell.step].files
    try:
        ways = resolution.meeting_other_types(world.history, files, histories.instants)
    except resolution.LayoutError:
        return means
    return f"read {ways[0]}: {means}" if len(ways) == 1 else means


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
        for place in compare.wrong_rows(world, part.columns, part.rows) if _told(part) else ():
            again.setdefault((place.what, place.key, place.column), []).append(place)
        rows |= {at: places for at, places in again.items() if len(places) > len(rows.get(at, ()))}
        columns |= {column.name: column for column in part.columns}
        columns.setdefault(part.column, Column(part.column, ""))
    names = world.schema.names
    heads = compare.wrong_columns(world, tuple(columns.values()), names)
    return (*(place for places in rows.values() for place in places), *heads)


def _told(part: Part) -> bool:
    return part.refusal is None and not part.unknown


def _answered(
    asked: Verdict, answer: Answer, world: World, expected: Expected, ways: tuple[str, ...]
) -> Verdict:
    places = compare.differences(world, answer.columns, answer.rows, world.schema.names)
    found = diagnosis.findings(places, world)
    kind = VerdictKind.WRONG if found else VerdictKind.CORRECT
    return replace(asked, verdict=kind, findings=found, reproduces=ways, expected=expected)


def expected_table(world: World) -> Expected:
    """Give the table that the view should show."""
    columns = tuple((field.name, str(field.type)) for field in world.schema.fields)
    rows = sorted(world.rows.values(), key=lambda row: text_of(row.key))
    return Expected(columns, tuple(row_values(row, world.schema) for row in rows))


def _layout_doubt(world: World, cell: Cell, histories: _Histories) -> str | None:
    """Tell why the files do not confirm the read-optimized layout; None when they do."""
    if cell.view != READ_OPTIMIZED:
        return None
    files = histories.states[cell.step].files
    try:
        held = _base_rows(world, files, histories.instants)
    except resolution.LayoutError as doubt:
        return str(doubt)
    same = held == dict(world.rows)
    return None if same else "base files hold other versions than the model says"


def _base_rows(world: World, files: Sequence[object], instants: Mapping[str, int]) -> Rows:
    found = {}
    for base, _ in resolution.slices(files, instants):  # type: ignore[arg-type]
        for key in base.keys if base else ():
            assert base is not None  # noqa: S101 - keys come from it
            row = resolution.version(world.history, base, key, instants)
            found[row.key] = row
    return found


def _reproducing(
    world: World, cell: Cell, histories: _Histories, answer: Answer
) -> tuple[str, ...]:
    files = histories.states[cell.step].files
    names = [column.name for column in answer.columns]
    if not files or sorted(names) != sorted(world.schema.names):
        return ()
    order = [names.index(name) for name in world.schema.names]
    found = sorted(tuple(text_of(row[at]) for at in order) for row in answer.rows)
    with_logs = any(fact.kind is FileKind.LOG for fact in files)
    try:
        return tuple(
            str(way)
            for way in resolution.ways(with_logs=with_logs)
            if _texts(resolution.predict(world.history, files, histories.instants, way)) == found
        )
    except resolution.LayoutError:
        return ()


def _texts(rows: Sequence[Sequence[object]]) -> list[tuple[str, ...]]:
    return sorted(tuple(map(text_of, row)) for row in rows)

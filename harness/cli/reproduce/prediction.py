"""What a reader of a known strategy would show on a candidate, before an engine is asked. Pure.

The files are those that the format is expected to make, the answer is that of a simulated reader
with the strategy, and it is judged as a real one is. A prediction only says where to look: nothing
counts but the answer of the engine itself.
"""

from __future__ import annotations

from harness import formats
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.causes import Sign, plain_strategy, signs
from harness.core.records import (
    Answer,
    Column,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    StateRecord,
)
from harness.judge import verdicts
from harness.judge.expectations import Expectations
from harness.judge.expected_state import column_types
from harness.judge.recorded_variant import RecordedVariant
from harness.model import past_views, query_shapes
from harness.model.commit import INCREMENTAL
from harness.model.simulation.matching import Readings
from harness.model.simulation.reader import Simulation
from harness.model.simulation.strategies import OVERLAID, REKEYED, ColumnMapping
from harness.plan.separation import expected_files
from harness.scenario.cells import Cell

READER = "a reader"
READ = "read "
"""The meaning of a refusal begins with it where the read strategy brought it about."""


def cell_of(candidate: Candidate, reader: str, view: str, shape: str) -> Cell | None:
    """Return the question about the last step; None where there is none of that shape.

    Nor where `view` is one of the past, and there is no step that it can go back to.
    """
    history = candidate.scenario.survey.history
    asked = past_views.asked(view, history)
    texts = query_shapes.planned(shape, asked[1]) if asked else ()
    if not asked or not texts:
        return None
    return Cell(candidate.variant.id, len(history) - 1, reader, asked[0], texts[0])


def predictable(sign: Sign, view: str) -> bool:
    """Return whether a sign names the one strategy by which the reader reads.

    Nothing is predicted where the strategy has to do with the columns that Hudi adds: how the
    catalog lists them is known of written files alone, and so is when rows were committed, by which
    an incremental view goes.
    """
    added = any(text in sign.strategy for text in (ColumnMapping.COUNTED, OVERLAID, REKEYED))
    if sign.kind == FindingKind.UNEXPLAINED or added or view == INCREMENTAL:
        return False
    return sign.strategy.startswith(READ) if sign.refused else bool(sign.strategy)


def shows(
    candidate: Candidate, sign: Sign, view: str, shape: str, refusal: Refusal | None = None
) -> bool:
    """Return whether a reader of the sign's strategy would show it.

    `refusal`: the error of the sign. That one comes is taken for granted; whether its reader meets
    a column of another type is worked out.
    """
    cell = cell_of(candidate, READER, view, shape)
    if cell is None:
        return False
    written = _written(candidate)
    if refusal:
        answer: Answer | None = Answer(cell.case, "", refusal=refusal)
    else:
        answer = _answer(written, cell, sign.strategy)
    if answer is None:
        return False
    (verdict,) = verdicts.judge(written, [cell], {cell.case: answer})
    return sign.among(signs(verdict, answer))


def _written(candidate: Candidate) -> RecordedVariant:
    """Return the records that a writer of the candidate would leave."""
    variant, operations = candidate.variant, candidate.operations
    table_format = formats.load(candidate.format)
    history = candidate.scenario.truths(merge_on_read=table_format.merge_on_read).history()
    layout = table_format.file_layout(candidate.settings)
    states = [
        StateRecord(variant.id, Outcome(step, OutcomeKind.APPLIED, str(step)), "", files)
        for step, files in enumerate(expected_files(history, operations, layout))
    ]
    return RecordedVariant(variant, table_format.merge_on_read, states)


def _answer(written: RecordedVariant, cell: Cell, name: str) -> Answer | None:
    """Return the answer of a reader of a strategy; None where no such strategy is tried here."""
    layout = Expectations(written).for_reader(cell.reader).layout(cell.step, cell.view)
    history, later = layout.state.history, layout.state.later
    readings = Readings(Simulation(history, layout.files, layout.steps, later=later))
    query = query_shapes.query(cell.query, history[-1])
    for strategy in readings.strategies(query):
        labels = readings.labels(strategy, query)
        if labels is not None and plain_strategy(str(strategy)) == name:
            types = column_types(readings.reading.schema(strategy), query)
            try:
                rows = readings.answer(strategy, query)
            except ValueError:  # a value has no form in the type of an older catalog
                return None
            columns = tuple(Column(column, type_, type_) for column, type_ in types)
            return Answer(cell.case, "", columns, tuple(rows), question=query)
    return None

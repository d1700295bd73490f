"""From cells to the questions that are sent, and the records that the stages of reading hand on."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness import engines
from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.core.concurrency import ClosableQueue
from harness.core.records import Answer, Attempt, OutcomeKind, Refusal
from harness.engines import time_travel
from harness.engines.api import Engine, PointInTime, Question
from harness.engines.format_facts import FormatFacts
from harness.formats.api import Format
from harness.model import past_views, query_shapes
from harness.model.commit import BRANCH, INCREMENTAL, NAMED, Moment, ref_name
from harness.model.identifiers import TABLE
from harness.model.past_views import Past
from harness.model.query_shapes import NoQuestionError
from harness.model.simulation.column_resolution import META
from harness.model.truth import History, Truth, staged
from harness.scenario.cells import Cell, Reader, Variant
from harness.usage import own_tables
from harness.write.state_store import FileSeen, State, States


@dataclass(frozen=True, slots=True)
class CellQuestion:
    """The question of one cell, as its reader is asked it."""

    cell: Cell
    reader: Reader
    state: State
    question: Question
    text: str
    """What is sent for it, in the engine's own language, as a record has it."""
    address: str
    """Where the answer is found again: digest of state, reader and text."""
    key: str
    columns: tuple[str, ...]
    """The columns by the catalog entry, meta columns left out; asked alone after a refusal. As of
    an earlier step they are those of the truth."""
    meta: frozenset[str] = frozenset()
    """Those of the columns that formats add which the reader should find in the table."""
    files: tuple[FileSeen, ...] = ()
    """What the table's folder held before anybody read it."""

    def unanswered(self, why: str, attempts: tuple[Attempt, ...] = ()) -> Answer:
        query = self.question.query
        return Answer(self.cell.case, self.text, unknown=why, attempts=attempts, question=query)

    def refused(self, refusal: Refusal) -> Answer:
        query = self.question.query
        return Answer(self.cell.case, self.text, refusal=refusal, question=query)


@dataclass(frozen=True, slots=True)
class Response:
    answer: Answer
    question: CellQuestion | None = None
    """What a reader was asked; None where the answer was there without asking."""


@dataclass(frozen=True, slots=True)
class ReadQueues:
    """What the stages of reading hand on, each in its thread."""

    questions: Mapping[str, ClosableQueue[CellQuestion]]
    """From scheduling to asking, by the distribution whose server is asked."""
    responses: ClosableQueue[Response] = field(default_factory=ClosableQueue)
    """From scheduling and from asking to recording."""


def text_of(engine: Engine, reader: Reader, question: Question) -> str:
    """Return all that a reader is sent for a question, as a record has it."""
    distribution = distributions.load(reader.distribution)
    return "; ".join(engine.statements(distribution, dict(reader.settings), question))


def load_engine(distribution: str) -> Engine:
    return engines.load(distributions.load(distribution).engine)


@dataclass(frozen=True, slots=True)
class QuestionMaker:
    """What making questions needs to know of readers, engines and formats."""

    readers: Mapping[str, Reader]
    engines: Mapping[str, Engine]
    digests: Mapping[str, str]
    formats: Mapping[str, Format]

    def make(
        self, cell: Cell, variant: Variant, history: History, state: State
    ) -> CellQuestion | Answer:
        """Return the question of a cell about a state, or an answer that says why there is none.

        The catalog has no such entry, the table no such column or no past. `history`: after each
        step.
        """
        reader, back = self.readers[cell.reader], past_views.past(cell.view)
        facts = self.formats[variant.format].reader_facts
        table = self.formats[variant.format].table_for(past_views.name_of(cell.view))
        columns = state.columns.get(table)
        if columns is None:
            why = past_views.no_entry(cell.view)
            if table == TABLE or not past_views.unmade(cell.view, history[: cell.step + 1]):
                return Answer(cell.case, "", unknown=why)
            why = f"no step has written anything yet: {why}"
            return Answer(cell.case, "", not_applicable=why)
        if back and (why := back.absent(history[cell.step])):
            return Answer(cell.case, "", not_applicable=why)
        step: int | None = cell.step
        if back:
            made = {step for step, instant in enumerate(state.frozen.instants) if instant}
            step = past_views.anchor(made - back.undone(history[: cell.step + 1]), back.step)
        if step is None:
            return Answer(
                cell.case, "", not_applicable=f"no step up to {back and back.step} made an instant"
            )
        truth = _asked_about(back, history, step, cell.step)
        try:
            query = query_shapes.query(cell.query, truth)
        except NoQuestionError as nothing:
            return Answer(cell.case, "", not_applicable=f"after step {truth.step} {nothing}")
        distribution = distributions.load(reader.distribution)
        there = state.database_in(distribution.warehouse)
        database = own_tables.database(distribution, there)
        past = None
        if back is not None:
            past = self._point_in_time(distribution, variant.format, back, step, state)
            columns = truth.schema.names
        key, settings = truth.table.key, variant.settings
        question = Question(database, table, facts, query, past, key, settings)
        text = text_of(self.engines[reader.distribution], reader, question)
        keyed = f"{state.digest}\0{self.digests[cell.reader]}\0{text}"
        address = hashlib.sha256(keyed.encode()).hexdigest()
        columns = _as_called(columns, truth)
        meta = _meta(reader, facts, state.listed[table])
        if back is not None and back.name == INCREMENTAL:
            meta |= facts.past.added
        return CellQuestion(cell, reader, state, question, text, address, key, columns, meta)

    def _point_in_time(
        self, distribution: Distribution, format_: str, back: Past, step: int, state: State
    ) -> PointInTime:
        shape, version = self.formats[format_], state.frozen.table_version
        if back.name in NAMED:
            moment = Moment(ref_name(back.step))
        else:
            moment = shape.moment(state.table, state.frozen.instants[step])
        facts = shape.reader_facts
        return time_travel.point_in_time(distribution, facts, back.name, moment, version)


def _meta(reader: Reader, facts: FormatFacts, listed: frozenset[str]) -> frozenset[str]:
    """Return those of Hudi's meta columns that a reader finds: `listed` are in the catalog."""
    engine = distributions.load(reader.distribution).engine
    return frozenset(META) if engine in facts.schema_in_table else listed


def _as_called(columns: tuple[str, ...], truth: Truth) -> tuple[str, ...]:
    """Return the columns of a catalog entry as the table spells them; metastores lower them.

    An entry without even the key, as Spark's of Delta tables, says nothing: the truth's are meant.
    """
    as_written = {name.lower(): name for name in truth.schema.names}
    if truth.table.key.lower() not in columns:
        return truth.schema.names
    return tuple(as_written.get(name, name) for name in columns)


def _asked_about(back: Past | None, history: History, step: int, now: int) -> Truth:
    """Return the truth that a question is about; `step`: what it goes back to."""
    if back is None:
        return history[step]
    if back.of_then:
        return past_views.of_commit(history[: step + 1])[-1]
    return staged(history[now]) if back.name == BRANCH else history[now]


def history(variant: Variant, states: States, *, merge_on_read: bool) -> History:
    """Return the truth after each step of a variant, as its frozen states tell what was applied."""
    steps = range(1, len(variant.scenario.steps) + 1)
    frozen = (states.get((variant.id, step)) for step in steps)
    applied = [
        state is not None and state.frozen.outcome.kind is OutcomeKind.APPLIED for state in frozen
    ]
    return variant.scenario.truths(merge_on_read=merge_on_read).history(applied)

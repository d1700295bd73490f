"""First stage of reading: the states of variants, as they come, become questions to servers.

An answer that is there without asking goes on to be recorded: an earlier run got it, or there is
nothing to ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness import engines, formats
from harness.artifacts import distributions
from harness.core.metastore_choice import MetastoreChoice
from harness.core.records import Answer
from harness.engines.api import PlannedReads
from harness.read import questions
from harness.read.answer_cache import AnswerCache
from harness.read.questions import CellQuestion, QuestionMaker, ReadQueues, Response
from harness.read.reader_servers import SharedMetastore
from harness.read.support_probe import Probes
from harness.runtime import metastore, provide
from harness.scenario.cells import Cell, Plan, Reader, Variant
from harness.write import state_store
from harness.write.table_state import FileSeen, States


def servers(plan: Plan) -> Mapping[str, PlannedReads]:
    """Return the servers to ask in the order of the plan, each with what it may be asked about."""
    readers = {str(reader): reader for reader in plan.readers}
    of = {variant.id: formats.facts(variant.format) for variant in plan.variants}
    asked = dict.fromkeys((readers[cell.reader], of[cell.variant]) for cell in plan.cells)
    return {
        name: frozenset(
            (facts, reader.settings) for reader, facts in asked if reader.distribution == name
        )
        for name in dict.fromkeys(reader.distribution for reader, _ in asked)
    }


def schedule(
    plan: Plan, states: Iterable[States], shared: SharedMetastore, probes: Probes, to: ReadQueues
) -> None:
    """Hand each server its questions as states come; then no more questions come.

    Args:
        states: of some variants at a time, all of a variant at once.
        to: where questions, and answers that are there already, go.

    """
    scheduler = _Scheduler(planned_questions(plan), shared, probes, to)
    try:
        for some in states:
            scheduler.take(some)
    finally:
        to.close_questions()


@dataclass(frozen=True, slots=True)
class PlannedQuestions:
    """What is to be asked of each variant."""

    maker: QuestionMaker
    variants: Mapping[str, Variant]
    cells: Mapping[str, Sequence[Cell]]

    def about(self, states: States) -> Iterator[CellQuestion | Answer]:
        """Yield the questions about some variants; an answer where there is nothing to ask."""
        for name in dict.fromkeys(variant for variant, _ in states):
            if name in self.cells:
                variant = self.variants[name]
                merge_on_read = self.maker.formats[variant.format].merge_on_read
                truths = questions.history(variant, states, merge_on_read=merge_on_read)
                for cell in self.cells[name]:
                    state = states.get((name, cell.step))
                    if state is not None:
                        yield self.maker.make(cell, variant, truths, state)


def planned_questions(plan: Plan) -> PlannedQuestions:
    """Return what a plan asks."""
    readers = {str(reader): reader for reader in plan.readers}
    distributions_ = dict.fromkeys(reader.distribution for reader in plan.readers)
    maker = QuestionMaker(
        readers,
        engines={name: questions.load_engine(name) for name in distributions_},
        digests={name: reader_digest(reader, plan.metastore) for name, reader in readers.items()},
        formats={variant.format: formats.load(variant.format) for variant in plan.variants},
    )
    cells: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        cells.setdefault(cell.variant, []).append(cell)
    return PlannedQuestions(maker, {variant.id: variant for variant in plan.variants}, cells)


def reader_digest(reader: Reader, through: MetastoreChoice) -> str:
    """Return the digest of what shapes a reader's answers: artifacts, JRE, configuration, code.

    `through`: the metastore, which counts where it is not the usual one.
    """
    found = distributions.load(reader.distribution)
    code = engines.load(found.engine).ask_code()
    own = [provide.digest(found), code, list(reader.settings)]
    if not through.usual:
        served = map(distributions.load, metastore.needed(through))
        own.append([provide.digest(distribution) for distribution in served])
    return distributions.digest_of(own)


@dataclass(frozen=True, slots=True)
class _Scheduler:
    """Hands on what states give to ask."""

    planned: PlannedQuestions
    shared: SharedMetastore
    probes: Probes
    to: ReadQueues
    files: dict[str, tuple[FileSeen, ...]] = field(default_factory=dict)
    """What each state's folder held before anybody read it, by the state's digest."""

    def take(self, states: States) -> None:
        """Hand on the questions about some states, once their servers can find these."""
        asked, there = list[CellQuestion](), list[Response]()
        for question in self.planned.about(states):
            answer = self._found(question) if isinstance(question, CellQuestion) else question
            if answer is not None:
                there.append(Response(answer))
            elif isinstance(question, CellQuestion):
                asked.append(question)
        self.to.responses.put_all(there)
        if asked:
            self._send(asked)

    def _found(self, question: CellQuestion) -> Answer | None:
        """Find what an earlier run was answered."""
        context = self.shared.context
        if context.fresh:
            return None
        cache = AnswerCache.of(context.cache)
        answer = cache.find(question.address, question.cell.case)
        if answer is not None:
            self.probes.note(question, answer)
        return answer

    def _send(self, asked: Sequence[CellQuestion]) -> None:
        states = {question.state.digest: question.state for question in asked}
        self.shared.register(states.values())
        for digest, state in states.items():
            if digest not in self.files:
                self.files[digest] = state_store.file_list(state)
        watched = [
            replace(cell_question, files=self.files[cell_question.state.digest])
            for cell_question in asked
        ]
        for name, group in questions.by_server(watched).items():
            self.to.questions[name].put_all(group)

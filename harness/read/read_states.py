"""The verb *read*: every engine is started, asked about all states, and stopped; two at a time.

States may come while others are still written. What is scheduled, asked and recorded goes one way,
through queues between the threads of the stages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

from harness import engines, formats
from harness.artifacts import distributions
from harness.artifacts.cache import Cache, sharded_path, write_sharded
from harness.core import jsonl
from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.grouping import grouped
from harness.core.progress import Count
from harness.core.records import Answer
from harness.core.runtime_names import ENDPOINT, MetastoreChoice, given
from harness.engines.api import PlannedReads
from harness.engines.format_facts import FormatFacts
from harness.read import ask_engine, questions
from harness.read.ask_engine import Probes, ReplaceableServer
from harness.read.platform_tables import PlatformTables, catalog_for
from harness.read.questions import CellQuestion, QuestionMaker, ReadQueues, Response
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.runtime import metastore, provide
from harness.scenario.cells import Cell, Plan, Reader
from harness.write import state_store
from harness.write.state_store import FileSeen, States

T = TypeVar("T")
Catalogs = Mapping[str, SharedMetastore]
"""Where the tables are that a server is asked about, by its distribution."""


def find_culprit(
    plan: Plan, states: States, context: ReadContext, case: str, earlier: Answer
) -> str:
    """Return the case of a question after which a fresh server answers `earlier` to `case`.

    Empty where none does alone. The plan's cells are those of these questions, all of one server.

    Raises EnvironmentProblem: an artifact is missing, or the metastore does not get ready.
    """
    made = planned_questions(plan)(states)
    asked = [question for question in made if isinstance(question, CellQuestion)]
    (later,) = (cell_question for cell_question in asked if cell_question.cell.case == case)
    ((name, planned),) = servers(plan).items()
    with catalog_for(name, context) as shared:
        shared.register({question.state.digest: question.state for question in asked}.values())
        start = EngineStart(name, planned, shared, JobThreads(1))
        others = [question for question in asked if question is not later]

        def given_after(some: Sequence[CellQuestion]) -> bool:
            with ReplaceableServer(start, ClosableQueue(), connections=1) as server:
                server.ask(some)
                answer = server.ask([later])[case]
            return not answer.unknown and same_answer(answer, earlier)

        culprit = sole_culprit(others, given_after)
    return culprit.cell.case if culprit else ""


def sole_culprit(asked: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> T | None:
    """Return the one of several that is enough by itself, halving them; None: there is none.

    >>> sole_culprit("abcdefg", lambda some: "c" in some)
    'c'
    >>> sole_culprit("abcdefg", lambda some: "c" in some and "e" in some)

    """
    if not asked or not enough(asked):
        return None
    while len(asked) > 1:
        middle = len(asked) // 2
        fitting = (half for half in (asked[:middle], asked[middle:]) if enough(half))
        asked = next(fitting, ())
        if not asked:
            return None
    return asked[0]


@dataclass(frozen=True, slots=True)
class AnswerCache:
    """The answers that runs have got, one file each."""

    folder: Path

    @classmethod
    def in_cache(cls, cache: Cache) -> AnswerCache:
        return cls(cache.root / "answers")

    def find(self, address: str, case: str) -> Answer | None:
        """Find the answer kept under an address, as the answer of a case."""
        try:
            answer = jsonl.parse(Answer, self._path(address).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:  # the machine went down before the disk had it: asked again
            return None
        return replace(answer, case=case, reused=True)

    def store(self, address: str, answer: Answer) -> None:
        """Keep an answer; not one that is unknown, flaky, or depends on what else was asked."""
        path = self._path(address)
        if answer.earlier is not None:
            path.unlink(missing_ok=True)
        flaky = answer.attempts or any(part.unknown for part in answer.parts)
        if answer.unknown or answer.earlier is not None or flaky:
            return
        write_sharded(self.folder, path.name, f"{jsonl.dump(answer)}\n".encode())

    def _path(self, address: str) -> Path:
        return sharded_path(self.folder, f"{address}.json")


NOT_ASKED: Final = "not asked"
CHANGED: Final = "the frozen table's files changed while it was read"
SERVERS: Final = 2
"""Engines that are asked side by side, where memory allows: while one starts another answers."""


def read(
    plan: Plan,
    states: Iterable[States],
    context: ReadContext,
    cells: Count,
    first: Mapping[str, Answer] = MappingProxyType({}),
) -> Generator[Answer, None, None]:
    """Yield an answer for every cell that has a state, as they come, and count what came of each.

    States come by variants, all of a variant at once. `first`: the answers that some cells have
    already, by case; what is yielded for these tells whether the answer is another one now.

    Raises EnvironmentProblem: an artifact is missing, or the metastore does not get ready.
    """
    if context.metastore.upgraded_from:
        states = _at_once(states)
    queues = ReadQueues({name: ClosableQueue() for name in servers(plan)})
    threads = JobThreads(1)

    def schedule_and_ask() -> None:
        """Schedule questions while engines are asked, each in a thread; then no answers come."""
        probes, asking = Probes(), JobThreads(SERVERS, threads.failed)
        shared, platform, reads = SharedMetastore(context), PlatformTables(context), servers(plan)
        catalogs = {name: platform if given(name) == ENDPOINT else shared for name in reads}
        with closing(queues.responses), shared, platform:
            starts = (EngineStart(name, reads[name], catalogs[name], asking) for name in reads)
            asked = [partial(ask_engine.ask, start, probes, queues) for start in starts]
            with asking.running(asked):
                schedule(plan, states, context, catalogs, probes, queues)

    with threads.running([schedule_and_ask]):
        cache = AnswerCache.in_cache(context.cache)
        yield from record(queues.responses, cache, cells, first)
    if cells.left:  # nobody can be asked about them: their tables have no state
        cells.count_result("", NOT_ASKED, cells.left)


def _at_once(states: Iterable[States]) -> Iterator[States]:
    """Yield all states together, once the last has come: a database is upgraded with all of it."""
    yield {key: state for some in states for key, state in some.items()}


def servers(plan: Plan) -> Mapping[str, PlannedReads]:
    """Return the servers to ask in the order of the plan, each with what it may be asked about."""
    readers = {str(reader): reader for reader in plan.readers}
    facts = {variant.id: formats.facts(variant.format) for variant in plan.variants}
    asked: dict[str, set[tuple[FormatFacts, tuple[tuple[str, str], ...]]]] = {}
    for cell in plan.cells:
        reader = readers[cell.reader]
        asked.setdefault(reader.distribution, set()).add((facts[cell.variant], reader.settings))
    return {name: frozenset(reads) for name, reads in asked.items()}


def schedule(
    plan: Plan,
    states: Iterable[States],
    context: ReadContext,
    catalogs: Catalogs,
    probes: Probes,
    to: ReadQueues,
) -> None:
    """Hand each server its questions as states come; then no more questions come.

    Where none come, the others are written now.
    """
    planned = planned_questions(plan)
    cache, files = AnswerCache.in_cache(context.cache), dict[str, tuple[FileSeen, ...]]()
    come = set[str]()
    try:
        for some in states:
            come.update(variant for variant, _ in some)
            if not some:
                _announce(
                    [cell for cell in plan.cells if cell.variant not in come], plan, catalogs, to
                )
            asked, there = list[CellQuestion](), list[Response]()
            for question in planned(some):
                if isinstance(question, Answer):
                    there.append(Response(question))
                elif context.fresh or not (
                    answer := cache.find(question.address, question.cell.case)
                ):
                    asked.append(question)
                else:
                    probes.note(question, answer)
                    there.append(Response(answer))
            to.responses.put_all(there)
            if asked:
                _hand_out(asked, files, catalogs, to)
    finally:
        for queue in to.questions.values():
            queue.close()


def _hand_out(
    asked: Sequence[CellQuestion],
    files: dict[str, tuple[FileSeen, ...]],
    catalogs: Catalogs,
    to: ReadQueues,
) -> None:
    """Register the states of questions, and hand each server its own.

    About one that its catalog has not taken, what the catalog said is the answer.
    """
    fresh = grouped([(catalogs[q.reader.distribution], (q.state.digest, q.state)) for q in asked])
    for catalog, its in fresh.items():
        catalog.register(dict(its).values())
        for digest, state in its:
            if digest not in files:  # before anybody reads them
                files[digest] = state_store.file_list(state)
    for name, queue in to.questions.items():
        refused = catalogs[name].refused
        of_server = [question for question in asked if question.reader.distribution == name]
        queue.put_all(
            replace(question, files=files[question.state.digest])
            for question in of_server
            if question.state.digest not in refused
        )
        to.responses.put_all(
            Response(question.refused(refused[question.state.digest]))
            for question in of_server
            if question.state.digest in refused
        )


def _announce(cells: Sequence[Cell], plan: Plan, catalogs: Catalogs, to: ReadQueues) -> None:
    """Have the servers started that are asked about the tables of these cells."""
    names = servers(replace(plan, cells=tuple(cells)))
    for catalog in {catalogs[name] for name in names}:
        catalog.register(())
    for name in names:
        to.questions[name].announce()


def planned_questions(plan: Plan) -> Callable[[States], Iterator[CellQuestion | Answer]]:
    """Return what yields the questions about some variants, or answers where there are none."""
    readers = {str(reader): reader for reader in plan.readers}
    variants = {variant.id: variant for variant in plan.variants}
    maker = QuestionMaker(
        readers,
        {name: questions.load_engine(name) for name in {r.distribution for r in plan.readers}},
        {name: reader_digest(reader, plan.metastore) for name, reader in readers.items()},
        {variant.format: formats.load(variant.format) for variant in plan.variants},
    )
    cells: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        cells.setdefault(cell.variant, []).append(cell)

    def about(states: States) -> Iterator[CellQuestion | Answer]:
        for name in dict.fromkeys(variant for variant, _ in states if variant in cells):
            variant = variants[name]
            merge_on_read = maker.formats[variant.format].merge_on_read
            truths = questions.history(variant, states, merge_on_read=merge_on_read)
            for cell in cells[name]:
                if state := states.get((name, cell.step)):
                    yield maker.make(cell, variant, truths, state)

    return about


def reader_digest(reader: Reader, through: MetastoreChoice) -> str:
    """Return the digest of what shapes a reader's answers: artifacts, JRE, configuration, code."""
    distribution = distributions.load(reader.distribution)
    code = engines.load(distribution.engine).ask_code()
    shaping = [provide.digest(distribution), code, list(reader.settings)]
    if not through.usual:
        served = map(distributions.load, metastore.needed(through))
        shaping.append([provide.digest(distribution) for distribution in served])
    return distributions.digest_of(shaping)


def record(
    responses: ClosableQueue[Response],
    cache: AnswerCache,
    cells: Count,
    first: Mapping[str, Answer] = MappingProxyType({}),
) -> Iterator[Answer]:
    """Yield the answers as they come, until no more do, and count each.

    One whose table's files changed since before anybody read them is unknown; others that were
    asked for are kept for later runs, of what is asked a second time (`first`) only the same.
    """
    while some := responses.take_all():
        for response in some:
            distribution = response.question.reader.distribution if response.question else ""
            cells.count_result(distribution, _outcome(response.answer))
        asked = {
            response.question.state.digest: response.question
            for response in some
            if response.question
        }
        changed = {
            digest
            for digest, question in asked.items()
            if state_store.file_list(question.state) != question.files
        }
        for response in some:
            yield _checked(response, cache, changed, first.get(response.answer.case))


def _checked(
    response: Response, cache: AnswerCache, changed: Collection[str], first: Answer | None
) -> Answer:
    answer, question = response.answer, response.question
    if question is not None and question.state.digest in changed:
        answer = Answer(answer.case, answer.sql, unknown=CHANGED, attempts=answer.attempts)
    if first is not None:
        answer = record_of_both(answer, first)
    # Nobody finds that of an engine of others again: each run's tables have names of their own.
    if question is not None and given(question.reader.distribution) != ENDPOINT:
        cache.store(question.address, answer)
    return answer


def record_of_both(answer: Answer, first: Answer) -> Answer:
    """Return the record of a question that was asked twice; a fresh server may give none."""
    if answer.unknown or answer.not_applicable:
        return first
    earlier = None if same_answer(answer, first) else replace(first, case="", sql="", attempts=())
    return replace(answer, again=True, earlier=earlier)


def same_answer(one: Answer, other: Answer) -> bool:
    """Return whether two answers show the same; the order of rows and of columns is no part."""
    return one.has_table == other.has_table and _content(one) == _content(other)


def _content(answer: Answer) -> tuple[Sequence[str], Sequence[str]]:
    labels = answer.labels
    order = sorted(range(len(labels)), key=labels.__getitem__)
    return sorted(labels), sorted(repr([row[at] for at in order]) for row in answer.rows)


def _outcome(answer: Answer) -> str:
    """Return in a word what came of a cell; whether rows are right is judged later."""
    if answer.not_applicable:
        return NOT_ASKED
    if answer.reused:
        return "reused"
    return "silent" if answer.unknown else "refused" if answer.refusal else "answered"


def count_cells(plan: Plan, context: ReadContext) -> Count:
    """Return the count of the cells of a plan; where there are none, nobody is told of it."""
    total = len(plan.cells)
    return context.progress.count("ask queries", total) if total else Count("", 0)

"""The verb *read*: every engine is started, asked about all states, and stopped; two at a time.

States may come while others are still written; an engine is asked about them as they come. What is
scheduled, asked and recorded goes one way, through queues between the threads of the stages.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from types import MappingProxyType
from typing import Final

from harness.core.concurrency import ClosableQueue, JobThreads
from harness.core.progress import Count
from harness.core.records import Answer
from harness.read import ask_engine, record_answers, schedule_questions
from harness.read.answer_cache import AnswerCache
from harness.read.questions import ReadQueues
from harness.read.reader_servers import EngineStart, ReadContext, SharedMetastore
from harness.read.support_probe import Probes
from harness.scenario.cells import Plan
from harness.write.table_state import States

SERVERS: Final = 2
"""Engines that are asked side by side, where memory allows: while one starts another answers."""


def read(
    plan: Plan,
    states: Iterable[States],
    context: ReadContext,
    cells: Count,
    first: Mapping[str, Answer] = MappingProxyType({}),
) -> Generator[Answer, None, None]:
    """Yield an answer for every cell that has a state, as they come.

    Args:
        plan: the cells, their variants and readers.
        states: of some variants at a time, all of a variant at once. As soon as they come the
            readers are asked about them.
        context: where it works.
        cells: counts what came of each cell.
        first: tables with which the cells were answered already, by case. What is yielded of these
            tells whether the answer is another one now.

    Raises:
        EnvironmentProblem: an artifact is missing, or the metastore does not get ready.

    """
    if context.metastore.upgraded_from:
        states = _at_once(states)
    queues = ReadQueues({name: ClosableQueue() for name in schedule_questions.servers(plan)})
    threads = JobThreads(1)
    asking = partial(_schedule_and_ask, plan, states, context, queues, threads)
    with threads.running([asking]):
        cache = AnswerCache.of(context.cache)
        yield from record_answers.record(queues.responses, cache, cells, first)
    record_answers.count_rest(cells)


def _schedule_and_ask(
    plan: Plan,
    states: Iterable[States],
    context: ReadContext,
    queues: ReadQueues,
    halting: JobThreads,
) -> None:
    """Schedule questions while engines are asked, each in a thread; close the queue of answers."""
    probes, threads = Probes(), JobThreads(SERVERS, halting.failed)
    with closing(queues.responses), SharedMetastore(context) as shared:
        starts = (
            EngineStart(name, planned, shared, threads)
            for name, planned in schedule_questions.servers(plan).items()
        )
        with threads.running([partial(ask_engine.ask, start, probes, queues) for start in starts]):
            schedule_questions.schedule(plan, states, shared, probes, queues)


def _at_once(states: Iterable[States]) -> Iterator[States]:
    """Yield all states together, once the last has come: a database is upgraded with all of it."""
    yield {key: state for some in states for key, state in some.items()}


def count_cells(plan: Plan, context: ReadContext) -> Count:
    """Return the count of the cells of a plan; where there are none, nobody is told of it."""
    total = len(plan.cells)
    return context.progress.count("ask cells", total) if total else Count("", 0)

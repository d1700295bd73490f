"""The verb *read*: every engine is started, asked about all states, and stopped; two at a time.

States may come while others are still written; an engine is asked about them as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from functools import cache, partial

from harness import engines, formats
from harness.artifacts import distributions, fetch
from harness.core.progress import Count, started
from harness.core.queue import Handover
from harness.core.records import Answer
from harness.engines.api import PlannedReads
from harness.read import questions
from harness.read.answer_cache import AnswerCache
from harness.read.answer_sink import Keeper
from harness.read.engine_pool import Desk, Reading, engine_of, take_turn
from harness.read.questions import Asked, Asking
from harness.read.shared_metastore import SharedCatalog
from harness.runtime import metastore, work_folders
from harness.scenario.cells import Cell, Plan, Reader, Variant
from harness.write.table_state import States


def read(
    plan: Plan, states: Iterable[States], where: Reading, found: Callable[[Answer], None]
) -> None:
    """Get an answer for every cell that has a state; `found` is told each as it comes.

    `states`: of some variants at a time, all of a variant at once. As soon as they come the readers
    are asked about them.

    Raises:
        EnvironmentProblem: an artifact is missing, or a server does not get ready.

    """
    with _counted(plan, where) as cells:
        keeper = Keeper(AnswerCache(where.cache.root / "answers"), found, cells, where.kind_of)
        _ask(plan, states, where, keeper)
        keeper.rest()


def _counted(plan: Plan, where: Reading) -> Count:
    """Begin the count of cells; of none nothing is told."""
    total = len(plan.cells)
    return where.progress.count("ask cells", total) if total else Count("", 0)


def _ask(plan: Plan, states: Iterable[States], where: Reading, keeper: Keeper) -> None:
    planned = _planned_reads(plan)
    with SharedCatalog(lambda: _metastore(where)) as shared:
        desk = Desk(where, shared, keeper, {name: Handover() for name in planned})
        with desk.lanes.doing([partial(take_turn, *each, desk) for each in planned.items()]):
            _hand_out(_planned(plan), states, desk)


def _planned_reads(plan: Plan) -> Mapping[str, PlannedReads]:
    """Name the servers in the order of the plan, each with what it may be asked about."""
    readers = {str(reader): reader for reader in plan.readers}
    of = {each.id: formats.facts(each.format) for each in plan.variants}
    asked = dict.fromkeys((readers[cell.reader], of[cell.variant]) for cell in plan.cells)
    return {
        name: frozenset(
            (facts, each.settings) for each, facts in asked if each.distribution == name
        )
        for name in dict.fromkeys(each.distribution for each, _ in asked)
    }


def _hand_out(planned: _Planned, states: Iterable[States], desk: Desk) -> None:
    """Return each server its questions as states come."""
    given = False
    with closing(desk):
        for some in states:
            asked = desk.left(planned.about(some))
            if asked:
                # Beside a writer the metastore waits for memory, as the servers do.
                first = desk.where.room.of(distributions.load(metastore.DISTRIBUTION))
                with nullcontext() if given else first:
                    desk.give(asked)
                given = True


@dataclass(frozen=True, slots=True)
class _Planned:
    """What is to be asked of each variant."""

    asking: Asking
    variants: Mapping[str, Variant]
    cells: Mapping[str, Sequence[Cell]]

    def about(self, states: States) -> Iterator[Asked | Answer]:
        """Yield the questions about some variants; an answer where there is nothing to ask."""
        for name in dict.fromkeys(variant for variant, _ in states):
            if name in self.cells:
                variant = self.variants[name]
                merge_on_read = formats.load(variant.format).merge_on_read
                truths = questions.history(variant, states, merge_on_read=merge_on_read)
                for cell in self.cells[name]:
                    state = states.get((name, cell.step))
                    if state is not None:
                        yield self.asking.ask(cell, variant, truths, state)


def _planned(plan: Plan) -> _Planned:
    readers = {str(reader): reader for reader in plan.readers}
    # Once for each reader: a digest reads the sources and templates behind it.
    asking = Asking(readers, cache(engine_of), cache(reader_digest), formats.load)
    cells: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        cells.setdefault(cell.variant, []).append(cell)
    return _Planned(asking, {variant.id: variant for variant in plan.variants}, cells)


def reader_digest(reader: Reader) -> str:
    """Return the digest of what shapes a reader's answers: artifacts, JRE, configuration, code."""
    found = distributions.load(reader.distribution)
    code = engines.load(found.engine).ask_code()
    return distributions.digest_of([distributions.digest(found), code, list(reader.settings)])


def _metastore(where: Reading) -> AbstractContextManager[metastore.Metastore]:
    found = fetch.ensure(distributions.load(metastore.DISTRIBUTION), where.cache, where.progress)
    place = work_folders.numbered(where.folder, "metastore")
    serving = metastore.serve(found, where.cache, place, where.progress)
    return started(metastore.DISTRIBUTION, serving, where.progress)


def in_plan_order(answers: Iterable[Answer], cells: Sequence[Cell]) -> list[Answer]:
    """Return the answers in the order of their cells, the newest where there are several."""
    by_case = {answer.case: answer for answer in answers}
    return [by_case[cell.case] for cell in cells if cell.case in by_case]

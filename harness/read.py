"""The verb *read*: every engine is started, asked about all states, and stopped; two at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Final

from harness import asking, engines, formats, questions
from harness.answer_cache import AnswerCache
from harness.answering import TIMEOUT_S, Manner
from harness.cells import Cell, Plan, Reader
from harness.engines.api import Engine, Server
from harness.errors import EnvironmentProblem
from harness.freeze import States
from harness.keeper import Keeper
from harness.model.truth import History
from harness.progress import Progress, started
from harness.questions import Asked, Asking
from harness.record import Answer
from harness.runtimes import distributions, fetch, memory, metastore
from harness.runtimes.cache import Cache
from harness.shared_catalog import SharedCatalog
from harness.side_by_side import Lanes

CONNECTIONS: Final = 2
"""Connections that ask one server at once."""
SERVERS: Final = 2
"""Engines that are asked side by side, where memory allows: while one starts another answers."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a reading phase works."""

    cache: Cache
    folder: Path
    """The run's own folder for servers, logs and configuration."""
    progress: Progress
    fresh: bool = False
    """Ask again what earlier runs have asked."""
    timeout_s: float = TIMEOUT_S
    """After so long a query counts as unanswered."""


def read(plan: Plan, states: States, where: Reading, found: Callable[[Answer], None]) -> None:
    """Get an answer for every cell that has a state; `found` is told each as it comes.

    Raises:
        EnvironmentProblem: an artifact is missing, or a server does not get ready.

    """
    kept = AnswerCache(where.cache.root / "answers")
    asked = []
    for each in _questions(plan, states):
        if isinstance(each, Answer):
            found(each)
            continue
        known = None if where.fresh else kept.find(each.address, each.cell.case)
        if known is None:
            asked.append(each)
        else:
            found(known)
    if asked:
        _ask_servers(asked, where, Keeper(kept, found, where.progress))


def _questions(plan: Plan, states: States) -> Iterable[Asked | Answer]:
    variants = {variant.id: variant for variant in plan.variants}
    readers = {str(reader): reader for reader in plan.readers}
    # Once for each reader: a digest reads the sources and templates behind it.
    ask = Asking(readers, cache(_engine), cache(reader_digest), formats.load)

    @cache
    def truths(variant: str) -> History:
        merge_on_read = formats.load(variants[variant].format).merge_on_read
        return questions.history(variants[variant], states, merge_on_read=merge_on_read)

    for cell in plan.cells:
        state = states.get((cell.variant, cell.step))
        if state is not None:
            yield ask.ask(cell, variants[cell.variant], truths(cell.variant), state)


def _engine(distribution: str) -> Engine:
    return engines.load(distributions.load(distribution).engine)


def reader_digest(reader: Reader) -> str:
    """Give the digest of what shapes a reader's answers: artifacts, JRE, configuration, code."""
    found = distributions.load(reader.distribution)
    code = engines.load(found.engine).ask_code()
    return distributions.digest_of([distributions.digest(found), code, list(reader.settings)])


def _ask_servers(asked: Sequence[Asked], where: Reading, keeper: Keeper) -> None:
    states = {each.state.digest: each.state for each in asked}
    groups = questions.by_server(asked)
    where.progress.count(f"ask {', '.join(groups)}", len(asked))
    with SharedCatalog(lambda: _metastore(where), tuple(states.values())) as shared:
        shared.running()
        keeper.watch(states.values())
        desk, lanes = _Desk(where, shared, keeper), Lanes(SERVERS)
        told = partial(_told, keeper, lanes)
        lanes.do([partial(_ask_server, name, group, desk, told) for name, group in groups.items()])
    where.progress.done()


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the engines that are asked side by side share."""

    where: Reading
    shared: SharedCatalog
    keeper: Keeper
    room: memory.Room = field(default_factory=memory.Room)


def _told(keeper: Keeper, lanes: Lanes, each: Asked, answer: Answer) -> None:
    lanes.check()
    keeper.take(each, answer)


def _metastore(where: Reading) -> AbstractContextManager[metastore.Metastore]:
    found = fetch.ensure(distributions.load(metastore.DISTRIBUTION), where.cache, where.progress)
    serving = metastore.serve(found, where.cache, _folder(where, "metastore"), where.progress)
    return started(metastore.DISTRIBUTION, serving, where.progress)


def _folder(where: Reading, name: str) -> Path:
    """Make a new folder of a server's own."""
    folders = (where.folder / f"{name}-{number}" for number in count())
    folder = next(each for each in folders if not each.exists())
    folder.mkdir(parents=True)
    return folder


def _ask_server(name: str, asked: Sequence[Asked], desk: _Desk, told: asking.Told) -> None:
    began, answered, progress = time.monotonic(), set[str](), desk.where.progress

    def keep(each: Asked, answer: Answer) -> None:
        told(each, answer)
        answered.add(answer.case)

    try:
        peak = _ask_all(name, asked, desk, keep)
    except EnvironmentProblem as problem:
        peak = 0
        progress.note(f"{name}: {problem}")
        for each in asked:
            if each.cell.case not in answered:
                told(each, _unanswered(each, f"{name}: {problem}"))
    desk.keeper.pass_on()
    seconds = time.monotonic() - began
    progress.note(f"{name}: {len(asked)} answers in {seconds:.0f} s, {peak} MB at most")


def _ask_all(name: str, asked: Sequence[Asked], desk: _Desk, told: asking.Told) -> int:
    where, engine = desk.where, _engine(name)
    installation = fetch.ensure(distributions.load(name), where.cache, where.progress)
    stands_on = desk.shared.running()
    wanted = frozenset((each.question.format, each.reader.settings) for each in asked)

    @contextmanager
    def serve() -> Iterator[Server]:
        nonlocal stands_on
        with desk.room.of(installation.distribution):
            stands_on = desk.shared.running()
            folder = _folder(where, name)
            serving = engine.serve(installation, stands_on.uri, folder, where.progress, wanted)
            with started(name, serving, where.progress) as server:
                yield server

    manner = Manner(CONNECTIONS, where.timeout_s, lambda: desk.shared.answers(stands_on))
    return asking.ask_all(serve, engine, asked, manner=manner, told=told)


def _unanswered(asked: Asked, why: str) -> Answer:
    return Answer(asked.cell.case, asked.told, unknown=why, question=asked.question.query)


def in_plan_order(answers: Iterable[Answer], cells: Sequence[Cell]) -> list[Answer]:
    """Give the answers in the order of their cells, the newest where there are several."""
    by_case = {answer.case: answer for answer in answers}
    return [by_case[cell.case] for cell in cells if cell.case in by_case]

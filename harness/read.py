"""The verb *read*: every engine is started, asked about all states, and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Final

from harness import asking, engines, formats, questions
from harness.answer_cache import AnswerCache
from harness.asking import TIMEOUT_S, Manner
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

CONNECTIONS: Final = 2
"""Connections that ask one server at once."""


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
        _ask_servers(asked, where, Keeper(kept, found))


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
            yield ask.ask(cell, variants[cell.variant], truths(cell.variant)[cell.step], state)


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
        shared.uri()
        keeper.watch(states.values())
        for name, group in groups.items():
            _ask_server(name, group, where, shared, keeper)
    where.progress.done()


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


def _ask_server(
    name: str, asked: Sequence[Asked], where: Reading, shared: SharedCatalog, keeper: Keeper
) -> None:
    installation = fetch.ensure(distributions.load(name), where.cache, where.progress)
    engine, began, answered = _engine(name), time.monotonic(), set[str]()
    manner = Manner(CONNECTIONS, where.timeout_s, shared.answers)

    def serve() -> AbstractContextManager[Server]:
        memory.check(installation.distribution)
        serving = engine.serve(installation, shared.uri(), _folder(where, name), where.progress)
        return started(name, serving, where.progress)

    def told(each: Asked, answer: Answer) -> None:
        where.progress.found(name, _outcome(answer))
        answered.add(answer.case)
        keeper.take(each, answer)

    try:
        peak = asking.ask_all(serve, engine, asked, manner=manner, told=told)
    except EnvironmentProblem as problem:
        peak = 0
        where.progress.note(f"{name}: {problem}")
        for each in asked:
            if each.cell.case not in answered:
                told(each, _unanswered(each, f"{name}: {problem}"))
    keeper.pass_on()
    where.progress.note(
        f"{name}: {len(asked)} answers in {time.monotonic() - began:.0f} s, {peak} MB at most"
    )


def _unanswered(asked: Asked, why: str) -> Answer:
    return Answer(asked.cell.case, asked.sql, unknown=why, question=asked.question.query)


def _outcome(answer: Answer) -> str:
    """Say in a word what came of a question; whether rows are right is judged later."""
    return "silent" if answer.unknown else "refused" if answer.refusal else "answered"


def in_plan_order(answers: Iterable[Answer], cells: Sequence[Cell]) -> list[Answer]:
    """Give the answers in the order of their cells, the newest where there are several."""
    by_case = {answer.case: answer for answer in answers}
    return [by_case[cell.case] for cell in cells if cell.case in by_case]

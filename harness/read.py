"""The verb *read*: every engine is started, asked about all states, and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from harness import asking, engines, formats, freeze, questions
from harness.answer_cache import AnswerCache
from harness.cells import Cell, Plan, Reader
from harness.engines.api import Engine, Server
from harness.errors import EnvironmentProblem
from harness.freeze import State, States
from harness.progress import Progress
from harness.questions import Asked, Asking
from harness.record import Answer
from harness.runtimes import catalog, distributions, fetch, metastore
from harness.runtimes.cache import Cache

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
        _ask_servers(asked, where, _Keeper(kept, found))


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Passes answers on once the files they came from are seen to be untouched."""

    kept: AnswerCache
    found: Callable[[Answer], None]

    def take(self, asked: Asked, answer: Answer) -> None:
        self.kept.keep(asked.address, answer)
        self.found(answer)


def _questions(plan: Plan, states: States) -> Iterable[Asked | Answer]:
    variants = {variant.id: variant for variant in plan.variants}
    readers = {str(reader): reader for reader in plan.readers}
    # Once for each reader: a digest reads the sources and templates behind it.
    ask = Asking(readers, cache(_engine), cache(reader_digest), formats.load)
    for cell in plan.cells:
        state = states.get((cell.variant, cell.step))
        if state is not None:
            variant = variants[cell.variant]
            key = variant.scenario.table.key
            yield ask.ask(cell, variant.format, key, state) or questions.no_entry(cell)


def _engine(distribution: str) -> Engine:
    return engines.load(distributions.load(distribution).engine)


def reader_digest(reader: Reader) -> str:
    """Give the digest of what shapes a reader's answers: artifacts, JRE, configuration, code."""
    found = distributions.load(reader.distribution)
    code = engines.load(found.engine).ask_code()
    return distributions.digest_of([distributions.digest(found), code, list(reader.settings)])


def _ask_servers(asked: Sequence[Asked], where: Reading, keeper: _Keeper) -> None:
    states = {each.state.digest: each.state for each in asked}
    with ExitStack() as stack:
        uri = stack.enter_context(_metastore(where)).uri
        _register(states.values(), uri)
        for name, group in questions.by_server(asked).items():
            _ask_server(name, group, where, uri, keeper)


def _metastore(where: Reading) -> AbstractContextManager[metastore.Metastore]:
    found = fetch.ensure(distributions.load(metastore.DISTRIBUTION), where.cache, where.progress)
    return metastore.serve(found, where.cache, _folder(where, "metastore"), where.progress)


def _folder(where: Reading, name: str) -> Path:
    """Make a new folder of a server's own."""
    number = len(list(where.folder.glob(f"{name}-*")))
    folder = where.folder / f"{name}-{number}"
    folder.mkdir(parents=True)
    return folder


def _register(states: Iterable[State], uri: str) -> None:
    with catalog.connect(uri) as client:
        for state in states:
            freeze.register(client, state)


def _ask_server(
    name: str, asked: Sequence[Asked], where: Reading, uri: str, keeper: _Keeper
) -> None:
    installation = fetch.ensure(distributions.load(name), where.cache, where.progress)
    engine = _engine(name)
    began = time.monotonic()
    before = _file_lists(asked)
    taken: list[tuple[Asked, Answer]] = []
    where.progress.count(f"ask {name}", len(asked))

    def serve() -> AbstractContextManager[Server]:
        return engine.serve(installation, uri, _folder(where, name), where.progress)

    def told(each: Asked, answer: Answer) -> None:
        where.progress.advance(1)
        taken.append((each, answer))

    try:
        peak = asking.ask_all(serve, engine, asked, connections=CONNECTIONS, told=told)
    except EnvironmentProblem as problem:
        peak = 0
        where.progress.note(f"{name}: {problem}")
        taken += _unanswered(asked, taken, f"{name}: {problem}")
    where.progress.done()
    where.progress.note(
        f"{name}: {len(asked)} answers in {time.monotonic() - began:.0f} s, {peak} MB at most"
    )
    _pass_on(taken, before, keeper)


def _unanswered(
    asked: Sequence[Asked], taken: Sequence[tuple[Asked, Answer]], why: str
) -> list[tuple[Asked, Answer]]:
    done = {answer.case for _, answer in taken}
    left = (each for each in asked if each.cell.case not in done)
    return [(each, Answer(each.cell.case, each.sql, unknown=why)) for each in left]


def _file_lists(asked: Iterable[Asked]) -> dict[str, object]:
    states = {each.state.digest: each.state for each in asked}
    return {digest: freeze.file_list(state) for digest, state in states.items()}


def _pass_on(
    taken: Sequence[tuple[Asked, Answer]], before: Mapping[str, object], keeper: _Keeper
) -> None:
    """Pass answers on; those of a state whose files changed while it was read are unknown."""
    after = _file_lists(asked for asked, _ in taken)
    for asked, answer in taken:
        if after[asked.state.digest] == before[asked.state.digest]:
            keeper.take(asked, answer)
        else:
            why = "the frozen table's files changed while it was read"
            keeper.found(Answer(answer.case, answer.sql, unknown=why, attempts=answer.attempts))


def in_plan_order(answers: Iterable[Answer], cells: Sequence[Cell]) -> list[Answer]:
    """Give the answers in the order of their cells, the newest where there are several."""
    by_case = {answer.case: answer for answer in answers}
    return [by_case[cell.case] for cell in cells if cell.case in by_case]

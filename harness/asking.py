"""Asking one running engine: every question at most twice, every attempt recorded.

Several connections ask at once. When the server dies, the questions that were not sent are left for
the next server; a question without an answer is asked once more on a fresh connection, then it is
unknown.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from typing import Final

from harness.engines.api import Connection, Engine, NoAnswerError, RefusedError, Server
from harness.errors import EnvironmentProblem
from harness.questions import ALL, Asked
from harness.record import Answer, Attempt, Part

TIMEOUT_S: Final = 120.0
"""After so long a query counts as unanswered."""
TRIES: Final = 2

Serve = Callable[[], AbstractContextManager[Server]]
Told = Callable[[Asked, Answer], None]


@dataclass(slots=True)
class _Work:
    """The questions that are left, and what went wrong with each so far."""

    waiting: queue.SimpleQueue[Asked]
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)
    again: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    failed: list[BaseException] = field(default_factory=list)

    def take(self) -> Asked | None:
        """Give the next question, None when there is none."""
        try:
            return self.waiting.get_nowait()
        except queue.Empty:
            return None

    def rest(self) -> list[Asked]:
        """Give every question that still needs an answer."""
        left = list(self.again)
        while (asked := self.take()) is not None:
            left.append(asked)
        self.again.clear()
        return left


def ask_all(
    serve: Serve, engine: Engine, asked: Sequence[Asked], *, connections: int, told: Told
) -> int:
    """Ask every question, on as many servers as it takes; give the peak memory seen, in MiB.

    Raises:
        EnvironmentProblem: a server did not get ready, or died before it was asked anything.

    """
    left, peak = list(asked), 0
    attempts: dict[str, list[Attempt]] = {}
    while left:
        before = _progress(left, attempts)
        with serve() as server:
            while left and server.alive():
                left = _round(server, engine, left, attempts, connections, told)
            peak = max(peak, server.peak_memory_mb())
            if left and _progress(left, attempts) == before:
                # Else a server that dies as soon as it is ready would be started for ever.
                raise EnvironmentProblem(f"it died before it was asked:\n{server.log_tail()}")
    return peak


def _progress(left: Sequence[Asked], attempts: Mapping[str, Sequence[Attempt]]) -> tuple[int, int]:
    """Give what changes whenever a question is sent: how many are left, how many were tried."""
    return len(left), sum(map(len, attempts.values()))


def _round(
    server: Server,
    engine: Engine,
    left: Sequence[Asked],
    attempts: dict[str, list[Attempt]],
    connections: int,
    told: Told,
) -> list[Asked]:
    work = _Work(queue.SimpleQueue(), attempts)
    for each in left:
        work.waiting.put(each)
    threads = [
        threading.Thread(target=_worker, args=(server, engine, work, told), daemon=True)
        for _ in range(min(connections, len(left)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if work.failed:
        raise work.failed[0]
    return work.rest()


def _worker(server: Server, engine: Engine, work: _Work, told: Told) -> None:
    try:
        with closing(_Link(server)) as link:
            while server.alive() and (asked := work.take()) is not None:
                _one(link, server, engine, asked, work, told)
    except BaseException as problem:  # noqa: BLE001 - the thread that waits raises it
        work.failed.append(problem)


def _one(
    link: _Link, server: Server, engine: Engine, asked: Asked, work: _Work, told: Told
) -> None:
    tried = work.attempts.setdefault(asked.cell.case, [])
    try:
        connection = link.to(asked.reader.settings)
        answer = _answer(connection, engine, asked, tuple(tried))
    except NoAnswerError as silence:
        link.close()
        tried.append(Attempt(str(silence), server.log_tail()))
        if len(tried) < TRIES:
            work.again.append(asked)
            return
        answer = Answer(asked.cell.case, asked.sql, unknown=str(silence), attempts=tuple(tried))
    with work.lock:
        told(asked, answer)


class _Link:
    """The one connection of a thread, kept as long as questions want the same settings."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open: Connection | None = None
        self._settings: tuple[tuple[str, str], ...] = ()

    def to(self, settings: tuple[tuple[str, str], ...]) -> Connection:
        """Give a connection with these settings."""
        if self._settings != settings:
            self.close()
        if self._open is None:
            self._open, self._settings = self._server.connect(dict(settings)), settings
        return self._open

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._open is not None:
            self._open.close()
            self._open = None


def _answer(
    connection: Connection, engine: Engine, asked: Asked, attempts: tuple[Attempt, ...]
) -> Answer:
    case = asked.cell.case
    try:
        reply = connection.ask(asked.sql, timeout_s=TIMEOUT_S)
    except RefusedError as refused:
        parts = tuple(_parts(connection, engine, asked))
        return Answer(
            case, asked.sql, refusal=refused.refusal, parts=parts, attempts=attempts,
            seconds=refused.seconds,
        )  # fmt: skip
    return Answer(
        case, asked.sql, reply.columns, reply.rows, attempts=attempts, seconds=reply.seconds,
        confirmed=reply.confirmed,
    )  # fmt: skip


def _parts(connection: Connection, engine: Engine, asked: Asked) -> Iterator[Part]:
    """Ask each column alone, so that one bad column does not hide the rest."""
    if asked.question.query != ALL:
        return
    settings = dict(asked.reader.settings)
    for column in asked.columns:
        sql = engine.sql(asked.alone(column), settings)
        try:
            reply = connection.ask(sql, timeout_s=TIMEOUT_S)
        except RefusedError as refused:
            yield Part(column, sql, refusal=refused.refusal)
        else:
            yield Part(column, sql, reply.columns, reply.rows)

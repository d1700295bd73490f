"""Asking one running engine: every question at most twice, every attempt recorded.

Several connections ask at once. When the server dies, hangs or loses what it stands on, the
questions that were not sent are left for the next server; likewise when a server has used itself
up. A question without an answer is asked once more on a fresh connection, then it is unknown.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, field
from typing import Final

from harness.core.errors import EnvironmentProblem
from harness.core.records import Answer, Attempt
from harness.engines.api import Connection, Engine, NoAnswerError, Server
from harness.read import ask_question
from harness.read.ask_question import Manner
from harness.read.questions import Asked

PROBE_S: Final = 30.0
"""How long a server whose query got no answer may take to let a fresh connection open."""
TRIES: Final = 2
STARTS: Final = 2
"""So many starts in a row may lead to nothing."""

Serve = Callable[[], AbstractContextManager[Server]]
Told = Callable[[Asked, Answer], None]


@dataclass(slots=True)
class _Work:
    """The questions that are left for one server, and what went wrong with each so far."""

    server: Server
    engine: Engine
    manner: Manner
    told: Told
    waiting: queue.SimpleQueue[Asked]
    attempts: dict[str, list[Attempt]]
    again: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    lost: threading.Event = field(default_factory=threading.Event)
    """Set when nothing more is to be asked of this server."""
    failed: list[BaseException] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether the rest is for the next server."""
        return self.lost.is_set() or self.server.spent()

    def take(self) -> Asked | None:
        """Return the next question, None when there is none."""
        try:
            return self.waiting.get_nowait()
        except queue.Empty:
            return None

    def rest(self) -> list[Asked]:
        """Return every question that still needs an answer."""
        left = list(self.again)
        while (asked := self.take()) is not None:
            left.append(asked)
        self.again.clear()
        return left


def ask_all(
    serve: Serve, engine: Engine, asked: Sequence[Asked], *, manner: Manner, told: Told
) -> int:
    """Ask every question, on as many servers as it takes; give the peak memory seen, in MiB.

    A server is kept as long as there are more to come.

    Raises:
        EnvironmentProblem: a server did not get ready, or died before it was asked anything, and
            the next one did too.

    """
    left, peak, idle = list(asked), 0, 0
    attempts, answered = dict[str, list[Attempt]](), set[str]()

    def tell(each: Asked, answer: Answer) -> None:
        told(each, answer)
        answered.add(answer.case)

    while left or (left := list(manner.more())):
        before = _progress(answered, attempts)
        try:
            with serve() as server:
                work = _Work(server, engine, manner, tell, queue.SimpleQueue(), attempts)
                left = _session(work, left)
                peak = max(peak, server.peak_memory_mb())
                why = f"it died before it was asked:\n{server.log_tail()}"
        except EnvironmentProblem as problem:
            # Chance, or it cannot run here: the next start tells.
            why = str(problem)
        idle = idle + 1 if left and _progress(answered, attempts) == before else 0
        if idle == STARTS:
            # Else a server that dies as soon as it is ready would be started for ever.
            raise EnvironmentProblem(why)
    return peak


def _progress(answered: Collection[str], attempts: Mapping[str, Sequence[Attempt]]) -> int:
    """Return what grows whenever a question is sent: so many were answered, or tried in vain."""
    return len(answered) + sum(map(len, attempts.values()))


def _session(work: _Work, left: Sequence[Asked]) -> list[Asked]:
    """Ask one server until no more come or nothing more can be had of it; give what is left."""
    questions = list(left)
    while work.server.alive() and not work.over:
        questions = questions or list(work.manner.more())
        if not questions:
            break
        for each in questions:
            work.waiting.put(each)
        _round(work, min(work.manner.connections, len(questions)))
        questions = work.rest()
    return questions


def _round(work: _Work, connections: int) -> None:
    threads = [
        threading.Thread(target=_worker, args=(work,), daemon=True) for _ in range(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if work.failed:
        raise work.failed[0]


def _worker(work: _Work) -> None:
    try:
        with closing(_Link(work.server)) as link:
            while not work.over and (asked := work.take()) is not None:
                _one(link, asked, work)
    except BaseException as problem:  # noqa: BLE001 - the thread that waits raises it
        work.failed.append(problem)
        work.lost.set()


def _one(link: _Link, asked: Asked, work: _Work) -> None:
    tried = work.attempts.setdefault(asked.cell.case, [])
    connection = None
    try:
        connection = link.to(asked.reader.settings)
        answer = ask_question.answer(connection, asked, work.engine, work.manner, tuple(tried))
    except NoAnswerError as silence:
        link.close()
        if not _usable(work.server, work.manner):
            work.lost.set()
        if connection is not None or not work.lost.is_set():
            tried.append(Attempt(str(silence), work.server.log_tail()))
        if len(tried) < TRIES:
            work.again.append(asked)
            return
        answer = Answer(
            asked.cell.case, asked.told, unknown=str(silence), attempts=tuple(tried),
            question=asked.question.query,
        )  # fmt: skip
    with work.lock:
        work.told(asked, answer)


def _usable(server: Server, manner: Manner) -> bool:
    """Return whether a server is worth another question: a fresh connection opens in time."""
    if not server.alive():
        return False
    opened = threading.Event()

    def probe() -> None:
        with suppress(NoAnswerError):
            server.connect({}).close()
            if manner.stands():
                opened.set()

    # In a thread of its own, which may hang with the server.
    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(min(PROBE_S, manner.timeout_s))
    return opened.is_set()


class _Link:
    """The one connection of a thread, kept as long as questions want the same settings."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open: Connection | None = None
        self._settings: tuple[tuple[str, str], ...] = ()

    def to(self, settings: tuple[tuple[str, str], ...]) -> Connection:
        """Return a connection with these settings."""
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

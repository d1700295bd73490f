"""Asking one running server: rows, or a refusal and each column asked alone; or no answer.

Several connections ask at once. When the server dies, hangs or loses what it stands on, and when it
has used itself up, the questions that were not sent are left for the next server.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from harness.core import refusals
from harness.core.attempts import Attempt
from harness.core.concurrency import JobThreads
from harness.core.queue import ClosableQueue
from harness.core.records import Answer, Part
from harness.engines import time_travel
from harness.engines.api import Connection, NoAnswerError, RefusedError, Reply, Server
from harness.model.query import ALL
from harness.read.questions import CellQuestion, Response
from harness.read.reader_servers import EngineServer

PROBE_S: Final = 30.0
"""How long a server whose query got no answer may take to let a fresh connection open."""
TRIES: Final = 2
MOMENT: Final = "this may be owed to the moment: "


@dataclass(slots=True)
class ServerRound:
    """Questions that several connections ask a server, until none is left or the server is lost."""

    on: EngineServer
    threads: JobThreads
    """Those in which engines are asked: after a failure in one nothing is recorded any more."""
    attempts: dict[str, list[Attempt]]
    """The attempts at each case that got no answer; those of this round are added."""
    responses: ClosableQueue[Response]
    """Where each answer goes as it comes."""
    answers: dict[str, Answer]
    """Those of this round are added, by their cases."""
    _waiting: queue.SimpleQueue[CellQuestion] = field(default_factory=queue.SimpleQueue)
    _lost: threading.Event = field(default_factory=threading.Event)
    """Set when nothing more is to be asked of this server."""
    _failed: list[BaseException] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether the rest is for the next server."""
        return self._lost.is_set() or self.on.server.spent()

    def ask(self, questions: Sequence[CellQuestion], connections: int) -> None:
        """Ask each question once; those that got no answer can be asked again."""
        for each in questions:
            self._waiting.put(each)
        connecting = [
            threading.Thread(target=self._connect, daemon=True)
            for _ in range(min(connections, len(questions)))
        ]
        for thread in connecting:
            thread.start()
        for thread in connecting:
            thread.join()
        if self._failed:
            raise self._failed[0]

    def _connect(self) -> None:
        """Ask what waits over one connection, until none is left or the server is lost."""
        try:
            with closing(_Link(self.on.server)) as link:
                while not self.over and (question := self._next()) is not None:
                    self._ask(link, question)
        except BaseException as problem:  # noqa: BLE001 - the thread that waits raises it
            self._failed.append(problem)
            self._lost.set()

    def _next(self) -> CellQuestion | None:
        try:
            return self._waiting.get_nowait()
        except queue.Empty:
            return None

    def _ask(self, link: _Link, question: CellQuestion) -> None:
        tried = self.attempts.setdefault(question.cell.case, [])
        connection = None
        try:
            connection = link.to(question.reader.settings)
            answer = replace(_answer(connection, question, self.on), attempts=tuple(tried))
            _check_lasts(answer, tried)
        except NoAnswerError as silence:
            link.close()
            if not _usable(self.on):
                self._lost.set()
            if connection is not None or not self._lost.is_set():
                tried.append(Attempt(str(silence), self.on.server.log_tail()))
            if len(tried) < TRIES:
                return
            answer = question.unanswered(str(silence), tuple(tried))
        self.threads.check()
        self.answers[answer.case] = answer
        self.responses.put_all([Response(answer, question)])


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


def _usable(on: EngineServer) -> bool:
    """Return whether a server is worth another question: a fresh connection opens in time."""
    if not on.server.alive():
        return False
    opened = threading.Event()

    def probe() -> None:
        with suppress(NoAnswerError):
            on.server.connect({}).close()
            if on.metastore_answers():
                opened.set()

    # In a thread of its own, which may hang with the server.
    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(min(PROBE_S, on.timeout_s))
    return opened.is_set()


def _answer(connection: Connection, question: CellQuestion, on: EngineServer) -> Answer:
    """Ask one question.

    Raises:
        NoAnswerError: there is no answer, or none that is about the question.

    """
    case, query = question.cell.case, question.question.query
    try:
        reply = _reply(connection, question, question.sql, on)
    except RefusedError as refused:
        parts = _parts(connection, question, on)
        _check_about_query(refused)
        if not on.metastore_answers():
            why = f"the metastore does not answer; the server said: {refused}"
            raise NoAnswerError(why) from refused
        return Answer(
            case, question.text, refusal=refused.refusal, parts=parts, seconds=refused.seconds,
            question=query,
        )  # fmt: skip
    return Answer(
        case, question.text, reply.columns, reply.rows, seconds=reply.seconds,
        confirmed=reply.confirmed, question=query, normalised=reply.normalised, raw=reply.raw,
    )  # fmt: skip


def _parts(connection: Connection, question: CellQuestion, on: EngineServer) -> tuple[Part, ...]:
    """Ask each column alone, so that one bad column does not hide the rest.

    Each is asked with the key column. Where that is refused by itself, there is nothing to be had
    of the others: they are not sent, which in runs with many refusals was four questions in ten.
    """
    if question.question.query != ALL:
        return ()
    parts: dict[str, Part] = {}
    for column in sorted(question.columns, key=lambda name: name != question.key):
        key = parts.get(question.key)
        if key is not None and key.refusal:
            parts[column] = Part(column, "", refusal=key.refusal)
        else:
            parts[column] = _alone(connection, question, column, on)
    return tuple(parts[column] for column in question.columns)


def _alone(connection: Connection, question: CellQuestion, column: str, on: EngineServer) -> Part:
    sql = time_travel.sql(on.engine, question.alone(column), dict(question.reader.settings))
    try:
        reply = _reply(connection, question, sql, on)
    except RefusedError as refused:
        _check_about_query(refused)
        return Part(column, sql, refusal=refused.refusal)
    return Part(column, sql, reply.columns, reply.rows, normalised=reply.normalised, raw=reply.raw)


def _reply(connection: Connection, question: CellQuestion, sql: str, on: EngineServer) -> Reply:
    """Return a reply with those of Hudi's columns that the reader should not find in the table."""
    reply = time_travel.ask(connection, question.question, sql, on.timeout_s)
    odd = [each for each in reply.left_out if each[0].name not in question.meta]
    if not odd:
        return reply
    columns = (*reply.columns, *(column for column, _ in odd))
    more = zip(*(values for _, values in odd), strict=True)
    rows = tuple((*row, *added) for row, added in zip(reply.rows, more, strict=True))
    return replace(reply, columns=columns, rows=rows)


def _check_about_query(refused: RefusedError) -> None:
    """Take an error that a full disk or the like brought about for no answer: it is no refusal."""
    if why := refusals.of_machine(refused.refusal):
        raise NoAnswerError(f"{why}; the server said: {refused}")


def _check_lasts(answer: Answer, tried: Sequence[Attempt]) -> None:
    """Take for no answer what may be owed to the moment, unless it came before as well.

    `tried`: what came before, each time of another connection.
    """
    for each in (answer.refusal, *(part.refusal for part in answer.parts)):
        if each is not None and refusals.by_chance(each):
            again = f"{MOMENT}{each.kind}"
            if not any(before.what.startswith(again) for before in tried):
                raise NoAnswerError(f"{MOMENT}{refusals.text(each)}")

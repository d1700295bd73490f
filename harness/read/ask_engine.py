"""Second stage of reading: an engine is asked what was scheduled for it, until no more comes.

Its server is kept while questions come, and replaced when it is lost. A question without an answer
is asked once more on a fresh connection, then it is unknown. What was not sent when a server died,
hung, lost its metastore or used itself up is left for the next one.
"""

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Self

from harness.artifacts import distributions
from harness.core import refusals
from harness.core.concurrency import ClosableQueue
from harness.core.errors import EnvironmentProblem
from harness.core.records import Answer, Attempt, Part, Refusal
from harness.core.runtime_names import ENDPOINT, given
from harness.core.texts import counted
from harness.engines.api import Connection, NoAnswerError, Question, RefusedError, Reply, Server
from harness.model.query import ALL, Query
from harness.read.questions import CellQuestion, ReadQueues, Response, text_of
from harness.read.reader_servers import EngineServer, EngineStart

ProbeKey = tuple[str, str, str]
"""A reader, a format, and a table version that it is declared not to know."""
ANSWERED = ""
"""Stands for the case of a refused probe where one was answered."""


@dataclass(frozen=True, slots=True)
class ProbeDecision:
    """Which of the waiting questions are sent, which wait for a probe, and which are not sent."""

    due: list[CellQuestion] = field(default_factory=list)
    waiting: list[CellQuestion] = field(default_factory=list)
    unsent: list[Answer] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Probes:
    """What became of the probes of a run; for several threads.

    Of each reader, format and table version that the reader is declared not to know, the first
    question is the probe. Where the server refuses it, the others are not sent and their answers
    name it; where it gives rows, all are sent; where it gives no answer, the next one is the probe.
    """

    _outcomes: dict[ProbeKey, str] = field(default_factory=dict)
    """The case of the refused probe, or `ANSWERED`."""

    def note(self, question: CellQuestion, answer: Answer) -> None:
        """Note the answer to any question; the first one that has rows or is a refusal counts."""
        if (key := _key(question)) and (answer.has_rows or answer.refusal):
            self._outcomes.setdefault(key, ANSWERED if answer.has_rows else answer.case)

    def decide(self, waiting: Sequence[CellQuestion]) -> ProbeDecision:
        """Return which questions are to be sent now; no probe may be under way."""
        decision, probes = ProbeDecision(), set[ProbeKey]()
        for question in waiting:
            key = _key(question)
            case = self._outcomes.get(key) if key else None
            if case:
                why = f"it was not sent, for the server refused {case}"
                answer = Answer(question.cell.case, "", not_applicable=why, probe=case)
                decision.unsent.append(replace(answer, question=question.question.query))
            elif key in probes:
                decision.waiting.append(question)
            else:
                decision.due.append(question)
                if key and case is None:
                    probes.add(key)
        return decision


def _key(question: CellQuestion) -> ProbeKey | None:
    reader, version = str(question.reader), question.state.frozen.table_version
    family = question.question.format.family
    unknown = distributions.declared_unknown(reader, family, version)
    return (reader, question.question.format.name, version) if unknown else None


PROBE_S: Final = 30.0
"""How long a server whose query got no answer may take to let a fresh connection open."""
MOST_TRIES: Final = 2


class PassingRefusalError(NoAnswerError):
    """A refusal that may come of the moment, so that the same question may be answered next."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"this may be owed to the moment: {refusals.text(refusal)}")
        self.kind = refusal.kind


@dataclass(slots=True)
class Tries:
    """What came of a question before, each time of another connection."""

    attempts: list[Attempt] = field(default_factory=list)
    passing: set[str] = field(default_factory=set)
    """The kinds of refusals among them that may come of the moment."""


class _Link:
    """The one connection of a thread, kept as long as questions want the same settings."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open: Connection | None = None
        self._settings: tuple[tuple[str, str], ...] = ()

    def to(self, settings: tuple[tuple[str, str], ...]) -> Connection:
        if self._settings != settings:
            self.close()
        if self._open is None:
            self._open, self._settings = self._server.connect(dict(settings)), settings
        return self._open

    def close(self) -> None:
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
    case, query = question.cell.case, question.question.query
    try:
        reply = _reply(connection, question, question.question, on)
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
        case, reply.sent, reply.columns, reply.rows, seconds=reply.seconds,
        confirmed=reply.confirmed, question=query, normalised=reply.normalised, raw=reply.raw,
    )  # fmt: skip


def _parts(connection: Connection, question: CellQuestion, on: EngineServer) -> tuple[Part, ...]:
    """Ask each column alone with the key, so that one bad column does not hide the rest.

    Where the key is refused by itself the others are not sent: in runs with many refusals four in
    ten.
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
    names = tuple(dict.fromkeys((question.key, column)))
    asked = replace(question.question, query=Query(columns=names))
    try:
        reply = _reply(connection, question, asked, on)
    except RefusedError as refused:
        _check_about_query(refused)
        sent = text_of(on.engine, question.reader, asked)
        return Part(column, sent, refusal=refused.refusal)
    return Part(
        column, reply.sent, reply.columns, reply.rows, normalised=reply.normalised, raw=reply.raw
    )


def _reply(
    connection: Connection, about: CellQuestion, question: Question, on: EngineServer
) -> Reply:
    """Return a reply with those of Hudi's columns that the reader should not find in the table."""
    reply = connection.ask(question, timeout_s=on.timeout_s)
    odd = [(column, values) for column, values in reply.left_out if column.name not in about.meta]
    if not odd:
        return reply
    columns = (*reply.columns, *(column for column, _ in odd))
    more = zip(*(values for _, values in odd), strict=True)
    rows = tuple((*row, *added) for row, added in zip(reply.rows, more, strict=True))
    return replace(reply, columns=columns, rows=rows)


def _check_about_query(refused: RefusedError) -> None:
    """Take an error that a full disk or the like brought about for no answer: it is no refusal."""
    if why := refusals.machine_shortage(refused.refusal):
        raise NoAnswerError(f"{why}; the server said: {refused}")


CONNECTIONS: Final = 2
"""Connections that ask one server at once."""
STARTS: Final = 2
"""So many starts in a row may lead to nothing."""


def ask(start: EngineStart, probes: Probes, queues: ReadQueues) -> None:
    """Ask an engine until no more questions come."""
    began, answers, waiting = 0.0, 0, list[CellQuestion]()
    # What others run is asked one question at a time.
    connections = 1 if given(start.name) == ENDPOINT else CONNECTIONS
    with ReplaceableServer(start, queues.responses, connections) as server:
        if queues.questions[start.name].expects_some():
            server.start()
        while True:
            decision = probes.decide(waiting)
            waiting = decision.waiting
            queues.responses.put_all([Response(answer) for answer in decision.unsent])
            if decision.due:
                began = began or time.monotonic()
                got = server.ask(decision.due)
                answers += len(got)
                for question in decision.due:
                    probes.note(question, got[question.cell.case])
            elif come := queues.questions[start.name].take_all():
                # Other settings need another session, which costs more than most questions.
                waiting += sorted(come, key=lambda question: question.reader.settings)
            else:
                break
    if answers:
        seconds = time.monotonic() - began
        summary = f"{counted(answers, 'answer')} in {seconds:.0f} s, {server.peak_mb} MB at most"
        start.shared.context.progress.note(f"{start.name}: {summary}")


class ReplaceableServer:
    """The server of an engine, started before or when it is asked and replaced when it is lost.

    Used as a context. After too many starts in a row that led to nothing, the server is given up.
    """

    def __init__(
        self, start: EngineStart, responses: ClosableQueue[Response], connections: int = CONNECTIONS
    ) -> None:
        """`start`: how it is started; `responses`: where each answer goes as it comes."""
        self.peak_mb = 0
        self._start = start
        self._responses = responses
        self._connections = connections
        self._answers: dict[str, Answer] = {}
        """Those to the questions that are asked now, by their cases."""
        self._tries: dict[str, Tries] = {}
        self._answered = 0
        self._futile_starts = 0
        self._sent_before = 0
        self._why = ""
        self._stack = ExitStack()
        self._running: EngineServer | None = None
        self._lost = threading.Event()
        """Set when nothing more is to be asked of the server that runs."""

    def start(self) -> None:
        """Start it before there are questions; what goes wrong is told when there are."""
        try:
            self._server()
        except EnvironmentProblem as problem:
            self._end(str(problem))

    def ask(self, asked: Sequence[CellQuestion]) -> Mapping[str, Answer]:
        """Return the answer of every question by its case; unknown where no server gets ready."""
        self._answers = {}
        while left := [question for question in asked if question.cell.case not in self._answers]:
            if self._futile_starts < STARTS:
                self._ask_server(left)
            else:
                for question in left:
                    self._note(question.unanswered(self._why), question)
        return self._answers

    def _note(self, answer: Answer, question: CellQuestion) -> None:
        self._start.threads.check()
        self._answers[answer.case] = answer
        self._responses.put_all([Response(answer, question)])

    def _ask_server(self, left: Sequence[CellQuestion]) -> None:
        """Ask one server each question once; those that got no answer can be asked again."""
        before, why = len(self._answers), ""
        try:
            on = self._server()
            self._ask_side_by_side(on, left)
            if self._lost.is_set() or on.server.exhausted() or not on.server.alive():
                why = f"it died before it was asked:\n{on.server.log_tail()}"
        except EnvironmentProblem as problem:
            # Chance, or it cannot run here: the next start tells.
            why = str(problem)
        self._answered += len(self._answers) - before
        if why:
            self._end(why)

    def _ask_side_by_side(self, on: EngineServer, left: Sequence[CellQuestion]) -> None:
        """Ask over several connections, until no question is left or the server is lost."""
        waiting, failed = queue.SimpleQueue[CellQuestion](), list[BaseException]()
        for question in left:
            waiting.put(question)

        def connect() -> None:
            try:
                with closing(_Link(on.server)) as link:
                    while not (self._lost.is_set() or on.server.exhausted()):
                        self._ask_once(on, link, waiting.get_nowait())
            except queue.Empty:
                pass
            except BaseException as problem:  # noqa: BLE001 - the thread that waits raises it
                failed.append(problem)
                self._lost.set()

        connections = range(min(self._connections, len(left)))
        threads = [threading.Thread(target=connect, daemon=True) for _ in connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise failed[0]

    def _ask_once(self, on: EngineServer, link: _Link, question: CellQuestion) -> None:
        tries = self._tries.setdefault(question.cell.case, Tries())
        connection = None
        try:
            connection = link.to(question.reader.settings)
            answer = _answer(connection, question, on)
            parts = (part.refusal for part in answer.parts)
            for refusal in filter(None, (answer.refusal, *parts)):
                if refusals.may_be_chance(refusal) and refusal.kind not in tries.passing:
                    raise PassingRefusalError(refusal)
            answer = replace(answer, attempts=tuple(tries.attempts))
        except NoAnswerError as silence:
            link.close()
            if not _usable(on):
                self._lost.set()
            if connection is not None or not self._lost.is_set():
                tries.attempts.append(Attempt(str(silence), on.server.log_tail()))
            if isinstance(silence, PassingRefusalError):
                tries.passing.add(silence.kind)
            if len(tries.attempts) < MOST_TRIES:
                return
            answer = question.unanswered(str(silence), tuple(tries.attempts))
        self._note(answer, question)

    def _server(self) -> EngineServer:
        if self._running is not None and not self._running.server.alive():
            self._end("it died")
        if self._running is None:
            self._sent_before = self._sent()
            self._running = self._stack.enter_context(self._start.serve())
            self._lost.clear()
        return self._running

    def _sent(self) -> int:
        """Return what grows when a question is sent: so many were answered, or tried in vain."""
        return self._answered + sum(len(tries.attempts) for tries in self._tries.values())

    def _end(self, why: str) -> None:
        """Stop the server; give up after too many starts that led to nothing."""
        self._close()
        self._futile_starts = self._futile_starts + 1 if self._sent() == self._sent_before else 0
        self._why = f"{self._start.name}: {why}"
        if self._futile_starts == STARTS:
            self._start.shared.context.progress.note(self._why)

    def _close(self) -> None:
        if self._running is not None:
            self.peak_mb = max(self.peak_mb, self._running.server.peak_memory_mb())
        self._running = None
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

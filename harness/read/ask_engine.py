"""Second stage of reading: an engine is asked what was scheduled for it, until no more comes.

Its server is started when its first question is there, kept while more come, and replaced when it
is lost. A question without an answer is asked once more on a fresh connection, then it is unknown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from harness.core.concurrency import ClosableQueue
from harness.core.counting import counted
from harness.core.errors import EnvironmentProblem
from harness.core.records import Answer
from harness.read import questions
from harness.read.ask_server import ServerRound, Tries
from harness.read.questions import CellQuestion, ReadQueues, Response
from harness.read.reader_servers import EngineServer, EngineStart
from harness.read.support_probe import Probes

CONNECTIONS: Final = 2
"""Connections that ask one server at once."""
STARTS: Final = 2
"""So many starts in a row may lead to nothing."""


def ask(start: EngineStart, probes: Probes, queues: ReadQueues) -> None:
    """Ask an engine until no more questions come.

    Args:
        start: how its server is started.
        probes: what came of the probes so far.
        queues: where questions come from, and answers go.

    """
    began, answers = 0.0, 0
    with ReplaceableServer(start, queues.responses) as server:
        for some in _batches(start.name, probes, queues):
            began = began or time.monotonic()
            got = server.ask(some)
            answers += len(got)
            for question in some:
                probes.note(question, got[question.cell.case])
    if answers:
        seconds = time.monotonic() - began
        told = f"{counted(answers, 'answer')} in {seconds:.0f} s, {server.peak_mb} MB at most"
        start.shared.context.progress.note(f"{start.name}: {told}")


def _batches(name: str, probes: Probes, queues: ReadQueues) -> Iterator[list[CellQuestion]]:
    """Yield the questions to send now; all that were yielded before have their answers by then."""
    waiting: list[CellQuestion] = []
    while True:
        decision = probes.decide(waiting)
        waiting = decision.waiting
        queues.responses.put_all([Response(answer) for answer in decision.unsent])
        if decision.due:
            yield decision.due
        elif come := queues.questions[name].take_all():
            waiting += questions.in_sessions(come)
        else:
            return


class ReplaceableServer:
    """The server of an engine, started when it is first asked and replaced when it is lost.

    Used as a context. After too many starts in a row that led to nothing, the server is given up.
    """

    def __init__(
        self,
        start: EngineStart,
        responses: ClosableQueue[Response],
        connections: int = CONNECTIONS,
    ) -> None:
        """`start`: how it is started; `responses`: where each answer goes as it comes."""
        self.peak_mb = 0
        """The most memory seen, in MiB."""
        self._start = start
        self._responses = responses
        self._connections = connections
        self._tries: dict[str, Tries] = {}
        self._answered = 0
        self._idle = 0
        """So many starts in a row have led to nothing."""
        self._sent_before = 0
        self._why = ""
        self._stack = ExitStack()
        self._running: EngineServer | None = None

    def ask(self, asked: Sequence[CellQuestion]) -> Mapping[str, Answer]:
        """Return the answer of every question by its case; unknown where no server gets ready."""
        answers: dict[str, Answer] = {}
        while left := [question for question in asked if question.cell.case not in answers]:
            if self._idle < STARTS:
                answers |= self._ask_server(left)
            else:
                answers |= self._give_up(left)
        return answers

    def _ask_server(self, left: Sequence[CellQuestion]) -> Mapping[str, Answer]:
        """Ask one server once; return the answers that it gave."""
        answers, why = dict[str, Answer](), ""
        try:
            on = self._server()
            asking = ServerRound(on, self._start.threads, self._tries, self._responses, answers)
            asking.ask(left, self._connections)
            if asking.over or not on.server.alive():
                why = f"it died before it was asked:\n{on.server.log_tail()}"
        except EnvironmentProblem as problem:
            # Chance, or it cannot run here: the next start tells.
            why = str(problem)
        self._answered += len(answers)
        if why:
            self._end(why)
        return answers

    def _server(self) -> EngineServer:
        """Return a server that runs."""
        if self._running is not None and not self._running.server.alive():
            self._end("it died")
        if self._running is None:
            self._sent_before = self._sent()
            self._running = self._stack.enter_context(self._start.serve())
        return self._running

    def _sent(self) -> int:
        """Return what grows when a question is sent: so many were answered, or tried in vain."""
        return self._answered + sum(len(tries.attempts) for tries in self._tries.values())

    def _end(self, why: str) -> None:
        """Stop the server; give up after too many starts that led to nothing.

        Else one that dies as soon as it is ready would be started for ever.
        """
        self._close()
        self._idle = self._idle + 1 if self._sent() == self._sent_before else 0
        self._why = f"{self._start.name}: {why}"
        if self._idle == STARTS:
            self._start.shared.context.progress.note(self._why)

    def _close(self) -> None:
        if self._running is not None:
            self.peak_mb = max(self.peak_mb, self._running.server.peak_memory_mb())
        self._running = None
        self._stack.close()

    def _give_up(self, left: Sequence[CellQuestion]) -> Mapping[str, Answer]:
        self._start.threads.check()
        responses = [Response(question.unanswered(self._why), question) for question in left]
        self._responses.put_all(responses)
        return {response.answer.case: response.answer for response in responses}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, what: BaseException | None, at: TracebackType | None
    ) -> None:
        self._close()

"""Answers are passed on in small batches, so that a death loses few of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from harness import freeze
from harness.answer_cache import AnswerCache
from harness.progress import Progress
from harness.questions import Asked
from harness.record import Answer
from harness.table_state import State

BATCH: Final = 16
WAIT_S: Final = 2.0
"""After so long the next answer is passed on with those that wait."""
CHANGED: Final = "the frozen table's files changed while it was read"


@dataclass(slots=True)
class Keeper:
    """Passes answers on once the files they came from are seen to be untouched.

    For several threads; `found` and `progress` are told by one at a time.
    """

    kept: AnswerCache
    found: Callable[[Answer], None]
    progress: Progress
    batch: int = BATCH
    _before: dict[str, object] = field(default_factory=dict)
    _waiting: list[tuple[Asked, Answer]] = field(default_factory=list)
    _since: float = 0.0
    _early: list[tuple[str, str]] | None = field(default_factory=list)
    """What came before it was known how many there will be."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, states: Iterable[State]) -> None:
        """See how the files of states are before anybody reads them."""
        for state in states:
            if state.digest not in self._before:
                self._before[state.digest] = freeze.file_list(state)

    def count(self, task: str, total: int) -> None:
        """Tell how many answers there will be, and of those that have come already."""
        with self._lock:
            self.progress.count(task, total)
            for each in self._early or ():
                self.progress.found(*each)
            self._early = None

    def tell(self, answer: Answer) -> None:
        """Pass on an answer that nobody had to be asked for."""
        with self._lock:
            self.found(answer)

    def spare(self, asked: Asked, answer: Answer) -> None:
        """Pass on the answer to a question that did not have to be sent."""
        with self._lock:
            self._note(asked.reader.distribution, "spared")
            self.found(answer)

    def take(self, asked: Asked, answer: Answer) -> None:
        """Take an answer that just came."""
        with self._lock:
            self._note(asked.reader.distribution, _outcome(answer))
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.append((asked, answer))
            if len(self._waiting) >= self.batch or time.monotonic() - self._since > WAIT_S:
                self._pass_on()

    def pass_on(self) -> None:
        """Pass on what waits; answers from a state that has changed are unknown."""
        with self._lock:
            self._pass_on()

    def _note(self, by: str, what: str) -> None:
        if self._early is None:
            self.progress.found(by, what)
        else:
            self._early.append((by, what))

    def _pass_on(self) -> None:
        states = {asked.state.digest: asked.state for asked, _ in self._waiting}
        now = {digest: freeze.file_list(state) for digest, state in states.items()}
        for asked, answer in self._waiting:
            if now[asked.state.digest] == self._before[asked.state.digest]:
                self.kept.keep(asked.address, answer)
                self.found(answer)
            else:
                doubt = Answer(answer.case, answer.sql, unknown=CHANGED, attempts=answer.attempts)
                self.found(doubt)
        self._waiting.clear()


def _outcome(answer: Answer) -> str:
    """Say in a word what came of a question; whether rows are right is judged later."""
    return "silent" if answer.unknown else "refused" if answer.refusal else "answered"

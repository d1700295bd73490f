"""Answers are passed on in small batches, so that a death loses few of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from harness import freeze
from harness.answer_cache import AnswerCache
from harness.progress import Count
from harness.questions import Asked
from harness.record import Answer
from harness.table_state import State

BATCH: Final = 16
WAIT_S: Final = 2.0
"""After so long the next answer is passed on with those that wait."""
NOT_ASKED: Final = "not asked"
CHANGED: Final = "the frozen table's files changed while it was read"


@dataclass(slots=True)
class Keeper:
    """Passes answers on once the files they came from are seen to be untouched.

    For several threads; `found` is told by one at a time.
    """

    kept: AnswerCache
    found: Callable[[Answer], None]
    cells: Count
    """Those that are planned."""
    batch: int = BATCH
    _before: dict[str, object] = field(default_factory=dict)
    _waiting: list[tuple[Asked, Answer]] = field(default_factory=list)
    _since: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, states: Iterable[State]) -> None:
        """See how the files of states are before anybody reads them."""
        for state in states:
            if state.digest not in self._before:
                self._before[state.digest] = freeze.file_list(state)

    def tell(self, answer: Answer) -> None:
        """Pass on an answer that nobody had to be asked for."""
        with self._lock:
            self.cells.found("", _outcome(answer))
            self.found(answer)

    def rest(self) -> None:
        """Count the cells that nobody can be asked about: their tables have no state."""
        if self.cells.left:
            self.cells.found("", NOT_ASKED, self.cells.left)

    def take(self, asked: Asked, answer: Answer) -> None:
        """Take an answer that just came."""
        with self._lock:
            self.cells.found(asked.reader.distribution, _outcome(answer))
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.append((asked, answer))
            if len(self._waiting) >= self.batch or time.monotonic() - self._since > WAIT_S:
                self._pass_on()

    def pass_on(self) -> None:
        """Pass on what waits; answers from a state that has changed are unknown."""
        with self._lock:
            self._pass_on()

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
    """Say in a word what came of a cell; whether rows are right is judged later."""
    if answer.void:
        return NOT_ASKED
    if answer.reused:
        return "reused"
    return "silent" if answer.unknown else "refused" if answer.refusal else "answered"

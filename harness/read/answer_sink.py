"""Answers are passed on in small batches, so that a death loses few of them.

Each is counted as it comes, and the kind of its verdict once it is passed on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from typing import Final

from harness.core.progress import Count
from harness.core.records import Answer, VerdictKind
from harness.read.answer_cache import AnswerCache
from harness.read.questions import Asked
from harness.write import state_store
from harness.write.table_state import State

BATCH: Final = 16
WAIT_S: Final = 2.0
"""After so long the next answer is passed on with those that wait."""
NOT_ASKED: Final = "not asked"
CHANGED: Final = "the frozen table's files changed while it was read"


KindOf = Callable[[Answer], VerdictKind | None]
"""Gives the kind of the verdict on an answer as far as can be told now; None where none is."""


def nothing(_: Answer) -> None:
    """Tell nothing of an answer."""


@dataclass(slots=True)
class Keeper:
    """Passes answers on once the files they came from are seen to be untouched.

    For several threads; `found` is told by one at a time.
    """

    kept: AnswerCache
    found: Callable[[Answer], None]
    cells: Count
    """Those that are planned."""
    kind_of: KindOf = nothing
    batch: int = BATCH
    _before: dict[str, object] = field(default_factory=dict)
    _waiting: list[tuple[Asked, Answer]] = field(default_factory=list)
    _since: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, states: Iterable[State]) -> None:
        """See how the files of states are before anybody reads them."""
        for state in states:
            if state.digest not in self._before:
                self._before[state.digest] = state_store.file_list(state)

    def tell(self, answer: Answer) -> None:
        """Pass on an answer that nobody had to be asked for."""
        with self._lock:
            self.cells.found("", _outcome(answer))
            self._pass([answer])

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
        now = {digest: state_store.file_list(state) for digest, state in states.items()}
        changed = {digest for digest, files in now.items() if files != self._before[digest]}
        self._pass(self._kept(*each, changed) for each in self._waiting)
        self._waiting.clear()

    def _kept(self, asked: Asked, answer: Answer, changed: Container[str]) -> Answer:
        if asked.state.digest in changed:
            return Answer(answer.case, answer.sql, unknown=CHANGED, attempts=answer.attempts)
        self.kept.keep(asked.address, answer)
        return answer

    def _pass(self, answers: Iterable[Answer]) -> None:
        kinds = []
        for answer in answers:
            self.found(answer)
            kinds.append(self.kind_of(answer))
        self.cells.judge(filter(None, kinds))


def _outcome(answer: Answer) -> str:
    """Say in a word what came of a cell; whether rows are right is judged later."""
    if answer.void:
        return NOT_ASKED
    if answer.reused:
        return "reused"
    return "silent" if answer.unknown else "refused" if answer.refusal else "answered"

"""One search for each cause, and all of them at once: their next candidates are one round. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.cli.reproduce import delta_debugging, prediction
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.causes import Cause, Sign
from harness.cli.reproduce.delta_debugging import Round, Search, TrialResults
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.core.records import Refusal
from harness.scenario.cells import Reader


@dataclass(frozen=True, slots=True)
class Target:
    """What an answer has to show."""

    cause: Cause
    reader: Reader
    shape: str
    """Of the question: `all`, `column` …"""
    refusal: Refusal | None = None
    through: MetastoreChoice = USUAL
    """The metastore through which the reader asked."""

    @property
    def sign(self) -> Sign:
        """How the answer has to be wrong."""
        return self.cause.sign

    def predicted(self, candidate: Candidate) -> bool:
        """Return whether a reader of the sign's way would show it."""
        return prediction.shows(candidate, self.sign, self.cause.view, self.shape, self.refusal)


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate that is tried for a target: one question of a round."""

    target: Target
    candidate: Candidate


@dataclass(slots=True)
class CauseSearch:
    """The search for one cause's smallest scenario."""

    target: Target
    results: TrialResults
    search: Search
    over: bool = False
    """Whether nothing is left to try."""
    waiting: Round = ()

    @property
    def found(self) -> Candidate | None:
        """The smallest candidate that showed it, None where none did."""
        best = self.results.best
        return best if self.results.shows.get(best.key) else None

    def go_on(self, shown: Sequence[bool] | None = None) -> None:
        """Take which of the waiting candidates show the finding, and choose those that come next.

        `shown`: None begins the search.
        """
        try:
            self.waiting = next(self.search) if shown is None else self.search.send(shown)
        except StopIteration:
            self.waiting, self.over = (), True


Ask = Callable[[Sequence[Trial]], Sequence[bool]]
"""Returns for each trial whether the answer shows what is sought."""


def begin(target: Target, candidate: Candidate) -> CauseSearch:
    """Begin a search; where the way of reading is known, the model says where it will end."""
    order_by = candidate.scenario.table.order_by

    def shows(smaller: Candidate) -> bool:
        # The model knows no writer: Hudi 0.15.0 refuses every insert where there is no such column.
        return smaller.scenario.table.order_by == order_by and target.predicted(smaller)

    guess = None
    if prediction.predictable(target.sign, target.cause.view):
        guess = delta_debugging.smallest(candidate, shows)
    results = TrialResults(candidate)
    made = CauseSearch(target, results, delta_debugging.search(results, guess))
    made.go_on()
    return made


def run_all(searches: Sequence[CauseSearch], ask: Ask, enough: Callable[[], bool]) -> None:
    """Ask round after round until all searches are over, or it is enough."""
    while not enough():
        trials = [Trial(search.target, one) for search in searches for one in search.waiting]
        if not trials:
            return
        shown = iter(ask(trials))
        for search in searches:
            if search.waiting:
                search.go_on([next(shown) for _ in search.waiting])

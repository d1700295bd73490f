"""Several searches at once: what all of them want to know next is one round.

Pure: whoever hunts gives the function that asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.cli.reproduce import minimise, predicted
from harness.cli.reproduce.candidate import Candidate
from harness.cli.reproduce.causes import Cause, Sign
from harness.cli.reproduce.minimise import Round, Search, Tried
from harness.core.records import Refusal
from harness.model import query_shapes
from harness.scenario.cells import Reader


@dataclass(frozen=True, slots=True)
class Target:
    """What has to be seen."""

    cause: Cause
    reader: Reader
    shape: str
    """Of the question: `all`, `column` …"""
    refusal: Refusal | None = None

    @property
    def sign(self) -> Sign:
        """How the answer has to be wrong."""
        return self.cause.sign

    def predicted(self, candidate: Candidate) -> bool:
        """Return whether a reader of the sign's way would show it."""
        return predicted.shows(candidate, self.sign, self.cause.view, self.shape, self.refusal)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One question of a round."""

    target: Target
    candidate: Candidate


@dataclass(slots=True)
class Hunt:
    """The search for one cause's smallest scenario."""

    target: Target
    tried: Tried
    search: Search
    over: bool = False
    """Whether nothing is left to try."""
    waiting: Round = ()

    @property
    def found(self) -> Candidate | None:
        """The smallest candidate that showed it, None where none did."""
        best = self.tried.best
        return best if self.tried.shows.get(best.key) else None

    def go_on(self, shown: Mapping[str, bool] | None = None) -> None:
        """Take what became of the candidates that wait, by their keys, and say which come next."""
        try:
            if shown is None:
                self.waiting = next(self.search)
            else:
                self.waiting = self.search.send([shown[each.key] for each in self.waiting])
        except StopIteration:
            self.waiting, self.over = (), True


Ask = Callable[[Sequence[Wanted]], Sequence[bool]]
"""Tells of each question whether its answer shows what is wanted."""


def begin(target: Target, candidate: Candidate) -> Hunt:
    """Begin a search; where the way of reading is known, the model says where it will end."""
    order_by = candidate.scenario.table.order_by

    def shows(smaller: Candidate) -> bool:
        # The model knows no writer: Hudi 0.15.0 refuses every insert where there is no such column.
        return smaller.scenario.table.order_by == order_by and target.predicted(smaller)

    guess = None
    if predicted.predictable(target.sign, target.cause.view):
        guess = minimise.smallest(candidate, shows)
    tried = Tried(candidate)
    hunt = Hunt(target, tried, minimise.search(tried, guess))
    hunt.go_on()
    return hunt


def drive(hunts: Sequence[Hunt], ask: Ask, enough: Callable[[], bool]) -> None:
    """Ask round after round until all searches are over, or it is enough."""
    while not enough():
        wanted = [Wanted(each.target, one) for each in hunts for one in each.waiting]
        if not wanted:
            return
        shown = iter(ask(wanted))
        for hunt in hunts:
            if hunt.waiting:
                hunt.go_on({each.key: next(shown) for each in hunt.waiting})


def shape_of(query: str) -> str:
    """Return the shape of a cell's question."""
    return str(query_shapes.parse(query)[0])

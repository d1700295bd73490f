"""The search for the smallest candidate that still shows a finding. Pure: whoever runs it asks.

Delta debugging in rounds: what can be taken away is tried piece by piece, all pieces in one round,
since starting engines takes longer than asking them; then the pieces that were harmless alone are
taken away together. A search gives a round of candidates and is sent which of them show the
finding. At the end no single cut is left that keeps it (Zeller and Hildebrandt, "Simplifying and
Isolating Failure-Inducing Input": 1-minimal).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.cli.reproduce.candidate import Candidate, valid
from harness.cli.reproduce.cuts import Cut, cuts

Round = tuple[Candidate, ...]
Shown = Sequence[bool]
Search = Generator[Round, Shown, Candidate | None]
"""Gives rounds, is sent for each candidate whether it shows the finding; at last the smallest one,
None when not even the first one does."""


@dataclass(slots=True)
class Tried:
    """What is known of candidates so far."""

    best: Candidate
    """The smallest that shows the finding; at first the one that it began with."""
    shows: dict[str, bool] = field(default_factory=dict)
    """By the candidate's key."""

    def ask(self, wanted: Iterable[Candidate]) -> Generator[Round, Shown, None]:
        """Have those asked about of which nothing is known yet."""
        left = {each.key: each for each in wanted if each.key not in self.shows}
        if not left:
            return
        answers = yield tuple(left.values())
        self.shows |= dict(zip(left, answers, strict=True))
        good = [each for each in left.values() if self.shows[each.key]]
        self.best = min([self.best, *good], key=lambda each: each.size)


def search(tried: Tried, guess: Candidate | None = None) -> Search:
    """Look for the smallest candidate, beginning with the best; `guess`: what it may be.

    The guess is tried in the first round with everything that is one cut smaller: when it is right,
    this is the only round.
    """
    begin = tried.best
    first = [begin, *([guess, *dict(smaller(guess)).values()] if guess else [])]
    yield from tried.ask(first)
    if not tried.shows[begin.key]:
        return None
    while True:
        before = tried.best
        ways = dict(smaller(before))
        yield from tried.ask(ways.values())
        good = [cut for cut, each in ways.items() if tried.shows[each.key]]
        yield from tried.ask(together(before, good))
        if tried.best is before:
            return before


def smaller(candidate: Candidate) -> Iterator[tuple[Cut, Candidate]]:
    """Yield every valid candidate that is one cut smaller."""
    for cut in cuts(candidate):
        made = cut.apply(candidate)
        if made is not None and made.key != candidate.key and valid(made):
            yield cut, made


def together(candidate: Candidate, good: Sequence[Cut]) -> list[Candidate]:
    """Return candidates with several cuts at once: all of them, each half, and so on."""
    found = []
    size = len(good)
    while size > 1:
        starts = range(0, len(good), size)
        found += [_with_all(candidate, good[at : at + size]) for at in starts]
        size = (size + 1) // 2
    return found


def _with_all(candidate: Candidate, wanted: Sequence[Cut]) -> Candidate:
    """Make the cuts one after another, without those that no longer can be made."""
    for cut in wanted:
        made = cut.apply(candidate)
        if made is not None and valid(made):
            candidate = made
    return candidate


def smallest(begin: Candidate, shows: Callable[[Candidate], bool]) -> Candidate | None:
    """Do a whole search with somebody who answers at once."""
    found = search(Tried(begin))
    try:
        asked = next(found)
        while True:
            asked = found.send([shows(each) for each in asked])
    except StopIteration as end:
        result: Candidate | None = end.value
        return result

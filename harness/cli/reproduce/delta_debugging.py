"""The search for the smallest candidate that still shows a finding. Pure: the caller asks engines.

Delta debugging in rounds (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input"): every cut is tried alone, all of them in one round, then those that kept the finding are
made together. At the end no single cut is left that keeps it. One candidate at a time would need
three times as many rounds, each of which starts the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.cli.reproduce.candidate import Candidate, valid
from harness.cli.reproduce.cuts import Cut, cuts

Round = tuple[Candidate, ...]
Search = Generator[Round, Sequence[bool], Candidate | None]
"""Yields rounds and is sent whether each candidate shows the finding; returns the smallest one that
does, None when not even the first one does."""


@dataclass(slots=True)
class TrialResults:
    """What is known of candidates so far."""

    best: Candidate
    """The smallest that shows the finding; at first the one that it began with."""
    shows: dict[str, bool] = field(default_factory=dict)
    """By the candidate's key."""

    def ask(self, wanted: Iterable[Candidate]) -> Generator[Round, Sequence[bool], None]:
        """Have those asked about of which nothing is known yet."""
        left = {candidate.key: candidate for candidate in wanted if candidate.key not in self.shows}
        if not left:
            return
        answers = yield tuple(left.values())
        self.shows |= dict(zip(left, answers, strict=True))
        good = [candidate for candidate in left.values() if self.shows[candidate.key]]
        self.best = min([self.best, *good], key=lambda candidate: candidate.size)


def search(tried: TrialResults, guess: Candidate | None = None) -> Search:
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
        good = [cut for cut, candidate in ways.items() if tried.shows[candidate.key]]
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
    """Return what a whole search finds where `shows` answers at once."""
    found = search(TrialResults(begin))
    try:
        candidates = next(found)
        while True:
            candidates = found.send([shows(candidate) for candidate in candidates])
    except StopIteration as end:
        result: Candidate | None = end.value
        return result

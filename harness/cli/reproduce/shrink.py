"""The search for the smallest candidate that still shows a finding. Pure: the caller asks engines.

Delta debugging in rounds (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input"): every reduction is tried alone, all of them in one round, then those that still showed the
finding are made together. At the end no single reduction is left that still shows it. One candidate
at a time would need three times as many rounds, each of which starts the engines. All searches of a
command share their rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness.cli.reproduce import prediction
from harness.cli.reproduce.candidate import Candidate, Reduction, reductions, valid
from harness.cli.reproduce.causes import Cause
from harness.core.metastore_choice import USUAL, MetastoreChoice
from harness.core.records import Refusal
from harness.scenario.cells import Reader

Round = tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """What an answer has to show."""

    cause: Cause
    reader: Reader
    shape: str
    """Of the query: `all`, `column` …"""
    refusal: Refusal | None = None
    through: MetastoreChoice = USUAL
    """The metastore through which the reader asked."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate that is tried for a target: one question of a round."""

    target: Target
    candidate: Candidate


@dataclass(slots=True)
class Search:
    """The search that begins with one candidate.

    Whoever drives it tries the candidates in `waiting` and passes on what they showed, until none
    is left.
    """

    best: Candidate
    """The smallest that shows the finding; at first the one that the search begins with."""
    guess: Candidate | None = None
    """What the result may be. It is tried in the first round with everything that is one reduction
    smaller: if it is right, this is the only round."""
    shows: dict[str, bool] = field(default_factory=dict)
    """By the candidate's key: whether it shows the finding."""
    waiting: Round = ()
    _rounds: Iterator[Round] = field(init=False)

    def __post_init__(self) -> None:
        rounds = map(self._untried, self._stages())
        self._rounds = (candidates for candidates in rounds if candidates)
        self.waiting = next(self._rounds, ())

    @property
    def over(self) -> bool:
        """Whether nothing is left to try."""
        return not self.waiting

    @property
    def smallest(self) -> Candidate | None:
        """The smallest candidate that showed the finding, None where none did."""
        return self.best if self.shows.get(self.best.key) else None

    def record(self, shown: Iterable[bool]) -> None:
        """Take which of the waiting candidates show the finding, and choose the next ones."""
        results = list(zip(self.waiting, shown, strict=True))
        self.shows |= {candidate.key: result for candidate, result in results}
        showing = (candidate for candidate, result in results if result)
        self.best = min((self.best, *showing), key=lambda candidate: candidate.size)
        self.waiting = next(self._rounds, ())

    def _untried(self, candidates: Iterable[Candidate]) -> Round:
        untried = {made.key: made for made in candidates if made.key not in self.shows}
        return tuple(untried.values())

    def _stages(self) -> Iterator[Iterable[Candidate]]:
        first, guess = self.best, self.guess
        yield [first, *([guess, *(smaller for _, smaller in reduced(guess))] if guess else [])]
        before = None
        while self.shows[first.key] and self.best is not before:
            before = self.best
            singles = list(reduced(before))
            yield [smaller for _, smaller in singles]
            yield _together(before, [step for step, made in singles if self.shows[made.key]])


def reduced(candidate: Candidate) -> Iterator[tuple[Reduction, Candidate]]:
    """Yield every valid candidate that is one reduction smaller."""
    for reduction in reductions(candidate):
        smaller = reduction(candidate)
        if smaller is not None and smaller.key != candidate.key and valid(smaller):
            yield reduction, smaller


def _together(candidate: Candidate, harmless: Sequence[Reduction]) -> Iterator[Candidate]:
    """Yield candidates with several reductions at once: all of them, each half, and so on."""
    size = len(harmless)
    while size > 1:
        for at in range(0, len(harmless), size):
            combined = candidate
            for reduction in harmless[at : at + size]:
                smaller = reduction(combined)
                if smaller is not None and valid(smaller):
                    combined = smaller
            yield combined
        size = (size + 1) // 2


def smallest(begin: Candidate, shows: Callable[[Candidate], bool]) -> Candidate | None:
    """Return the result of a whole search where `shows` answers at once."""
    search = Search(begin)
    while not search.over:
        search.record(map(shows, search.waiting))
    return search.smallest


def search_for(target: Target, candidate: Candidate) -> Search:
    """Begin a search; where the read strategy is known, the model says where it will end."""
    cause, order_by = target.cause, candidate.scenario.table.order_by

    def predicted(smaller: Candidate) -> bool:
        # The model knows no writer: Hudi 0.15.0 refuses every insert where there is no such column.
        return smaller.scenario.table.order_by == order_by and prediction.shows(
            smaller, cause.sign, cause.view, target.shape, target.refusal
        )

    guess = None
    if prediction.predictable(cause.sign, cause.view):
        guess = smallest(candidate, predicted)
    return Search(candidate, guess)


Ask = Callable[[Sequence[Trial]], Sequence[bool]]
"""Returns for each trial whether the answer shows the target."""


def run_all(
    searches: Sequence[tuple[Target, Search]], ask: Ask, enough: Callable[[], bool]
) -> None:
    """Ask round after round until all searches are over, or it is enough."""
    while not enough():
        trials = [
            Trial(target, candidate) for target, search in searches for candidate in search.waiting
        ]
        if not trials:
            return
        shown = iter(ask(trials))
        for _, search in searches:
            if not search.over:
                search.record([next(shown) for _ in search.waiting])

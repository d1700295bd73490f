"""The search for the smallest candidate that still shows a finding. Pure: the caller asks engines.

Delta debugging in rounds (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input"): every reduction is tried alone, all of them in one round, which starts the engines once;
then those that still showed the finding are made together, and so on until no single one does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from harness.cli.reproduce.candidate import Candidate, Reduction, reduced, valid
from harness.cli.reproduce.causes import Cause
from harness.core.records import Refusal
from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.model import past_views, query_shapes
from harness.scenario.cells import Cell, Reader


def cell_of(candidate: Candidate, reader: str, view: str, shape: str) -> Cell | None:
    """Return the question about the last step; None where there is none of that shape or view."""
    history = candidate.scenario.survey.history
    asked = past_views.asked(view, history)
    texts = query_shapes.planned(shape, asked[1]) if asked else ()
    if not asked or not texts:
        return None
    return Cell(candidate.variant.id, len(history) - 1, reader, asked[0], texts[0])


@dataclass(frozen=True, slots=True)
class Target:
    cause: Cause
    reader: Reader
    shape: str
    """Of the query: `all`, `column` …"""
    refusal: Refusal | None = None
    through: MetastoreChoice = USUAL_METASTORE
    """The metastore through which the reader asked."""


Trial = tuple[Target, Candidate]


@dataclass(slots=True)
class Search:
    """The search that begins with one candidate: whoever drives it tries those in `waiting`."""

    best: Candidate
    """The smallest that shows the finding; at first the one that the search begins with."""
    shows: dict[str, bool] = field(default_factory=dict)
    """By the candidate's key: whether it shows the finding."""
    waiting: Sequence[Candidate] = ()
    _rounds: Iterator[Sequence[Candidate]] = field(init=False)

    def __post_init__(self) -> None:
        self._rounds = filter(None, map(self._untried, self._stages()))
        self.waiting = next(self._rounds, ())

    @property
    def over(self) -> bool:
        return not self.waiting

    @property
    def smallest(self) -> Candidate | None:
        return self.best if self.shows.get(self.best.key) else None

    def record(self, shown: Iterable[bool]) -> None:
        """Take which of the waiting candidates show the finding, and choose the next ones."""
        results = list(zip(self.waiting, shown, strict=True))
        self.shows |= {candidate.key: result for candidate, result in results}
        showing = (candidate for candidate, result in results if result)
        self.best = min((self.best, *showing), key=lambda candidate: candidate.size)
        self.waiting = next(self._rounds, ())

    def _untried(self, candidates: Iterable[Candidate]) -> Sequence[Candidate]:
        return list({made.key: made for made in candidates if made.key not in self.shows}.values())

    def _stages(self) -> Iterator[Iterable[Candidate]]:
        first = self.best
        yield [first, *(smaller for _, smaller in reduced(first))]
        before = None
        while self.shows[first.key] and self.best is not before:
            before = self.best
            singles = list(reduced(before))
            yield [smaller for _, smaller in singles]
            harmless = [step for step, made in singles if self.shows[made.key]]
            joint = list(_together(before, harmless))
            # What is harmless alone is so together most often: then the next singles are known.
            following = (smaller for made in joint[:LARGEST] for _, smaller in reduced(made))
            yield [*joint, *following]


LARGEST: Final = 3
"""All harmless reductions at once, and each half of them."""


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


def run_all(
    searches: Sequence[tuple[Target, Search]],
    ask: Callable[[Sequence[Trial]], Sequence[bool]],
    enough: Callable[[], bool],
) -> None:
    """Ask in rounds which trials show their target, until all is over, or it is enough."""
    while not enough():
        trials = [(target, candidate) for target, s in searches for candidate in s.waiting]
        if not trials:
            return
        shown = iter(ask(trials))
        for _, search in searches:
            if not search.over:
                search.record([next(shown) for _ in search.waiting])

"""The search for the smallest candidate that still shows a finding. Pure: the caller asks engines.

Delta debugging in rounds (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
Input"): every reduction is tried alone, all of them in one round, which starts the engines once;
then those that still showed the finding are made together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from harness import formats
from harness.cli.reproduce.candidate import Candidate, Reduction, reduced, valid
from harness.cli.reproduce.causes import Cause, Sign, plain_strategy, signs
from harness.cli.reproduce.expected_files import expected_files
from harness.core.records import (
    Answer,
    Column,
    FindingKind,
    Outcome,
    OutcomeKind,
    Refusal,
    StateRecord,
)
from harness.core.runtime_names import USUAL_METASTORE, MetastoreChoice
from harness.judge import verdicts
from harness.judge.expectations import Expectations
from harness.judge.expected_state import column_types
from harness.judge.recorded_variant import RecordedVariant
from harness.model import past_views, query_shapes
from harness.model.commit import INCREMENTAL
from harness.model.simulation.reader import Readings, Simulation
from harness.model.simulation.strategies import OVERLAID, REKEYED, ColumnMapping
from harness.scenario.cells import Cell, Reader

READ = "read "
"""The meaning of a refusal begins with it where the read strategy brought it about."""


def cell_of(candidate: Candidate, reader: str, view: str, shape: str) -> Cell | None:
    """Return the question about the last step; None where there is none of that shape or view."""
    history = candidate.scenario.survey.history
    asked = past_views.asked(view, history)
    texts = query_shapes.planned(shape, asked[1]) if asked else ()
    if not asked or not texts:
        return None
    return Cell(candidate.variant.id, len(history) - 1, reader, asked[0], texts[0])


def predictable(sign: Sign, view: str) -> bool:
    """Return whether a sign names the one strategy by which the reader reads.

    Nothing is predicted where the strategy has to do with the columns that Hudi adds: how the
    catalog lists them is known of written files alone, and so is when rows were committed, by which
    an incremental view goes.
    """
    added = any(text in sign.strategy for text in (ColumnMapping.COUNTED, OVERLAID, REKEYED))
    if sign.kind == FindingKind.UNEXPLAINED or added or view == INCREMENTAL:
        return False
    return sign.strategy.startswith(READ) if sign.refused else bool(sign.strategy)


@dataclass(frozen=True, slots=True)
class Target:
    cause: Cause
    reader: Reader
    shape: str
    """Of the query: `all`, `column` …"""
    refusal: Refusal | None = None
    through: MetastoreChoice = USUAL_METASTORE
    """The metastore through which the reader asked."""


def would_show(candidate: Candidate, target: Target) -> bool:
    """Return whether a reader of the strategy would show it; that an error comes is granted."""
    sign = target.cause.sign
    cell = cell_of(candidate, str(target.reader), target.cause.view, target.shape)
    if cell is None:
        return False
    written = _written(candidate)
    if target.refusal:
        answer: Answer | None = Answer(cell.case, "", refusal=target.refusal)
    else:
        answer = _answer(written, cell, sign.strategy)
    judged = verdicts.judge(written, [cell], {cell.case: answer}) if answer else ()
    return any(sign.among(signs(verdict, answer)) for verdict in judged)


def _written(candidate: Candidate) -> RecordedVariant:
    """Return the files that the format is expected to make."""
    variant, operations = candidate.variant, candidate.operations
    table_format = formats.load(candidate.format)
    history = candidate.scenario.truths(merge_on_read=table_format.merge_on_read).history()
    layout = table_format.file_layout(candidate.settings)
    states = [
        StateRecord(variant.id, Outcome(step, OutcomeKind.APPLIED, str(step)), "", files)
        for step, files in enumerate(expected_files(history, operations, layout))
    ]
    return RecordedVariant(variant, table_format.merge_on_read, states)


def _answer(written: RecordedVariant, cell: Cell, name: str) -> Answer | None:
    """Return the answer of a reader of a strategy; None where no such strategy is tried here."""
    layout = Expectations(written).for_reader(cell.reader).layout(cell.step, cell.view)
    history, later = layout.state.history, layout.state.later
    readings = Readings(Simulation(history, layout.files, layout.steps, later=later))
    query = query_shapes.query(cell.query, history[-1])
    for strategy in readings.strategies(query):
        labels = readings.labels(strategy, query)
        if labels is not None and plain_strategy(str(strategy)) == name:
            types = column_types(readings.reading.schema(strategy), query)
            try:
                rows = readings.answer(strategy, query)
            except ValueError:  # a value has no form in the type of an older catalog
                return None
            columns = tuple(Column(column, type_, type_) for column, type_ in types)
            return Answer(cell.case, "", columns, tuple(rows), question=query)
    return None


Trial = tuple[Target, Candidate]


@dataclass(slots=True)
class Search:
    """The search that begins with one candidate: whoever drives it tries those in `waiting`."""

    best: Candidate
    """The smallest that shows the finding; at first the one that the search begins with."""
    guess: Candidate | None = None
    """What the result may be. It is tried in the first round with everything that is one reduction
    smaller: if it is right, this is the only round."""
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
        first, guess = self.best, self.guess
        yield [first, *([guess, *(smaller for _, smaller in reduced(guess))] if guess else [])]
        before = None
        while self.shows[first.key] and self.best is not before:
            before = self.best
            singles = list(reduced(before))
            yield [smaller for _, smaller in singles]
            yield _together(before, [step for step, made in singles if self.shows[made.key]])


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
    """Begin a search; its guess is the result with a simulated reader of the one strategy."""
    cause, order_by = target.cause, candidate.scenario.table.order_by

    def predicted(smaller: Candidate) -> bool:
        # The model knows no writer: Hudi 0.15.0 refuses every insert where there is no such column.
        return smaller.scenario.table.order_by == order_by and would_show(smaller, target)

    known = predictable(cause.sign, cause.view)
    return Search(candidate, smallest(candidate, predicted) if known else None)


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

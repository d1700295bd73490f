"""When each cell turned over the stored runs, and what differed then. Pure, but for reading.

A run in which nothing is known of a cell is no turn, and neither is one that does not ask it: a
verdict is compared with the newest one before it that is known. Every difference of the two runs is
reported: which of several it was, two runs cannot tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from harness.comparison.cell_pairs import (
    AS_BEFORE,
    WORSE,
    Correspondence,
    VerdictChange,
    class_of,
    correspondence,
)
from harness.comparison.history_store import (
    HistoryStore,
    Row,
    StoredCell,
    StoredRun,
    cell_of,
)
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.run import causes, frames
from harness.run.frames import FrameColumn
from harness.run.load_run import NOT_COMPARED, ReaderInfo, VariantInfo
from harness.scenario.cells import parse_reader

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class SeenCell:
    """A cell as a run saw it."""

    place: int
    """The place of the run among those that are compared."""
    cell: StoredCell


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Something that is otherwise in the later run."""

    what: str
    """`reader`, `writer`, `text of the scenario` …"""
    old: str = ""
    """Empty, as is `new`, where only digests are known."""
    new: str = ""
    another_question: bool = False
    """Whether it makes the cell another question of the same name."""

    def __str__(self) -> str:
        return f"{self.what} {self.old} → {self.new}" if self.old or self.new else self.what


@dataclass(frozen=True, slots=True)
class _Circumstances:
    """What a run says of a cell's reader and variant."""

    run: StoredRun
    reader: ReaderInfo
    variant: VariantInfo

    @property
    def lock(self) -> str:
        return self.run.info.locks.get(self.reader.distribution, "")

    @property
    def engine(self) -> str:
        return causes.engine(self.reader.distribution)


class DifferenceSearch:
    """The differences of runs; those that many cells share are looked for once."""

    def __init__(self, runs: Sequence[StoredRun]) -> None:
        self._runs = runs
        self._variants = [{v.id: v for v in run.info.variants} for run in runs]
        self._readers = [{r.reader: r for r in run.info.readers} for run in runs]
        self._shared: dict[tuple[int | str, ...], tuple[tuple[RunDifference, ...], bool]] = {}

    def between(self, old: SeenCell, new: SeenCell) -> tuple[RunDifference, ...]:
        """Return in what the later run differs that has a bearing on the cell."""
        was, now = old.cell, new.cell
        key = old.place, new.place, was.variant, now.variant, was.reader, now.reader
        if key not in self._shared:
            before, after = self._circumstances(old), self._circumstances(new)
            same_words = before.engine == after.engine
            self._shared[key] = tuple(_differences(before, after)), same_words
        shared, same_words = self._shared[key]
        if was is now:
            return shared
        return (*shared, *_of_the_answer(was, now, shared, same_words=same_words))

    def _circumstances(self, seen: SeenCell) -> _Circumstances:
        cell = seen.cell
        return _Circumstances(
            self._runs[seen.place],
            self._readers[seen.place].get(cell.reader, ReaderInfo(cell.reader, cell.reader, "")),
            self._variants[seen.place].get(cell.variant, VariantInfo(cell.variant, "", "", ())),
        )


def _differences(old: _Circumstances, new: _Circumstances) -> Iterator[RunDifference]:
    """Yield those that all cells of a reader and a variant have in common."""
    if new.reader.reader:
        yield from _of_readers(old, new)
    yield from _of_tables(old, new)
    was, now = old.run.info, new.run.info
    if was.metastore != now.metastore:
        yield RunDifference("metastore", str(was.through), str(now.through))
    if was.version != now.version:
        yield RunDifference("harness", was.version, now.version)


def _of_readers(old: _Circumstances, new: _Circumstances) -> Iterator[RunDifference]:
    was, now = old.reader, new.reader
    if was.reader != now.reader:
        one, other = parse_reader(was.reader), parse_reader(now.reader)
        same = one.settings == other.settings
        names = (one.distribution, other.distribution) if same else (was.reader, now.reader)
        yield RunDifference("reader", *names)
        return
    if was.settings != now.settings and NOT_COMPARED not in {was.settings, now.settings}:
        yield RunDifference(f"settings of {now.reader}:", was.settings, now.settings)
    if (was.fidelity, old.lock) != (now.fidelity, new.lock):
        yield RunDifference(f"make of {now.reader}:", was.fidelity, now.fidelity)


def _of_tables(old: _Circumstances, new: _Circumstances) -> Iterator[RunDifference]:
    was, now = old.variant, new.variant
    pairs = (
        ("writer", was.writer, now.writer),
        ("settings of the table:", _settings(was), _settings(now)),
    )
    changed = [RunDifference(*pair) for pair in pairs if pair[1] != pair[2]]
    yield from changed
    if old.run.info.scenarios.get(was.id) != new.run.info.scenarios.get(now.id):
        yield RunDifference("text of the scenario", another_question=True)
    elif not changed and old.run.plan.written.get(was.id) != new.run.plan.written.get(now.id):
        yield RunDifference("how the table is written")


def _settings(variant: VariantInfo) -> str:
    return ", ".join(f"{name}={value}" for name, value in variant.settings.items()) or "none"


def _of_the_answer(
    old: StoredCell, new: StoredCell, shared: Sequence[RunDifference], *, same_words: bool
) -> Iterator[RunDifference]:
    """Yield that the statement is another one, or that the same answer is judged otherwise.

    `same_words`: whether both are asked in the words of one engine.
    """
    if same_words and old.asked and new.asked and old.asked != new.asked:
        yield RunDifference("statement of the question", another_question=True)
    elif not any(difference.another_question for difference in shared):
        same_answer = bool(old.answered) and old.answered == new.answered
        if same_answer and old.verdict is not new.verdict:
            yield RunDifference("judgement of the same answer:", str(old.verdict), str(new.verdict))


NOT_RIGHT: Final = (VerdictKind.WRONG, VerdictKind.REFUSED)
"""What is not right, the silent first; what is declared unsupported is as it was declared."""


@dataclass(frozen=True, slots=True)
class CellFilter:
    """Which cells to show; an empty text selects all."""

    case: str = ""
    """A part of the case's name."""
    reader: str = ""
    """A name that any run has; `*` stands for anything."""
    scenario: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A cell changed, or was asked for the first time, or was asked otherwise."""

    run: StoredRun
    cell: StoredCell
    before: StoredRun | None
    """The newest run before it in which the cell is known; None where there is none."""
    was: StoredCell | None
    change: VerdictChange
    differs: tuple[RunDifference, ...]


@dataclass(frozen=True, slots=True)
class CellHistory:
    """The turns of a cell, the oldest first; at least one."""

    turns: tuple[Turn, ...]
    scenario: str
    cell: StoredCell
    """As the newest run has it in which it is known."""
    last: StoredRun
    """That run."""
    unknown: StoredRun | None = None
    """The newest run, where that asked it and does not know."""

    @property
    def since(self) -> Turn:
        return self.turns[-1]


@dataclass(frozen=True, slots=True)
class TurnGroup:
    """Turns of one class in one run, where the same differed; of one symptom where that counts."""

    turns: tuple[tuple[CellHistory, Turn], ...]
    """At least one."""
    cell: StoredCell
    """One that speaks for all: as it turned, or as it is now where that counts."""

    @property
    def first(self) -> Turn:
        return self.turns[0][1]

    @property
    def run(self) -> StoredRun:
        return self.first.run

    @property
    def change(self) -> VerdictChange:
        return self.first.change

    @property
    def readers(self) -> tuple[str, ...]:
        """Whose answers they are; an empty name stands for a step."""
        return tuple(dict.fromkeys(turn.cell.reader for _, turn in self.turns))

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.scenario for cell, _ in self.turns))


@dataclass(frozen=True)  # no slots: what is derived is cached
class History:
    """The cells of a profile's runs that some run does not find right."""

    runs: tuple[StoredRun, ...]
    """The oldest first."""
    cells: tuple[CellHistory, ...]
    others: Mapping[str, int]
    """How many runs of other profiles are stored."""

    @cached_property
    def now(self) -> tuple[CellHistory, ...]:
        """The cells that the newest run asked and knows."""
        newest = self.runs[-1].number
        return tuple(cell for cell in self.cells if cell.last.number == newest)

    @cached_property
    def not_right_now(self) -> tuple[TurnGroup, ...]:
        """What the newest run finds wrong or refused, by symptom; the newest turn first."""
        wrong = [(cell, cell.since) for cell in self.now if cell.cell.verdict in NOT_RIGHT]
        groups = grouped(
            ((*_turn_key(turn), *_symptom_key(cell.cell)), (cell, turn)) for cell, turn in wrong
        )
        return _newest_first(TurnGroup(tuple(of), of[0][0].cell) for of in groups.values())

    @cached_property
    def all_turns(self) -> tuple[TurnGroup, ...]:
        """Every turn but the first question of each cell, of the newest run first."""
        turns = ((cell, turn) for cell in self.cells for turn in cell.turns[1:])
        groups = grouped((_turn_key(turn), (cell, turn)) for cell, turn in turns)
        return _newest_first(TurnGroup(tuple(of), of[0][1].cell) for of in groups.values())

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas table with a row for each turn, and a type for each column."""
        return frames.frame([(cell, turn) for cell in self.cells for turn in cell.turns], _FRAME)


_Column = FrameColumn[tuple[CellHistory, Turn]]
_FRAME: Final[Mapping[str, _Column]] = {
    "case": FrameColumn(frames.TEXT, lambda row: row[1].cell.case),
    "scenario": FrameColumn(frames.WORD, lambda row: row[0].scenario),
    "variant": FrameColumn(frames.WORD, lambda row: row[1].cell.variant),
    "step": FrameColumn(frames.NUMBER, lambda row: row[1].cell.step),
    "reader": FrameColumn(frames.WORD, lambda row: row[1].cell.reader),
    "view": FrameColumn(frames.WORD, lambda row: row[1].cell.view),
    "query": FrameColumn(frames.WORD, lambda row: row[1].cell.query),
    "run": FrameColumn(frames.WORD, lambda row: row[1].run.name),
    "started": FrameColumn(frames.TIME, lambda row: row[1].run.info.started),
    "before": FrameColumn(frames.WORD, lambda row: row[1].before.name if row[1].before else ""),
    "change": FrameColumn(tuple(VerdictChange), lambda row: row[1].change),
    "old_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[1].was and row[1].was.verdict),
    "new_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[1].cell.verdict),
    "symptom": FrameColumn(frames.WORD, lambda row: row[1].cell.symptom),
    "differs": FrameColumn(frames.WORD, lambda row: "; ".join(map(str, row[1].differs))),
    "lasts": FrameColumn(frames.FLAG, lambda row: row[1] is row[0].since),
    "last_run": FrameColumn(frames.WORD, lambda row: row[0].last.name),
    "last_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[0].cell.verdict),
}
"""The columns of `History.to_frame`."""


def _turn_key(turn: Turn) -> tuple[Hashable, ...]:
    before = turn.before.number if turn.before else None
    return turn.run.number, before, turn.differs, turn.change


def _symptom_key(cell: StoredCell) -> tuple[Hashable, ...]:
    return cell.verdict, cell.symptom, _engine(cell.reader)


def _newest_first(groups: Iterable[TurnGroup]) -> tuple[TurnGroup, ...]:
    def harm(group: TurnGroup) -> tuple[bool, int, int]:
        kind = group.cell.verdict
        rank = NOT_RIGHT.index(kind) if kind in NOT_RIGHT else len(NOT_RIGHT)
        return group.change not in WORSE, rank, -len(group.turns)

    by_harm = sorted(groups, key=harm)
    return tuple(sorted(by_harm, key=lambda group: group.run.info.started, reverse=True))


def history_of(
    store: HistoryStore, profile: str = "", selected: CellFilter | None = None
) -> History:
    """Return the history of a profile's runs; without a name, of the profile of the newest run.

    Raises:
        UsageProblem: no run of it is stored.

    """
    stored = store.runs()
    profile = profile or (stored[-1].info.profile if stored else "")
    runs = tuple(run for run in stored if run.info.profile == profile)
    if not runs:
        of = f" of the profile {profile}" if profile else ""
        names = ", ".join(dict.fromkeys(run.info.profile for run in stored)) or "none"
        raise UsageProblem(f"{store.path}: no run{of} is stored; profiles: {names}")
    others = Counter(run.info.profile for run in stored if run not in runs)
    cells = tuple(_histories(store, runs, selected or CellFilter()))
    return History(runs, cells, others)


Line = Mapping[int, str]
"""The name that a variant or a reader has in each run, by the run's place."""
_CellLine = tuple[int, int, int, str, str]
"""The numbers of the lines of a variant and of a reader; a step, a view and a query."""
VERDICT: Final = 5
"""The place of the verdict in a row of the file, behind what tells cells from each other."""


def _histories(
    store: HistoryStore, runs: Sequence[StoredRun], selected: CellFilter
) -> Iterator[CellHistory]:
    scenarios = {v.id: v.scenario for run in runs for v in run.info.variants}
    variants, readers = _lines(runs)
    variants = [
        line
        for line in variants
        if any(_like(scenarios.get(name, ""), selected.scenario) for name in line.values())
    ]
    readers = [
        line for line in readers if any(_like(name, selected.reader) for name in line.values())
    ]
    differences, done = DifferenceSearch(runs), set[tuple[int, str]]()
    for seen in _not_always_right(store, runs, variants, readers):
        newest = seen[-1].place, seen[-1].cell.case
        # Two lines may share their newest cell: it is reported once.
        if newest not in done and selected.case in newest[1]:
            done.add(newest)
            if history := _history(seen, runs, differences, scenarios):
                yield history


def _not_always_right(
    store: HistoryStore,
    runs: Sequence[StoredRun],
    variants: Sequence[Line],
    readers: Sequence[Line],
) -> Iterator[list[SeenCell]]:
    """Yield what the runs say of each cell that some run does not find right.

    The file is read twice, so that what is right in all of them is never held in memory.
    """
    keys = [_key_maker(place, variants, readers) for place in range(len(runs))]
    seen: dict[_CellLine, list[SeenCell]] = {}
    for run, keys_of in zip(runs, keys, strict=True):
        for row in store.rows(run):
            if row[VERDICT] != VerdictKind.CORRECT:
                seen |= {key: [] for key in keys_of(row)}
    for place, (run, keys_of) in enumerate(zip(runs, keys, strict=True)):
        for row in store.rows(run):
            for key in keys_of(row):
                if (cells := seen.get(key)) is not None:
                    cell = cell_of(row)
                    same = bool(cells) and cells[-1].cell == cell
                    cells.append(SeenCell(place, cells[-1].cell if same else cell))
    for cells in seen.values():
        if {seen_cell.cell.verdict for seen_cell in cells} != {VerdictKind.UNSUPPORTED}:
            yield cells


def _key_maker(
    place: int, variants: Sequence[Line], readers: Sequence[Line]
) -> Callable[[Row], list[_CellLine]]:
    """Return what makes the keys of a run's cells: a cell may belong to several lines."""
    of_variant, of_reader = (
        grouped((line[place], number) for number, line in enumerate(lines) if place in line)
        for lines in (variants, readers)
    )

    def keys(row: Row) -> list[_CellLine]:
        variant, step, reader, view, query = row[:VERDICT]
        of_readers = of_reader.get(reader, ())
        return [(v, r, step, view, query) for v in of_variant.get(variant, ()) for r in of_readers]

    return keys


def _history(
    seen: Sequence[SeenCell],
    runs: Sequence[StoredRun],
    differences: DifferenceSearch,
    scenarios: Mapping[str, str],
) -> CellHistory | None:
    """Return the history of a cell; None where no run knows it."""
    known = [cell for cell in seen if cell.cell.verdict is not VerdictKind.UNKNOWN]
    if not known:
        return None
    last, newest = known[-1], runs[seen[-1].place]
    unknown = newest if newest is runs[-1] and seen[-1] is not last else None
    return CellHistory(
        tuple(_turns(known, runs, differences)),
        scenarios.get(last.cell.variant, ""),
        last.cell,
        runs[last.place],
        unknown,
    )


def _turns(
    known: Sequence[SeenCell], runs: Sequence[StoredRun], differences: DifferenceSearch
) -> Iterator[Turn]:
    yield Turn(runs[known[0].place], known[0].cell, None, None, VerdictChange.NEW, ())
    for old, new in pairwise(known):
        was, now = old.cell, new.cell
        elsewhere = was is not now and bool(set(now.places.split()) - set(was.places.split()))
        change = class_of(was.verdict, now.verdict, elsewhere=elsewhere)
        differs = differences.between(old, new)
        if change not in AS_BEFORE or any(differ.another_question for differ in differs):
            yield Turn(runs[new.place], now, runs[old.place], was, change, differs)


def _like(name: str, pattern: str) -> bool:
    return not pattern or fnmatchcase(name, pattern)


def _lines(runs: Sequence[StoredRun]) -> tuple[list[Line], list[Line]]:
    """Return the lines of variants and those of readers over runs, the oldest of which is first.

    What has the same name is the same. A reader of another version, or a table of another writer,
    is followed as a comparison of the two runs would: from each run to the newest one before it
    that has what corresponds.
    """

    @cache
    def corresponding(old: int, new: int) -> Correspondence:
        return correspondence(runs[old].info, runs[new].info)

    def reader_before(old: int, new: int, name: str) -> str:
        before = corresponding(old, new).readers.get(name, "")
        # What another engine answers is no turn.
        return before if before and _engine(before) == _engine(name) else ""

    variants = [dict.fromkeys(variant.id for variant in run.info.variants) for run in runs]
    # A step has no reader: the empty name.
    readers = [dict.fromkeys(("", *(r.reader for r in run.info.readers))) for run in runs]
    return (
        _lines_of(variants, lambda old, new, name: corresponding(old, new).variants.get(name, "")),
        _lines_of(readers, reader_before),
    )


_NameBefore = Callable[[int, int, str], str]
"""The name in an older run of what a newer one calls so; empty where there is none."""


def _lines_of(names: Sequence[Mapping[str, None]], name_before: _NameBefore) -> list[Line]:
    """Return a line for each name that no later run continues, of all that it continues."""

    def back(place: int, name: str) -> Iterator[tuple[int, str]]:
        yield place, name
        for older in reversed(range(place)):
            known = name in names[older]
            before = name if known else name_before(older, place, name)
            if known or before:
                yield older, before
                place, name = older, before

    lines: list[Line] = []
    followed = set[tuple[int, str]]()
    for place in reversed(range(len(names))):
        for name in names[place]:
            if (place, name) not in followed:
                line = dict(back(place, name))
                followed |= set(line.items())
                lines.append(line)
    return lines


def _engine(reader: str) -> str:
    return causes.engine(parse_reader(reader).distribution) if reader else ""

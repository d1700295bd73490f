"""When each cell turned over the stored runs, and what differed then. Pure, but for reading.

A run in which nothing is known of a cell is no turn, and neither is one that does not ask it: a
verdict is compared with the newest one before it that is known. Every difference of the two runs is
reported: which of several it was, two runs cannot tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from harness.comparison.cell_pairs import (
    AS_BEFORE,
    WORSE,
    Correspondence,
    VerdictChange,
    class_of,
    correspondence,
)
from harness.comparison.history_store import HistoryStore, Row, StoredCell, StoredRun, cell_of
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.run import causes, frames
from harness.run.frames import FrameColumn
from harness.run.load_run import NOT_COMPARED, VariantInfo
from harness.scenario.cells import parse_reader

if TYPE_CHECKING:
    import pandas as pd

NOT_RIGHT: Final = (VerdictKind.WRONG, VerdictKind.REFUSED)
"""What is not right, the silent first; what is declared unsupported is as it was declared."""
OTHER_TEXT: Final = "text of the scenario"
OTHER_STATEMENT: Final = "statement of the question"
ANOTHER_QUESTION: Final = frozenset({OTHER_TEXT, OTHER_STATEMENT})
"""The differences that make a cell another question of the same name."""


class SeenCell(NamedTuple):
    run: StoredRun
    cell: StoredCell


@dataclass(frozen=True, slots=True)
class Turn:
    """A cell changed, or was asked for the first time, or was asked otherwise."""

    run: StoredRun
    cell: StoredCell
    before: StoredRun | None
    """The newest run before it in which the cell is known; None where there is none."""
    was: StoredCell | None
    change: VerdictChange
    differs: tuple[str, ...]
    """What is otherwise in the later run: `reader trino-368 → trino-476`."""


@dataclass(frozen=True, slots=True)
class CellHistory:
    """The turns of a cell, the oldest first; at least one."""

    turns: tuple[Turn, ...]
    cell: StoredCell
    """As the newest run has it in which it is known."""
    last: StoredRun
    """That run."""
    unknown: bool
    """Whether a newer run asked it and does not know."""

    @property
    def since(self) -> Turn:
        return self.turns[-1]

    @property
    def scenario(self) -> str:
        return self.last.info.variant(self.cell.variant).scenario


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
        return tuple(cell for cell in self.cells if cell.last is self.runs[-1])

    @cached_property
    def not_right_now(self) -> tuple[TurnGroup, ...]:
        """What the newest run finds wrong or refused, by symptom; the newest turn first."""
        wrong = [cell for cell in self.now if cell.cell.verdict in NOT_RIGHT]
        groups = grouped(
            ((*_turn_key(cell.since), *_symptom_key(cell.cell)), (cell, cell.since))
            for cell in wrong
        )
        return _newest_first(TurnGroup(tuple(of), of[0][0].cell) for of in groups.values())

    @cached_property
    def all_turns(self) -> tuple[TurnGroup, ...]:
        """Every turn but the first question of each cell, of the newest run first."""
        turns = ((cell, turn) for cell in self.cells for turn in cell.turns[1:])
        groups = grouped((_turn_key(turn), (cell, turn)) for cell, turn in turns)
        return _newest_first(TurnGroup(tuple(of), of[0][1].cell) for of in groups.values())

    def to_frame(self) -> pd.DataFrame:
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
    "differs": FrameColumn(frames.WORD, lambda row: "; ".join(row[1].differs)),
    "lasts": FrameColumn(frames.FLAG, lambda row: row[1] is row[0].since),
    "last_run": FrameColumn(frames.WORD, lambda row: row[0].last.name),
    "last_verdict": FrameColumn(tuple(VerdictKind), lambda row: row[0].cell.verdict),
}
"""The columns of `History.to_frame`."""


def _turn_key(turn: Turn) -> tuple[Hashable, ...]:
    return turn.run, turn.before, turn.differs, turn.change


def _symptom_key(cell: StoredCell) -> tuple[Hashable, ...]:
    return cell.verdict, cell.symptom, _engine(cell.reader)


def _newest_first(groups: Iterable[TurnGroup]) -> tuple[TurnGroup, ...]:
    def harm(group: TurnGroup) -> tuple[bool, int, int]:
        kind = group.cell.verdict
        rank = NOT_RIGHT.index(kind) if kind in NOT_RIGHT else len(NOT_RIGHT)
        return group.first.change not in WORSE, rank, -len(group.turns)

    by_harm = sorted(groups, key=harm)
    return tuple(sorted(by_harm, key=lambda group: group.first.run.info.started, reverse=True))


def history_of(
    store: HistoryStore, profile: str = "", *, case: str = "", reader: str = "", scenario: str = ""
) -> History:
    """Return the history of a profile's runs; without a name, of the profile of the newest run.

    Args:
        store: where the runs are.
        profile: its name.
        case: only cells in whose name this is.
        reader: only this reader, by a name that any run has; `*` stands for anything.
        scenario: only this scenario; the same.

    Raises UsageProblem: no run of it is stored.
    """
    stored = store.runs()
    profile = profile or (stored[-1].info.profile if stored else "")
    runs = tuple(run for run in stored if run.info.profile == profile)
    if not runs:
        of = f" of the profile {profile}" if profile else ""
        names = ", ".join(dict.fromkeys(run.info.profile for run in stored)) or "none"
        raise UsageProblem(f"{store.path}: no run{of} is stored; profiles: {names}")
    scenarios = {v.id: v.scenario for run in runs for v in run.info.variants}
    variants, readers = _lines(runs)
    lines = (
        _like(variants, lambda name: scenarios.get(name, ""), scenario),
        _like(readers, str, reader),
    )
    histories: dict[tuple[StoredRun, str], CellHistory | None] = {}
    shared = cache(_of_readers), cache(_of_tables)
    for seen in _not_always_right(store, runs, lines):
        newest = seen[-1].run, seen[-1].cell.case
        # Two lines may share their newest cell: it is reported once.
        if case in newest[1] and newest not in histories:
            histories[newest] = _history(seen, runs[-1], *shared)
    others = Counter(run.info.profile for run in stored if run.info.profile != profile)
    return History(runs, tuple(filter(None, histories.values())), others)


Line = Mapping[int, str]
"""The name that a variant or a reader has in each run, by the run's place."""


def _like(lines: Iterable[Line], text: Callable[[str], str], pattern: str) -> list[Line]:
    return [
        line
        for line in lines
        if not pattern or any(fnmatchcase(text(name), pattern) for name in line.values())
    ]


def _not_always_right(
    store: HistoryStore, runs: Sequence[StoredRun], lines: Sequence[Sequence[Line]]
) -> Iterator[list[SeenCell]]:
    """Yield what the runs say of each cell that some run does not find right.

    The file is read twice, so that what is right in all of them is never held in memory.
    `lines`: those of variants, and those of readers.
    """
    seen: dict[Hashable, list[SeenCell]] = {}
    for place, run in enumerate(runs):
        not_right = (row for row in store.rows(run) if row[5] != VerdictKind.CORRECT)
        seen |= {key: [] for key, _ in _keyed(not_right, place, lines)}
    for place, run in enumerate(runs):
        for key, row in _keyed(store.rows(run), place, lines):
            if (cells := seen.get(key)) is not None:
                cell = cell_of(row)
                same = bool(cells) and cells[-1].cell == cell
                cells.append(SeenCell(run, cells[-1].cell if same else cell))
    for cells in seen.values():
        if {cell.verdict for _, cell in cells} != {VerdictKind.UNSUPPORTED}:
            yield cells


def _keyed(
    rows: Iterable[Row], place: int, lines: Iterable[Iterable[Line]]
) -> Iterator[tuple[Hashable, Row]]:
    """Yield the rows of a run with the lines of each: several, where versions share a past."""
    of_variant, of_reader = (
        grouped((line[place], number) for number, line in enumerate(of) if place in line)
        for of in lines
    )
    for row in rows:
        name, step, reader, view, query = row[:5]
        for variant in of_variant.get(name, ()):
            for line in of_reader.get(reader, ()):
                yield (variant, line, step, view, query), row


_SharedDifferences = Callable[[StoredRun, StoredRun, str, str], tuple[str, ...]]


def _history(
    seen: Sequence[SeenCell], newest: StoredRun, *shared: _SharedDifferences
) -> CellHistory | None:
    """Return the history of a cell; None where no run knows it.

    `shared`: tell in what the readers, and the tables, of two runs differ.
    """
    known = [cell for cell in seen if cell.cell.verdict is not VerdictKind.UNKNOWN]
    if not known:
        return None
    first, last = known[0], known[-1]
    turns = [Turn(first.run, first.cell, None, None, VerdictChange.NEW, ())]
    of_readers, of_tables = shared
    for old, new in pairwise(known):
        was, now = old.cell, new.cell
        differs = (
            *of_readers(old.run, new.run, was.reader, now.reader),
            *of_tables(old.run, new.run, was.variant, now.variant),
        )
        elsewhere = False
        if was is not now:
            elsewhere = bool(set(now.places.split()) - set(was.places.split()))
            differs = (*differs, *_of_the_answer(was, now, differs))
        change = class_of(was.verdict, now.verdict, elsewhere=elsewhere)
        if change not in AS_BEFORE or not ANOTHER_QUESTION.isdisjoint(differs):
            turns.append(Turn(new.run, now, old.run, was, change, differs))
    unknown = seen[-1] is not last and seen[-1].run is newest
    return CellHistory(tuple(turns), last.cell, last.run, unknown)


def _of_the_answer(was: StoredCell, now: StoredCell, shared: Sequence[str]) -> Iterator[str]:
    same_words = _engine(was.reader) == _engine(now.reader)
    if same_words and was.asked and now.asked and was.asked != now.asked:
        yield OTHER_STATEMENT
    elif OTHER_TEXT not in shared:
        same_answer = bool(was.answered) and was.answered == now.answered
        if same_answer and was.verdict is not now.verdict:
            yield f"judgement of the same answer: {was.verdict} → {now.verdict}"


def _of_readers(old: StoredRun, new: StoredRun, before: str, after: str) -> tuple[str, ...]:
    """Return in what the readers of a cell differ; an empty name stands for a step."""
    was, now = old.info.reader(before), new.info.reader(after)
    if before != after:
        one, other = parse_reader(before), parse_reader(after)
        same = one.settings == other.settings
        names = (one.distribution, other.distribution) if same else (before, after)
        return (f"reader {names[0]} → {names[1]}",)
    differs = []
    if was.settings != now.settings and NOT_COMPARED not in {was.settings, now.settings}:
        differs.append(f"settings of {after}: {was.settings} → {now.settings}")
    locks = {run.info.locks.get(now.distribution, "") for run in (old, new)}
    if was.fidelity != now.fidelity or len(locks) > 1:
        differs.append(f"make of {after}: {was.fidelity} → {now.fidelity}")
    return tuple(differs)


def _of_tables(old: StoredRun, new: StoredRun, before: str, after: str) -> tuple[str, ...]:
    was, now = old.info.variant(before), new.info.variant(after)
    settings, settings_now = _settings(was), _settings(now)
    differs = [f"writer {was.writer} → {now.writer}"] * (was.writer != now.writer)
    differs += [f"settings of the table: {settings} → {settings_now}"] * (settings != settings_now)
    if old.info.scenarios.get(before) != new.info.scenarios.get(after):
        differs.append(OTHER_TEXT)
    elif not differs and old.plan.written.get(before) != new.plan.written.get(after):
        differs.append("how the table is written")
    if old.info.metastore != new.info.metastore:
        differs.append(f"metastore {old.info.through} → {new.info.through}")
    if old.info.version != new.info.version:
        differs.append(f"harness {old.info.version} → {new.info.version}")
    return tuple(differs)


def _settings(variant: VariantInfo) -> str:
    return ", ".join(f"{name}={value}" for name, value in variant.settings.items()) or "none"


@cache
def _engine(reader: str) -> str:
    return causes.engine(parse_reader(reader).distribution) if reader else ""


def _lines(runs: Sequence[StoredRun]) -> tuple[list[Line], list[Line]]:
    """Return the lines of variants and those of readers over runs, the oldest of which is first.

    What has the same name is the same. A reader of another version, or a table of another writer,
    is followed as a comparison of the two runs would: from each run to the newest one before it
    that has what corresponds.
    """

    @cache
    def corresponding(old: int, new: int) -> Correspondence:
        return correspondence(runs[old].info, runs[new].info)

    def reader_before(old: int, new: int, name: str) -> str | None:
        before = corresponding(old, new).readers.get(name)
        # What another engine answers is no turn.
        return before if before and _engine(before) == _engine(name) else None

    # A step has no reader: the empty name.
    return (
        _lines_of(
            [run.info.variants_by_id for run in runs],
            lambda old, new, name: corresponding(old, new).variants.get(name),
        ),
        _lines_of([{"": None, **run.info.readers_by_name} for run in runs], reader_before),
    )


def _lines_of(
    names: Sequence[Collection[str]], name_before: Callable[[int, int, str], str | None]
) -> list[Line]:
    """Return a line for each name that no later run continues, of all that it continues.

    `name_before`: the name in an older run of what a newer one calls so.
    """
    lines: list[Line] = []
    followed = set[tuple[int, str]]()
    for newest in reversed(range(len(names))):
        for name in names[newest]:
            if (newest, name) in followed:
                continue
            line, place = {newest: name}, newest
            for older in reversed(range(newest)):
                now = line[place]
                before = now if now in names[older] else name_before(older, place, now)
                if before is not None:
                    line[older], place = before, older
            followed |= set(line.items())
            lines.append(line)
    return lines

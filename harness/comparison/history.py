"""The SQLite file that stores judged runs, and when each cell turned over them.

A build's cache can carry the file: its rollback journal is gone after every commit. A run that does
not ask a cell, or does not know it, is no turn of it.
"""

from __future__ import annotations

import datetime
import hashlib
import io
import json
import re
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import TypeAdapter

from harness.comparison import cell_pairs
from harness.comparison.cell_pairs import Correspondence, VerdictChange, correspondence, engine
from harness.core.errors import EnvironmentProblem, HarnessError, UsageProblem, disk_full
from harness.core.grouping import grouped
from harness.core.records import Answer, Part, Verdict, VerdictKind
from harness.run import causes, frames, load_run, run_folder
from harness.run.frames import FrameColumn
from harness.run.load_run import NOT_COMPARED, Run, RunInfo, VariantInfo
from harness.scenario.cells import Cell, parse_reader

if TYPE_CHECKING:
    import pandas as pd

USUAL: Final = run_folder.RUNS / "history.sqlite"
"""The file of the runs under runs/."""
VARIABLE: Final = "HARNESS_HISTORY"
_MADE_BY: Final = {"application_id": 0x4C544831, "user_version": 4}
"""Tells the file from those of other programs, and of harnesses with another table."""
PATIENCE_S: Final = 120.0
"""A harness that adds a run of a million cells locks the file for a fraction of this."""
CELLS: Final = "cells"
"""Names the file with the `StoredCell`s of a run, a line of JSON each."""
RECORDS: Final = (load_run.VERDICTS, load_run.ANSWERS, load_run.STATES, load_run.INFO)
"""The plan last: without it, a folder is no run."""
_SCHEMA: Final = (
    "CREATE TABLE run (id TEXT, started TEXT, plan BLOB, content BLOB, PRIMARY KEY (id, started))",
    *(f"PRAGMA {name} = {value}" for name, value in _MADE_BY.items()),
)
"""`content` is a ZIP file."""
_EXPLANATION: Final = re.compile(r"^(about|source):.*\n( .*\n)*", re.MULTILINE)
"""The part of a scenario's text that no engine ever sees."""
DATABASE: Final = re.compile(r"\bs_[0-9a-f]{16}\b")
"""Named after the state of the table, whose digest is stored by itself."""


@dataclass(frozen=True, eq=False, slots=True)
class StoredRun:
    info: RunInfo
    """Without cells; of the texts of scenarios and of lock data it has digests."""
    written: Mapping[str, str]
    """A digest of what was written, by variant."""
    counts: Mapping[VerdictKind, int]
    """How many questions have which verdict."""
    name: str
    """Its id; where several have the same, with the time at which it began."""

    @property
    def key(self) -> tuple[str, str]:
        started = self.info.started.astimezone(datetime.UTC)
        return self.info.id, started.isoformat(timespec="microseconds")


RUN: Final = TypeAdapter(StoredRun)


class StoredCell(NamedTuple):
    """Of places, the statement and the answer it has digests; empty where there was none."""

    cell: Cell
    verdict: VerdictKind
    symptom: str
    """How it is not right, in a few words."""
    places: str
    asked: str
    answered: str


class HistoryStore:
    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._connection = path, connection

    def runs(self) -> tuple[StoredRun, ...]:
        """Return every run, the oldest first."""
        rows = self._connection.execute("SELECT plan FROM run ORDER BY started, id")
        runs = [RUN.validate_json(zlib.decompress(plan)) for (plan,) in rows]
        times = Counter(run.name for run in runs)
        return tuple(
            run
            if times[run.name] == 1
            else replace(run, name=f"{run.name}@{run.key[1][:19].replace(':', '')}")
            for run in runs
        )

    def run(self, name: str) -> StoredRun:
        """Return the run of that name; raises UsageProblem where there is none."""
        runs = {run.name: run for run in self.runs()}
        if name not in runs:
            raise UsageProblem(f"{name}: not stored; {self.path} has: {', '.join(runs) or 'none'}")
        return runs[name]

    def cells(self, run: StoredRun) -> Iterator[StoredCell]:
        """Yield the cells of a run, steps first."""
        with self._content(run) as content, content.open(CELLS) as lines:
            for line in io.TextIOWrapper(lines, "ascii"):
                *cell, verdict, symptom, places, asked, answered = json.loads(line)
                kind = VerdictKind(verdict)
                yield StoredCell(Cell(*cell), kind, symptom, places, asked, answered)

    def add(self, run: Run) -> None:
        """Store a run; it replaces what was stored of it before."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as content:
            with io.TextIOWrapper(content.open(CELLS, "w"), "ascii") as lines:
                for verdict in cell_pairs.every_verdict(run):
                    cell, *judged = _stored_cell(run, verdict)
                    lines.write(json.dumps([*astuple(cell), *judged]) + "\n")
            for path in (run.folder / name for name in RECORDS):
                if path.exists():
                    content.write(path, path.name)
        stored = stored_run(run)
        row = *stored.key, zlib.compress(RUN.dump_json(stored)), packed.getvalue()
        with self._connection:
            self._connection.execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?)", row)

    def prune(self, most: int) -> tuple[str, ...]:
        """Remove all but the newest runs of each profile; return the names of those removed."""
        profiles = grouped((run.info.profile, run) for run in self.runs())
        old = [run for runs in profiles.values() for run in runs[:-most]]
        with self._connection:
            self._connection.executemany(
                "DELETE FROM run WHERE id = ? AND started = ?", [run.key for run in old]
            )
        self._connection.execute("VACUUM")
        return tuple(run.name for run in old)

    def restore(self, run: StoredRun, folder: Path) -> None:
        """Write the records of a run into a new folder; raises UsageProblem for any other."""
        run_folder.check_new(folder)
        run_folder.make(folder)
        with self._content(run) as content:
            content.extractall(folder, set(RECORDS).intersection(content.namelist()))

    def _content(self, run: StoredRun) -> zipfile.ZipFile:
        query = "SELECT content FROM run WHERE id = ? AND started = ?"
        (content,) = self._connection.execute(query, run.key).fetchone()
        return zipfile.ZipFile(io.BytesIO(content))


@contextmanager
def opened(path: Path, *, new: bool = False) -> Iterator[HistoryStore]:
    """Open the file; `new`: make it where it is not there.

    Raises HarnessError: it is not such a file or broken, or cannot be written.
    """
    if not (new or path.is_file()):
        raise UsageProblem(f"{path} is not there: no run is stored; see harness history add --help")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(path, PATIENCE_S, isolation_level="IMMEDIATE")) as connection:
            if new:
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    for statement in () if tables else _SCHEMA:  # another harness may be first
                        connection.execute(statement)
            made_by = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MADE_BY]
            if made_by != list(_MADE_BY.values()):
                raise UsageProblem(
                    f"{path} holds no runs of this version of the harness; move it away and add "
                    "its runs anew (harness history add RUN), or name another file by --history"
                )
            yield HistoryStore(path, connection)
    except (sqlite3.DatabaseError, zlib.error, zipfile.BadZipFile) as error:
        raise _problem(error, path) from error


def _problem(error: Exception, path: Path) -> HarnessError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # others have none
    match code & 0xFF:  # an extended code has its plain one in the lowest byte
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            help_ = "take a copy of it, or move it away and add runs anew: harness history add RUN"
            return UsageProblem(f"{path} is broken ({error}); {help_}")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return EnvironmentProblem(f"another harness writes {path}; repeat when it has ended")
        case sqlite3.SQLITE_FULL:
            return disk_full(path)
    return EnvironmentProblem(f"cannot use {path}: {error}")


def _digest(text: str) -> str:
    """Return a short text that stands for a longer one; empty for an empty one."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=8).hexdigest() if text else ""


def text_digest(scenario: str) -> str:
    """Return what stands for the text of a scenario, but for what it says of itself."""
    return _digest(_EXPLANATION.sub("", scenario))


def stored_run(run: Run) -> StoredRun:
    info, states = run.info, grouped((state.variant, state.digest) for state in run.states)
    texts = {name: text_digest(text) for name, text in info.scenarios.items()}
    locks = {name: _digest(text) for name, text in info.locks.items()}
    info = replace(info, scenarios=texts, locks=locks, cells=(), excluded=(), pairs=(), partly=())
    counts = Counter(verdict.verdict for verdict in run.verdicts)
    return StoredRun(
        replace(info, baselines={}),
        {variant: _digest(" ".join(digests)) for variant, digests in states.items()},
        {kind: counts[kind] for kind in VerdictKind},
        info.id,
    )


def _stored_cell(run: Run, verdict: Verdict) -> StoredCell:
    answer = run.answers.get(verdict.case)
    return StoredCell(
        Cell(*cell_pairs.key_of(verdict)),
        verdict.verdict,
        _symptom(verdict, answer),
        " ".join(sorted(_digest(repr(place)) for place in cell_pairs.wrong_values(verdict))),
        _digest(DATABASE.sub("", verdict.sql)),
        _digest(_answer_text(answer)) if answer else "",
    )


def _symptom(verdict: Verdict, answer: Answer | None) -> str:
    if verdict.verdict is VerdictKind.CORRECT:
        return ""
    if verdict.verdict is VerdictKind.REFUSED:
        return causes.meaning(answer.refusal if answer else None)
    kinds = dict.fromkeys(finding.kind for finding in verdict.findings)
    # Why a cell is unknown may hold the end of a server's log.
    return ", ".join(kinds) or verdict.because.partition("\n")[0][:200]


def _answer_text(answer: Answer) -> str:
    """Return what a reader answered, whatever the order of the rows; empty without an answer."""
    if not (answer.refusal or answer.columns):
        return ""
    tables: list[Answer | Part] = [answer, *answer.parts]
    return repr(
        [(t.columns, sorted(map(repr, t.rows)), t.refusal and t.refusal.kind) for t in tables]
    )


OTHER_TEXT: Final = "text of the scenario"
OTHER_STATEMENT: Final = "statement of the question"
ANOTHER_QUESTION: Final = frozenset({OTHER_TEXT, OTHER_STATEMENT})
"""The differences that make a cell another question of the same name."""


SeenCell = tuple[StoredRun, StoredCell]


@dataclass(frozen=True, slots=True)
class Turn:
    """A cell changed, or was asked for the first time, or was asked otherwise."""

    scenario: str
    run: StoredRun
    now: StoredCell
    before: StoredRun | None
    """The newest run before it in which the cell is known; None where there is none."""
    was: StoredCell | None
    change: VerdictChange
    differs: tuple[str, ...]
    """What is otherwise in the later run: `reader trino-368 → trino-476`."""
    newest: SeenCell
    """The newest run in which the cell is known, and what it is there."""
    lasts: bool = False
    """Whether no turn of the cell comes after it."""

    @property
    def cell(self) -> Cell:
        return self.now.cell


Turns = tuple[Turn, ...]
"""Of one class and symptom in one run, where the same differed; the first speaks for all."""


@dataclass(frozen=True)  # no slots: what is derived is cached
class History:
    """The turns of a profile's cells that some run does not find right."""

    runs: tuple[StoredRun, ...]
    """The oldest first."""
    turns: Turns

    @cached_property
    def not_right_now(self) -> tuple[Turns, ...]:
        """Since when cells are wrong or refused in the newest run; each is as it is now."""
        now = (turn for turn in self.turns if turn.lasts and turn.newest[0] is self.runs[-1])
        turns = (replace(turn, now=turn.newest[1]) for turn in now)
        return _groups(turn for turn in turns if turn.now.verdict.is_bad)

    @cached_property
    def all_turns(self) -> tuple[Turns, ...]:
        """Every turn but the first question of each cell."""
        return _groups(turn for turn in self.turns if turn.before)

    def to_frame(self) -> pd.DataFrame:
        return frames.frame(self.turns, _FRAME)


def _groups(turns: Iterable[Turn]) -> tuple[Turns, ...]:
    """Return turns by what they have in common; those of the newest run come first."""

    def order(group: Sequence[Turn]) -> tuple[float, bool, int, int]:
        first, began = group[0], group[0].run.info.started.timestamp()
        harm = causes.ORDER.index(first.now.verdict)
        return -began, first.change not in cell_pairs.WORSE, harm, -len(group)

    cells = ((turn, turn.now) for turn in turns)
    groups = grouped(
        ((t.run, t.before, t.differs, t.change, c.verdict, c.symptom, engine(c.cell.reader)), t)
        for t, c in cells
    )
    return tuple(map(tuple, sorted(groups.values(), key=order)))


_FRAME: Final[Mapping[str, FrameColumn[Turn]]] = {
    **frames.of_names(("case",), "cell."),
    **frames.of_names(("scenario",)),
    **frames.of_names(("variant", "step", "reader", "view", "query"), "cell."),
    "run": FrameColumn(frames.WORD, lambda turn: turn.run.name),
    "started": FrameColumn(frames.TIME, lambda turn: turn.run.info.started),
    "before": FrameColumn(frames.WORD, lambda turn: turn.before.name if turn.before else ""),
    "change": FrameColumn(tuple(VerdictChange), lambda turn: turn.change),
    "old_verdict": FrameColumn(tuple(VerdictKind), lambda turn: turn.was and turn.was.verdict),
    "new_verdict": FrameColumn(tuple(VerdictKind), lambda turn: turn.now.verdict),
    "symptom": FrameColumn(frames.WORD, lambda turn: turn.now.symptom),
    "differs": FrameColumn(frames.WORD, lambda turn: "; ".join(turn.differs)),
    "lasts": FrameColumn(frames.FLAG, lambda turn: turn.lasts),
    "last_run": FrameColumn(frames.WORD, lambda turn: turn.newest[0].name),
    "last_verdict": FrameColumn(tuple(VerdictKind), lambda turn: turn.newest[1].verdict),
}


def history_of(
    store: HistoryStore, profile: str = "", *, case: str = "", reader: str = "", scenario: str = ""
) -> History:
    """Return the history of a profile's runs; without a name, of the profile of the newest run.

    `case` is a part of the names of cells; `reader` and `scenario` are patterns of a name that any
    run has. Raises UsageProblem: no run of it is stored.
    """
    stored = store.runs()
    profile = profile or (stored[-1].info.profile if stored else "")
    runs = tuple(run for run in stored if run.info.profile == profile)
    if not runs:
        names = ", ".join(dict.fromkeys(run.info.profile for run in stored)) or "none"
        raise UsageProblem(
            f"{store.path}: no run of the profile {profile} is stored; profiles: {names}"
        )
    turns: dict[SeenCell, Turns] = {}
    for seen in _not_always_right(store, runs, reader or "*", scenario or "*"):
        # Two lines may share their newest cell: it is reported once.
        if case in seen[-1][1].cell.case and seen[-1] not in turns:
            turns[seen[-1]] = _turns(seen)
    return History(runs, tuple(chain(*turns.values())))


def _not_always_right(
    store: HistoryStore, runs: Sequence[StoredRun], reader: str, scenario: str
) -> Iterator[list[SeenCell]]:
    """Yield what the runs say of each cell that some run does not find right.

    The file is read twice, so that what is right in all of them is never held in memory.
    """
    scenarios = [
        {name: info.scenario for name, info in run.info.variants_by_id.items()} for run in runs
    ]
    variants = _lines(runs, scenarios, lambda names: names.variants, scenario)
    # A step has no reader: the empty name. What another engine answers is no turn.
    readers = _lines(
        runs,
        [{name: name for name in ("", *run.info.readers_by_name)} for run in runs],
        lambda names: {k: v for k, v in names.readers.items() if engine(k) == engine(v)},
        reader,
    )

    def cells(at: int, run: StoredRun) -> Iterator[tuple[Hashable, StoredCell]]:
        for stored in store.cells(run):
            cell = stored.cell
            for variant in variants[at].get(cell.variant, ()):
                for line in readers[at].get(cell.reader, ()):
                    yield (variant, line, cell.step, cell.view, cell.query), stored

    seen: dict[Hashable, list[SeenCell]] = {}
    for at, run in enumerate(runs):
        seen |= {key: [] for key, cell in cells(at, run) if cell.verdict != VerdictKind.CORRECT}
    for at, run in enumerate(runs):
        for key, cell in cells(at, run):
            if (earlier := seen.get(key)) is not None:
                same = bool(earlier) and earlier[-1][1] == cell
                earlier.append((run, earlier[-1][1] if same else cell))
    yield from seen.values()


def _lines(
    runs: Sequence[StoredRun],
    names: Sequence[Mapping[str, str]],
    before: Callable[[Correspondence], Mapping[str, str]],
    pattern: str,
) -> list[dict[str, list[tuple[int, str]]]]:
    """Return the lines of names, followed from run to run, that each run's names are in.

    A line has the name of its newest run. `names` has texts, of which the pattern has to match one
    in a line; `before` is how an older run calls what it does not have by its name.
    """

    @cache
    def names_before(older: int, newer: int) -> Mapping[str, str]:
        return before(correspondence(runs[older].info, runs[newer].info))

    lines: list[dict[str, list[tuple[int, str]]]] = [{} for _ in runs]
    for newest in reversed(range(len(runs))):
        for name in [name for name in names[newest] if name not in lines[newest]]:
            line, at = {newest: name}, newest
            for older in reversed(range(newest)):
                now = line[at]
                was = now if now in names[older] else names_before(older, at).get(now)
                if was is not None:
                    line[older], at = was, older
            if any(fnmatchcase(names[run][called], pattern) for run, called in line.items()):
                for run, called in line.items():
                    lines[run].setdefault(called, []).append((newest, name))
    return lines


def _turns(seen: Sequence[SeenCell]) -> Turns:
    """Return the turns of a cell; none where no run knows it, or it is as declared, or open."""
    known = [(run, cell) for run, cell in seen if cell.verdict is not VerdictKind.UNKNOWN]
    if {cell.verdict for _, cell in known} <= {VerdictKind.UNSUPPORTED, VerdictKind.OPEN}:
        return ()
    newest = known[-1]
    scenario = newest[0].info.variant(newest[1].cell.variant).scenario
    turns = [Turn(scenario, *known[0], None, None, VerdictChange.NEW, (), newest)]
    for (before, was), (run, now) in pairwise(known):
        old, new = was.cell, now.cell
        differs = _of_runs(before, run, (old.reader, new.reader), (old.variant, new.variant))
        differs = (*differs, *_of_the_answer(was, now, differs))
        elsewhere = bool(set(now.places.split()) - set(was.places.split()))
        change = cell_pairs.class_of(was.verdict, now.verdict, elsewhere=elsewhere)
        if change not in cell_pairs.AS_BEFORE or not ANOTHER_QUESTION.isdisjoint(differs):
            turns.append(Turn(scenario, run, now, before, was, change, differs, newest))
    return (*turns[:-1], replace(turns[-1], lasts=True))


def _of_the_answer(was: StoredCell, now: StoredCell, shared: Sequence[str]) -> Iterator[str]:
    same_words = engine(was.cell.reader) == engine(now.cell.reader)
    if same_words and was.asked and now.asked and was.asked != now.asked:
        yield OTHER_STATEMENT
    elif OTHER_TEXT not in shared:
        same_answer = bool(was.answered) and was.answered == now.answered
        if same_answer and was.verdict is not now.verdict:
            yield f"judgement of the same answer: {was.verdict} → {now.verdict}"


@lru_cache(100_000)
def _of_runs(
    old: StoredRun, new: StoredRun, readers: tuple[str, str], variants: tuple[str, str]
) -> tuple[str, ...]:
    """Return in what the readers and the tables of a cell in two runs differ."""
    differs = list[str]()
    before, after = readers
    if before != after:
        one, other = parse_reader(before), parse_reader(after)
        if one.settings == other.settings:
            before, after = one.distribution, other.distribution
        differs.append(f"reader {before} → {after}")
    elif after:
        was, now = old.info.reader(before), new.info.reader(after)
        if was.settings != now.settings and NOT_COMPARED not in {was.settings, now.settings}:
            differs.append(f"settings of {after}: {was.settings} → {now.settings}")
        locks = {run.info.locks.get(now.distribution, "") for run in (old, new)}
        if was.fidelity != now.fidelity or len(locks) > 1:
            differs.append(f"make of {after}: {was.fidelity} → {now.fidelity}")
    before, after = variants
    table, table_now = old.info.variant(before), new.info.variant(after)
    settings, settings_now = _settings(table), _settings(table_now)
    made = [f"writer {table.writer} → {table_now.writer}"] * (table.writer != table_now.writer)
    made += [f"settings of the table: {settings} → {settings_now}"] * (settings != settings_now)
    if old.info.scenarios.get(before) != new.info.scenarios.get(after):
        made.append(OTHER_TEXT)
    elif not made and old.written.get(before) != new.written.get(after):
        made.append("how the table is written")
    if old.info.metastore != new.info.metastore:
        made.append(f"metastore {old.info.through} → {new.info.through}")
    if old.info.version != new.info.version:
        made.append(f"harness {old.info.version} → {new.info.version}")
    return (*differs, *made)


def _settings(variant: VariantInfo) -> str:
    return ", ".join(f"{name}={value}" for name, value in variant.settings.items()) or "none"

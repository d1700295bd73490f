"""The runs that are kept: their records, compressed, and an index of their verdicts."""

from __future__ import annotations

import datetime
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from harness.core.atomic_write import atomic_write
from harness.core.errors import UsageProblem
from harness.core.grouping import grouped
from harness.core.records import VerdictKind
from harness.run import history_file, load_run, run_folder, run_info
from harness.run.kept_run import KeptCell, KeptRun, digest_number, packed, unpacked
from harness.run.load_run import WRITE, Run

PIECE: Final = 4_000_000
"""So many bytes of a file of records are compressed at a time."""
RECORDS: Final = (run_info.INFO, load_run.STATES, load_run.ANSWERS, load_run.VERDICTS)

_LINES: Final = """
CREATE TEMP TABLE variant_line (
  run INTEGER, variant INTEGER, line INTEGER, PRIMARY KEY (run, variant, line)
) WITHOUT ROWID;
CREATE TEMP TABLE reader_line (
  run INTEGER, reader INTEGER, line INTEGER, PRIMARY KEY (run, reader, line)
) WITHOUT ROWID;
CREATE TEMP TABLE shown (
  variant INTEGER, reader INTEGER, step INTEGER, view INTEGER, query INTEGER,
  PRIMARY KEY (variant, reader, step, view, query)
) WITHOUT ROWID
"""
_PLACED: Final = """
  FROM cell
  CROSS JOIN variant_line AS v ON v.run = cell.run AND v.variant = cell.variant
  CROSS JOIN reader_line AS r ON r.run = cell.run AND r.reader = cell.reader
"""
_SHOW: Final = f"""
INSERT INTO shown SELECT v.line, r.line, step, view, query {_PLACED}
 GROUP BY 1, 2, 3, 4, 5
HAVING min(verdict) <> max(verdict) OR min(verdict) NOT IN (
  SELECT number FROM name WHERE text IN ('correct', 'unsupported')
)
"""
_CHOSEN: Final = f"""
SELECT v.line, r.line, cell.run, cell.variant, cell.step, cell.reader, cell.view, cell.query,
       cell.verdict, symptom.text, symptom.places, asked, answered {_PLACED}
  CROSS JOIN shown ON shown.variant = v.line AND shown.reader = r.line AND shown.step = cell.step
       AND shown.view = cell.view AND shown.query = cell.query
  CROSS JOIN symptom ON symptom.number = cell.symptom
 ORDER BY v.line, r.line, cell.step, cell.view, cell.query, cell.run
"""

Line = Mapping[int, str]
"""What each run that has it calls a variant or a reader, by the run's number."""


class HistoryStore:
    """The runs of a file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Take a file that is open."""
        self.path, self._connection = path, connection

    def runs(self) -> tuple[KeptRun, ...]:
        """Return every run, the oldest first."""
        rows = self._connection.execute(
            "SELECT number, id, started, info, written FROM run ORDER BY started, number"
        ).fetchall()
        times = Counter(id_ for _, id_, *_ in rows)
        return tuple(
            KeptRun(
                number,
                id_ if times[id_] == 1 else f"{id_}@{started[:19].replace(':', '')}",
                *unpacked(info, written),
            )
            for number, id_, started, info, written in rows
        )

    def run(self, name: str) -> KeptRun:
        """Return the run of that name, or of the only name that begins so.

        Raises:
            UsageProblem: there is none.

        """
        runs = self.runs()
        found = [each for each in runs if each.name == name]
        found = found or [each for each in runs if each.name.startswith(name)]
        if len(found) != 1:
            told = f"{len(found)} runs are kept whose names begin so" if found else "not kept"
            there = ", ".join(each.name for each in found or runs) or "none"
            raise UsageProblem(f"{name}: {told}; {self.path} has: {there}")
        return found[0]

    def add(self, run: Run, cells: Iterable[KeptCell]) -> None:
        """Keep a run; what was kept of it before is replaced."""
        started = run.info.started.astimezone(datetime.UTC).isoformat(timespec="microseconds")
        key = run.info.id, started
        with history_file.changing(self._connection):
            self._remove("SELECT number FROM run WHERE id = ? AND started = ?", key)
            number = self._connection.execute(
                "INSERT INTO run (id, started, profile, info, written) VALUES (?, ?, ?, ?, ?)",
                (*key, run.info.profile, *packed(run)),
            ).lastrowid
            rows = self._rows(number or 0, cells)
            self._connection.executemany(f"INSERT INTO cell VALUES ({', '.join('?' * 10)})", rows)
            pieces = ((number, *each) for each in _pieces(run.folder))
            self._connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?)", pieces)

    def prune(self, keep: int) -> tuple[str, ...]:
        """Remove all but the newest runs of each profile; return the names of those removed."""
        every = grouped((each.info.profile, each) for each in self.runs())
        gone = [each for runs in every.values() for each in runs[: max(len(runs) - keep, 0)]]
        with history_file.changing(self._connection):
            for each in gone:
                self._remove("SELECT ?", (each.number,))
            self._connection.execute(
                "DELETE FROM symptom WHERE number NOT IN (SELECT symptom FROM cell)"
            )
        self._connection.execute("VACUUM")
        return tuple(each.name for each in gone)

    def restore(self, kept: KeptRun, folder: Path) -> None:
        """Write the records of a run into a new folder, which is a run's then.

        Raises:
            UsageProblem: there is something else.

        """
        run_folder.check_new(folder)
        run_folder.make(folder)
        for name in reversed(RECORDS):  # the plan last: without it, it is no run
            found = self._connection.execute(
                "SELECT content FROM record WHERE run = ? AND file = ? ORDER BY piece",
                (kept.number, name),
            )
            with atomic_write(folder / name) as part, part.open("wb") as out:
                out.writelines(zlib.decompress(content) for (content,) in found)

    def counts(self) -> Mapping[int, Counter[VerdictKind]]:
        """Return how many questions of each run have which verdict."""
        found: dict[int, Counter[VerdictKind]] = {}
        for run, text, number in self._connection.execute(
            "SELECT run, (SELECT text FROM name WHERE number = verdict), count(*) FROM cell"
            " WHERE view <> coalesce((SELECT number FROM name WHERE text = ?), 0)"
            " GROUP BY run, verdict",
            (WRITE,),
        ):
            found.setdefault(run, Counter())[VerdictKind(text)] = number
        return found

    def lines(
        self, variants: Sequence[Line], readers: Sequence[Line]
    ) -> Iterator[list[tuple[int, KeptCell]]]:
        """Yield what runs say of each cell that some run does not find right, by number of run.

        What is right in all of them is not read.
        """
        for each in _LINES.split(";"):
            self._connection.execute(each)
        numbers = {text: number for number, text in self._names().items()}
        for table, lines in (("variant_line", variants), ("reader_line", readers)):
            rows = (
                (run, numbers[name], at)
                for at, line in enumerate(lines)
                for run, name in line.items()
                if name in numbers
            )
            self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
        self._connection.execute(_SHOW)
        yield from self._chosen()
        for name in ("variant_line", "reader_line", "shown"):
            self._connection.execute(f"DROP TABLE {name}")

    def _chosen(self) -> Iterator[list[tuple[int, KeptCell]]]:
        names = self._names()
        rows = self._connection.execute(_CHOSEN)
        for _, of in groupby(rows, lambda row: (*row[:2], row[4], *row[6:8])):
            yield list(_line(names, of))

    def _names(self) -> dict[int, str]:
        return dict(self._connection.execute("SELECT number, text FROM name"))

    def _remove(self, which: str, key: tuple[object, ...]) -> None:
        for table, column in (("cell", "run"), ("record", "run"), ("run", "number")):
            self._connection.execute(f"DELETE FROM {table} WHERE {column} IN ({which})", key)

    def _rows(self, run: int, cells: Iterable[KeptCell]) -> Iterator[tuple[int, ...]]:
        names = {text: number for number, text in self._names().items()}

        def named(text: str) -> int:
            if text not in names:
                made = self._connection.execute("INSERT INTO name (text) VALUES (?)", (text,))
                names[text] = made.lastrowid or 0
            return names[text]

        for each in cells:
            words = (each.variant, each.reader, each.view, each.query, str(each.verdict))
            variant, reader, view, query, verdict = map(named, words)
            told = verdict, self._symptom(each), each.asked, each.answered
            yield run, variant, reader, each.step, view, query, *told

    def _symptom(self, cell: KeptCell) -> int:
        places = b"".join(sorted(cell.places))
        number = digest_number(f"{cell.symptom}\0{places.hex()}")
        self._connection.execute(
            "INSERT OR IGNORE INTO symptom VALUES (?, ?, ?)", (number, cell.symptom, places)
        )
        return number


@contextmanager
def opened(path: Path, *, new: bool = False) -> Iterator[HistoryStore]:
    """Open the file that keeps runs; raises as `history_file.opened` does."""
    with history_file.opened(path, new=new) as connection:
        yield HistoryStore(path, connection)


def _pieces(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    for name in RECORDS:
        if (folder / name).exists():
            with (folder / name).open("rb") as content:
                for number, piece in enumerate(iter(lambda: content.read(PIECE), b"")):
                    yield name, number, zlib.compress(piece)


def _line(
    names: Mapping[int, str], rows: Iterable[Sequence[Any]]
) -> Iterator[tuple[int, KeptCell]]:
    """Yield the cells of rows; where nothing changed it is the same object."""
    last, told = None, None
    for row in rows:
        if last is None or row[3:] != told:
            told = row[3:]
            last = _cell(names, told)
        yield row[2], last


def _cell(names: Mapping[int, str], row: Sequence[Any]) -> KeptCell:
    variant, step, reader, view, query, verdict, symptom, places, *digests = row
    at = names[variant], step, names[reader], names[view], names[query]
    each = (places[start : start + 8] for start in range(0, len(places), 8))
    return KeptCell(*at, VerdictKind(names[verdict]), symptom, frozenset(each), *digests)

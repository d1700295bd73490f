"""In what two kept runs differ for one cell: what may have turned it. Pure.

All that differs is told; which of several it was, nobody can say of two runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.run import causes
from harness.run.kept_run import KeptCell, KeptRun
from harness.run.run_info import NOT_COMPARED, ReaderInfo, VariantInfo
from harness.scenario.cells import parse_reader

Seen = tuple[int, KeptCell]
"""A cell as a run saw it, by the run's number."""


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


Differences = tuple[RunDifference, ...]


class DifferenceSearch:
    """The differences of runs; those that many cells share are found once."""

    def __init__(self, runs: Iterable[KeptRun]) -> None:
        """Take every run that is asked about."""
        self._runs = {each.number: each for each in runs}
        infos = {number: each.info for number, each in self._runs.items()}
        self._variants = {at: {v.id: v for v in info.variants} for at, info in infos.items()}
        self._readers = {at: {r.reader: r for r in info.readers} for at, info in infos.items()}
        self._found: dict[tuple[int | str, ...], Differences] = {}

    def between(self, was: Seen, now: Seen) -> Differences:
        """Return in what the later run differs that has a bearing on the cell."""
        (before, old), (after, new) = was, now
        key = before, after, old.variant, new.variant, old.reader, new.reader
        if key not in self._found:
            self._found[key] = tuple(self._shared(was, now))
        if old is new:
            return self._found[key]
        found = (*self._found[key], *self._question(was, now))
        asked_alike = not any(each.another_question for each in found)
        return (*found, *_judgement(was[1], now[1])) if asked_alike else found

    def _shared(self, was: Seen, now: Seen) -> Iterator[RunDifference]:
        before, after = self._runs[was[0]], self._runs[now[0]]
        if now[1].reader:
            yield from self._reader(was, now)
        yield from self._table(was, now)
        if before.info.metastore != after.info.metastore:
            yield RunDifference("metastore", str(before.info.through), str(after.info.through))
        if before.info.version != after.info.version:
            yield RunDifference("harness", before.info.version, after.info.version)

    def _reader(self, was: Seen, now: Seen) -> Iterator[RunDifference]:
        if was[1].reader != now[1].reader:
            yield RunDifference("reader", *_unlike(was[1].reader, now[1].reader))
            return
        old, new = self._info(was), self._info(now)
        told = old.settings, new.settings
        if old.settings != new.settings and NOT_COMPARED not in told:
            yield RunDifference(f"settings of {new.reader}:", *told)
        if (old.fidelity, self._lock(was)) != (new.fidelity, self._lock(now)):
            yield RunDifference(f"make of {new.reader}:", old.fidelity, new.fidelity)

    def _table(self, was: Seen, now: Seen) -> Iterator[RunDifference]:
        (old, a), (new, b) = self._variant(was), self._variant(now)
        changed = False
        for what, before, after in (
            ("writer", a.writer, b.writer),
            ("settings of the table:", _settings(a), _settings(b)),
        ):
            if before != after:
                yield RunDifference(what, before, after)
                changed = True
        if old.info.scenarios.get(a.id) != new.info.scenarios.get(b.id):
            yield RunDifference("text of the scenario", another_question=True)
        elif not changed and old.written.get(a.id) != new.written.get(b.id):
            yield RunDifference("how the table is written")

    def _question(self, was: Seen, now: Seen) -> Iterator[RunDifference]:
        old, new = was[1].asked, now[1].asked
        if old and new and old != new and self._one_engine(was, now):
            yield RunDifference("statement of the question", another_question=True)

    def _variant(self, seen: Seen) -> tuple[KeptRun, VariantInfo]:
        number, cell = seen
        unknown = VariantInfo(cell.variant, "", "", ())
        return self._runs[number], self._variants[number].get(cell.variant, unknown)

    def _info(self, seen: Seen) -> ReaderInfo:
        number, cell = seen
        return self._readers[number].get(cell.reader, ReaderInfo(cell.reader, cell.reader, ""))

    def _lock(self, seen: Seen) -> str:
        return self._runs[seen[0]].info.locks.get(self._info(seen).distribution, "")

    def _one_engine(self, was: Seen, now: Seen) -> bool:
        """Return whether both are asked in the same words: those of one engine."""
        return len({causes.engine(self._info(each).distribution) for each in (was, now)}) == 1


def _judgement(old: KeptCell, new: KeptCell) -> Iterator[RunDifference]:
    """Yield what was judged otherwise although the answer is the same."""
    if old.answered and old.answered == new.answered and old.verdict is not new.verdict:
        yield RunDifference("judgement of the same answer:", str(old.verdict), str(new.verdict))


def _unlike(old: str, new: str) -> tuple[str, str]:
    """Return the names of two readers; where the settings are the same, without them."""
    one, other = parse_reader(old), parse_reader(new)
    return (one.distribution, other.distribution) if one.settings == other.settings else (old, new)


def _settings(variant: VariantInfo) -> str:
    return ", ".join(f"{name}={value}" for name, value in variant.settings.items()) or "none"

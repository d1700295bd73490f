"""In what two stored runs differ for one cell: what may have turned it. Pure.

All that differs is reported; which of several differences it was, nobody can say of two runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.comparison.history_store import StoredCell, StoredRun
from harness.run import causes
from harness.run.run_info import NOT_COMPARED, ReaderInfo, VariantInfo
from harness.scenario.cells import parse_reader


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

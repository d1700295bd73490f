"""What was asked of both sides of a comparison, and what really ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from harness.comparison.result import SideComparison
from harness.core.counting import counted
from harness.reports.sentences import metastore_lines
from harness.run.load_run import Run
from harness.run.run_info import ReaderInfo, RunInfo, VariantInfo

USUAL: Final = "the usual one, in which the tables were written"


@dataclass(frozen=True, slots=True)
class AskedRow:
    """One thing, as each side had it."""

    what: str
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether both sides had it alike."""
        return self.old == self.new


def asked(found: SideComparison) -> tuple[AskedRow, ...]:
    """Return all that was asked, row by row."""
    old, new = _side(found.old.run), _side(found.new.run)
    return tuple(AskedRow(what, was, now) for (what, was), (_, now) in zip(old, new, strict=True))


def _side(run: Run) -> tuple[tuple[str, tuple[str, ...]], ...]:
    info, variants = run.info, _variants(run)
    return (
        ("readers", tuple(map(_reader, info.readers))),
        ("metastore", tuple(metastore_lines(info)) or (USUAL,)),
        ("writers", _each(" then ".join(dict.fromkeys(each.writers)) for each in variants)),
        ("scenarios", _each(each.scenario for each in variants)),
        ("formats", _each(each.format for each in variants)),
        ("tables", (counted(len(variants), "table"),)),
        ("questions", (counted(len(run.verdicts), "question"),)),
        ("run", tuple(_run(info))),
    )


def _variants(run: Run) -> tuple[VariantInfo, ...]:
    names = dict.fromkeys(each.variant for each in run.verdicts)
    return tuple(run.variant(each) for each in names)


def _each(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _reader(info: ReaderInfo) -> str:
    return f"{info.reader} ({info.fidelity}; {info.settings})"


def _run(info: RunInfo) -> Iterator[str]:
    yield f"{info.id}, profile {info.profile}"
    yield f"{info.started:%Y-%m-%d %H:%M}, harness {info.version}"

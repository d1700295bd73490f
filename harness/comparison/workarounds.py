"""What else a cause does not come with, where no setting helps, as the new side itself shows. Pure.

Each is claimed only where the same run has the evidence: of every question of the cause of which it
has any, the answer does not show the cause so, and there is one at least. It may show another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from harness.comparison.cell_pairs import CellPair
from harness.comparison.regressions import Regression
from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind
from harness.run.causes import CauseKey
from harness.run.load_run import Run
from harness.run.run_info import VariantInfo

_ANSWERED: Final = frozenset({VerdictKind.CORRECT, VerdictKind.WRONG})
"""The verdicts that can tell: who refuses shows no cause, and helps nobody."""
READ_OPTIMIZED: Final = "read_optimized"


class Workaround(StrEnum):
    """What can be done where no setting helps."""

    COMPACT = "compact"
    """Compact the table."""
    REWRITE = "rewrite"
    """Rewrite all of its files."""
    COPY_ON_WRITE = "copy-on-write"
    """Have the table as copy-on-write."""
    OTHER_VIEW = "another view"
    """Ask another view of the table, which shows less."""
    OTHER_ENGINE = "another engine"
    """Ask another engine."""


def workarounds(found: Regression, run: Run) -> tuple[Workaround, ...]:
    """Return how none of a cause is met; `run`: that of the new side."""
    asked = [pair for pair in found.pairs if not pair.is_step]
    known = grouped(((each.variant, each.query), each) for each in run.verdicts)
    evidence: Mapping[Workaround, _Evidence] = {
        Workaround.COMPACT: _after("compact"),
        Workaround.REWRITE: _after("touch", rewrites="all"),
        Workaround.COPY_ON_WRITE: _copy_on_write,
        Workaround.OTHER_VIEW: _other_view,
        Workaround.OTHER_ENGINE: _other_engine,
    }
    return tuple(each for each, of in evidence.items() if _helps(of, found.key, asked, known, run))


_Known = Mapping[tuple[str, str], Sequence[Verdict]]
"""The verdicts of a run by variant and query."""
_Evidence = Callable[[Verdict, _Known, Run], Iterator[Verdict]]
"""Yields the verdicts that show what becomes of a cell so."""


def _helps(
    evidence: _Evidence, key: CauseKey, asked: Sequence[CellPair], known: _Known, run: Run
) -> bool:
    found = (each for pair in asked for each in evidence(pair.either, known, run))
    shown = [each for each in found if each.verdict in _ANSWERED]
    kinds = {finding.kind for each in shown for finding in each.findings}
    return bool(shown) and key.finding not in kinds


def _after(operation: str, **settings: str) -> _Evidence:
    """Return what the same question comes to after the next step that does such a thing."""

    def found(verdict: Verdict, known: _Known, run: Run) -> Iterator[Verdict]:
        variant = run.variant(verdict.variant)
        if any(variant.settings.get(name) != value for name, value in settings.items()):
            return
        steps = (each.number for each in variant.steps if each.operation == operation)
        then = next((each for each in steps if each > verdict.step), None)
        for each in known.get((verdict.variant, verdict.query), ()):
            if (each.step, each.view, each.reader) == (then, verdict.view, verdict.reader):
                yield each

    return found


def _copy_on_write(verdict: Verdict, known: _Known, run: Run) -> Iterator[Verdict]:
    mine = run.variant(verdict.variant)
    if mine.format != "hudi-mor" or verdict.view == READ_OPTIMIZED:
        return
    for other in run.info.variants:
        if other.format == "hudi-cow" and _story(other) == _story(mine):
            for each in known.get((other.id, verdict.query), ()):
                if (each.step, each.reader) == (verdict.step, verdict.reader):
                    yield each


def _story(variant: VariantInfo) -> tuple[object, ...]:
    own = tuple(sorted(variant.settings.items()))
    return variant.scenario, own, variant.writers, variant.twin


def _other_view(verdict: Verdict, known: _Known, run: Run) -> Iterator[Verdict]:  # noqa: ARG001 - as the others
    for each in known.get((verdict.variant, verdict.query), ()):
        same = (each.step, each.reader) == (verdict.step, verdict.reader)
        if same and each.view != verdict.view:
            yield each


def _other_engine(verdict: Verdict, known: _Known, run: Run) -> Iterator[Verdict]:
    mine = run.distribution(verdict.reader)
    for each in known.get((verdict.variant, verdict.query), ()):
        same = (each.step, each.view) == (verdict.step, verdict.view)
        if same and run.distribution(each.reader) != mine:
            yield each

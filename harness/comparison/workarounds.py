"""Workarounds other than settings: services, formats, views or engines without the cause. Pure.

Each is claimed only where the same run has the evidence: of every question of the cause of which it
has any, the answer does not show the cause, and there is one at least. It may show another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from harness.comparison.regressions import Regression
from harness.core.grouping import grouped
from harness.core.records import Verdict, VerdictKind
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


def workarounds(cause: Regression, run: Run) -> tuple[Workaround, ...]:
    """Return how none of a cause is met; `run`: that of the new side."""
    known = grouped(((verdict.variant, verdict.query), verdict) for verdict in run.verdicts)
    evidence: Mapping[Workaround, _Evidence] = {
        Workaround.COMPACT: _after("compact"),
        Workaround.REWRITE: _after("touch", rewrites="all"),
        Workaround.COPY_ON_WRITE: _copy_on_write,
        Workaround.OTHER_VIEW: lambda verdict, other, _: (
            _same(verdict, other, "step", "reader") and other.view != verdict.view
        ),
        Workaround.OTHER_ENGINE: lambda verdict, other, run: (
            _same(verdict, other, "step", "view")
            and run.distribution(other.reader) != run.distribution(verdict.reader)
        ),
    }
    return tuple(
        workaround for workaround, shows in evidence.items() if _helps(shows, cause, known, run)
    )


_Known = Mapping[tuple[str, str], Sequence[Verdict]]
"""The verdicts of a run by variant and query."""
_Evidence = Callable[[Verdict, Verdict, Run], bool]
"""Whether the second verdict, on the same query, shows what becomes of the first one so."""


def _helps(shows: _Evidence, cause: Regression, known: _Known, run: Run) -> bool:
    evidence = [
        other
        for verdict in cause.asked
        for variant in _tables(run.variant(verdict.variant), run)
        for other in known.get((variant.id, verdict.query), ())
        if other.verdict in _ANSWERED and shows(verdict, other, run)
    ]
    kinds = {finding.kind for verdict in evidence for finding in verdict.findings}
    return bool(evidence) and cause.key.finding not in kinds


def _tables(variant: VariantInfo, run: Run) -> Iterator[VariantInfo]:
    """Yield a variant, and what is the same but for copy-on-write."""
    yield variant
    if variant.format == "hudi-mor":
        yield from (
            other
            for other in run.info.variants
            if other.format == "hudi-cow" and _story(other) == _story(variant)
        )


def _story(variant: VariantInfo) -> tuple[object, ...]:
    settings = tuple(sorted(variant.settings.items()))
    return variant.scenario, settings, variant.writers, variant.twin


def _same(verdict: Verdict, other: Verdict, *names: str) -> bool:
    """Return whether two verdicts on a variant have the same step, reader or view."""
    return all(getattr(verdict, name) == getattr(other, name) for name in ("variant", *names))


def _after(operation: str, **settings: str) -> _Evidence:
    """Return whether it is the same question after the next step that does such a thing."""

    def shows(verdict: Verdict, other: Verdict, run: Run) -> bool:
        variant = run.variant(verdict.variant)
        if any(variant.settings.get(name) != value for name, value in settings.items()):
            return False
        steps = (step.number for step in variant.steps if step.operation == operation)
        then = next((number for number in steps if number > verdict.step), None)
        return other.step == then and _same(verdict, other, "view", "reader")

    return shows


def _copy_on_write(verdict: Verdict, other: Verdict, run: Run) -> bool:  # noqa: ARG001 - as the others
    return (
        other.variant != verdict.variant
        and verdict.view != READ_OPTIMIZED
        and (other.step, other.reader) == (verdict.step, verdict.reader)
    )

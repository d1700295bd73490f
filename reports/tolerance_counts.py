"""Declared differences that are not errors: which of them a run met, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.core import tolerances
from harness.core.counting import counted
from harness.core.records import Verdict
from harness.core.tolerances import Declaration, Normalised


@dataclass(frozen=True, slots=True)
class ToleranceCount:
    """One declaration of a product, and how often answers needed it."""

    product: str
    name: str
    count: int
    """Of values or columns, as the declaration says."""
    cells: int
    declared: Declaration | None
    """None when it was declared where this was judged and is not any more."""

    @property
    def text(self) -> str:
        """Return it as a clause: `hive sends nested values as text (3 values)`."""
        what = self.declared.what if self.declared else f"was normalised by '{self.name}'"
        return f"{self.product} {what} ({self.amount})"

    @property
    def amount(self) -> str:
        """How many values, or columns."""
        return counted(self.count, self.declared.of.removesuffix("s") if self.declared else "place")


def met(verdicts: Iterable[Verdict]) -> tuple[ToleranceCount, ...]:
    """Return what was met in verdicts, by product and name."""
    counts: Counter[tuple[str, str]] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        product = tolerances.product(verdict.reader)
        for tolerance in verdict.normalised:
            counts[product, tolerance.name] += tolerance.count
            cells[product, tolerance.name] += 1
    return tuple(
        ToleranceCount(
            product, name, count, cells[product, name], tolerances.declared_for(product).get(name)
        )
        for (product, name), count in sorted(counts.items())
    )


def of_cell(reader: str, applied: Iterable[Normalised]) -> tuple[str, ...]:
    """Return what was met in one cell, a clause for each."""
    product = tolerances.product(reader)
    declared = tolerances.declared_for(product)
    return tuple(
        ToleranceCount(
            product, tolerance.name, tolerance.count, 1, declared.get(tolerance.name)
        ).text
        for tolerance in applied
    )

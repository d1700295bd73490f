"""The results of a run as a whole: totals, steps, tolerances that applied, axis pairs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Final

from harness.core import tolerances
from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.core.records import OutcomeKind, Verdict, VerdictKind
from harness.core.tolerances import Declaration, Normalised
from harness.reports.findings import findings_text
from harness.reports.words import refusal_text
from harness.run import run_judge
from harness.run.causes import ORDER
from harness.run.load_run import NOT_COMPARED, NotableStep, Run, VariantInfo
from harness.scenario.cells import Excluded, Pairs, Partly


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
        return counted(self.count, self.declared.of.removesuffix("s") if self.declared else "place")


def tolerance_counts(verdicts: Iterable[Verdict]) -> tuple[ToleranceCount, ...]:
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


def cell_tolerances(reader: str, applied: Iterable[Normalised]) -> tuple[str, ...]:
    """Return what was met in one cell, a clause for each."""
    product = tolerances.product(reader)
    declared = tolerances.declared_for(product)
    return tuple(
        ToleranceCount(
            product, tolerance.name, tolerance.count, 1, declared.get(tolerance.name)
        ).text
        for tolerance in applied
    )


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two axes, and how many variants have each two of their values."""

    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """A value of `down`, and the variants that have it with each of `columns`."""


def covered_pairs(pairs: Sequence[Pairs]) -> str:
    """Return what is covered, over all scenarios; empty where all combinations are variants."""
    if not pairs:
        return ""
    variants, all_of_them = sum(p.variants for p in pairs), sum(p.combinations for p in pairs)
    covered, cannot = sum(p.covered for p in pairs), sum(len(p.cannot) for p in pairs)
    lacking = f"; {cannot:,} more are impossible" if cannot else "; there are no others"
    return (
        f"{variants:,} of {all_of_them:,} possible variants cover all {covered:,} possible pairs "
        f"of axis values in {counted(len(pairs), 'scenario')}{lacking}"
    )


PARTLY: Final = (
    "Readers that are asked about every axis value of a scenario, but not about every pair of them"
)


def partly_asked(readers: Sequence[Partly]) -> tuple[str, ...]:
    """Say about how many variants the readers are asked of which `PARTLY` holds."""
    return tuple(
        f"{partly.reader}: {partly.variants:,} of {counted(partly.of, 'variant')} "
        f"that it can read, {counted(partly.cells, 'cell')}"
        for partly in readers
    )


def impossible_pairs(pairs: Sequence[Pairs]) -> tuple[tuple[Excluded, tuple[str, ...]], ...]:
    """Return each pair that cannot be, with the scenarios in which it cannot."""
    excluded = grouped(
        (pair, of_scenario.scenario) for of_scenario in pairs for pair in of_scenario.cannot
    )
    return tuple((pair, tuple(scenarios)) for pair, scenarios in excluded.items())


def crossings(run: Run) -> tuple[Crossing, ...]:
    """Return a table for every two axes that have several values each; none without pairs."""
    if not run.info.pairs:
        return ()
    variants = [axes_of(variant) for variant in run.info.variants]
    values: dict[str, dict[str, None]] = {}
    for variant in variants:
        for name, value in variant.items():
            values.setdefault(name, {})[value] = None
    names = [name for name, of_axis in values.items() if len(of_axis) > 1]
    return tuple(
        _crossing(two, variants, tuple(values[two[0]]), tuple(values[two[1]]))
        for two in combinations(names, 2)
    )


def _crossing(
    two: tuple[str, str],
    variants: Sequence[Mapping[str, str]],
    down: tuple[str, ...],
    across: tuple[str, ...],
) -> Crossing:
    times = Counter((variant.get(two[0]), variant.get(two[1])) for variant in variants)
    rows = tuple((value, tuple(times[value, other] for other in across)) for value in down)
    return Crossing(*two, across, rows)


def axes_of(variant: VariantInfo) -> Mapping[str, str]:
    """Return axis values of a variant in people's words; sequences are one, whatever the step."""
    table_version = variant.settings.get("table_version", "")
    rest = {k: v for k, v in variant.settings.items() if k != "table_version"}
    writer = " then ".join(name for name, _ in groupby(variant.writers))
    return {
        "writer": f"{writer}{{table_version={table_version}}}" if table_version else writer,
        "format": variant.format,
        "partitioned": "none",
        **rest,
        "types": "twin" if variant.twin else "own",
    }


SHORTEST: Final = 2
"""Neighbours up to so many are named one by one."""

WRONG_STEPS: Final = "Steps after which what the table says of itself is wrong"
"""The head of `wrong_steps`."""


def totals(run: Run) -> Mapping[VerdictKind, int]:
    """Count the cells of each verdict, the worst first."""
    counts = Counter(verdict.verdict for verdict in run.verdicts)
    return {kind: counts[kind] for kind in ORDER}


def readers(run: Run) -> tuple[str, ...]:
    """Return every reader of a run: those planned, and any whose answer was judged."""
    return tuple(dict.fromkeys([*run.readers, *(verdict.reader for verdict in run.verdicts)]))


def settings(run: Run, reader: str) -> str:
    """Say how a reader is set, beside the defaults of its engine."""
    known = run.readers.get(reader)
    return known.settings if known else NOT_COMPARED


def failed_steps(run: Run) -> Iterator[tuple[str, str]]:
    for step in run.failed_steps:
        outcome = step.outcome
        why = outcome.because or str(outcome.kind)
        if outcome.kind is OutcomeKind.REFUSED and outcome.refusal:
            why = f"refused by the writer: {refusal_text(outcome.refusal)}"
        yield _named(step), why


def half_done_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step that was applied although its writer answered with an error, and which."""
    for step in run.half_done_steps:
        if step.outcome.refusal:
            yield _named(step), refusal_text(step.outcome.refusal)


def wrong_steps(run: Run) -> Iterator[tuple[str, str]]:
    """Yield each step since which what the table says of itself is wrong, and how."""
    for verdict in run.step_verdicts:
        if verdict.findings:
            step = run.step(verdict.variant, verdict.step)
            yield f"{verdict.variant}, step {step.number} '{step.text}'", findings_text(verdict)


def _named(step: NotableStep) -> str:
    return f"{step.variant}, step {step.step.number} '{step.step.text}'"


def flaky(run: Run) -> tuple[str, ...]:
    """Return the cases that were answered only when asked again."""
    return run_judge.late(run)


def explained(run: Run) -> str:
    """Return how often a read strategy is named for a wrong answer; empty when none is wrong."""
    wrong = [verdict for verdict in run.verdicts if verdict.verdict is VerdictKind.WRONG]
    claimed = sum(bool(verdict.claimed) for verdict in wrong)
    counts = Counter(min(len(verdict.reproduces), 2) for verdict in wrong)
    small = counts[1] - claimed
    unproven = f"one fits {small:,} so small (a count, or no rows) that it proves nothing"
    parts = (
        f"exactly one read strategy explains {claimed:,}, and is named",
        f"several explain {counts[2]:,}, so none is claimed",
        *([unproven] if small else ()),
        f"none of those tried explains {counts[0]:,}",
    )
    return f"Of {counted(len(wrong), 'wrong answer')}, {'; '.join(parts)}." if wrong else ""


def numbers(steps: Sequence[int]) -> str:
    """Name steps, neighbours as a range.

    >>> numbers([1, 2, 4, 5, 6])
    'steps 1, 2, 4-6'
    """
    runs: list[list[int]] = []
    for step in steps:
        if runs and runs[-1][-1] == step - 1:
            runs[-1].append(step)
        else:
            runs.append([step])
    return f"step{'s' if len(steps) > 1 else ''} {', '.join(map(_range, runs))}"


def _range(run: Sequence[int]) -> str:
    return f"{run[0]}-{run[-1]}" if len(run) > SHORTEST else ", ".join(map(str, run))

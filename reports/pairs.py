"""Which pairs of axis values a run covers: in one line, as tables, and reader by reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Final

from harness.core.counting import counted
from harness.core.grouping import grouped
from harness.run.load_run import Run
from harness.run.run_info import VariantInfo
from harness.scenario.cells import Excluded, Pairs, Partly


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two axes, and how many variants have each two of their values."""

    down: str
    across: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """A value of `down`, and the variants that have it with each of `columns`."""


def said(pairs: Sequence[Pairs]) -> str:
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


def asked(readers: Sequence[Partly]) -> tuple[str, ...]:
    """Say about how many variants the readers are asked of which `PARTLY` holds."""
    return tuple(
        f"{partly.reader}: {partly.variants:,} of {counted(partly.of, 'variant')} "
        f"that it can read, {counted(partly.cells, 'cell')}"
        for partly in readers
    )


def impossible(pairs: Sequence[Pairs]) -> tuple[tuple[Excluded, tuple[str, ...]], ...]:
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

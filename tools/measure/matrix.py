"""A run in two Markdown tables: each scenario by each reader, and each reader by what it got wrong.

    python tools/measure/matrix.py RUN > docs/results/full.md

For runs that are too large to be looked at cell by cell; the report page has every cell.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness.core.records import FindingKind, VerdictKind
from harness.run import load_run
from tools.markdown_table import table

MARKS = {
    VerdictKind.WRONG: "≠",
    VerdictKind.REFUSED: "!",
    VerdictKind.UNKNOWN: "?",
    VerdictKind.UNSUPPORTED: "-",
}


def short(readers: tuple[str, ...]) -> Mapping[str, str]:
    """Return each reader a short name, unlike any other's: the engine and a number."""
    names: dict[str, str] = {}
    for reader in readers:
        engine = reader.partition("-")[0]
        number = sum(name.rstrip("0123456789") == engine for name in names.values()) + 1
        names[reader] = f"{engine}{number}"
    return names


def counts(verdicts: pd.Series[str]) -> str:
    """Return how many of some verdicts are what; all correct is a tick."""
    if verdicts.empty:
        return ""
    found = verdicts.value_counts()
    marked = [f"{mark} {found[kind]}" for kind, mark in MARKS.items() if found.get(kind)]
    return " ".join(marked) or "✓"


def by_scenario(
    frame: pd.DataFrame, names: Mapping[str, str], undone: Mapping[str, int]
) -> Iterator[str]:
    """Yield each scenario by each reader; `undone`: how many of its steps were not applied.

    They stand beside the ticks, which say nothing of cells that could not be asked.
    """
    rows = []
    for scenario in sorted({*frame.scenario, *undone}):
        of = frame[frame.scenario == scenario]
        verdicts = (counts(of.verdict[of.reader == reader]) for reader in names)
        rows.append([scenario, *verdicts, str(undone.get(scenario) or "")])
    yield from table(["scenario", *names.values(), "steps not applied"], rows)


def not_applied(found: load_run.Run) -> Mapping[str, int]:
    """Count each scenario's steps that the writer refused, or that were left out after one."""
    return Counter(found.variant(each.variant).scenario for each in found.failed_steps)


def by_reader(frame: pd.DataFrame, names: Mapping[str, str]) -> Iterator[str]:
    """Yield what each reader got wrong; an answer counts under each of its findings."""
    kinds = [str(each) for each in FindingKind]
    rows = []
    for reader, name in names.items():
        of = frame[frame.reader == reader]
        found = of.findings[of.verdict == VerdictKind.WRONG].str.split(", ").explode()
        tally = [*found.value_counts().reindex(kinds).fillna(0), *_verdicts(of)]
        rows.append([name, f"`{reader}`", str(len(of)), *(f"{int(n)}" if n else "" for n in tally)])
    yield from table(["", "reader", "cells", *kinds, *map(str, VerdictKind)], rows)


def _verdicts(of: pd.DataFrame) -> list[int]:
    return [int((of.verdict == kind).sum()) for kind in VerdictKind]


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    found = load_run.load(parser.parse_args().run.resolve())
    frame, names = found.to_frame(), short(tuple(each.reader for each in found.info.readers))
    scenarios = by_scenario(frame, names, not_applied(found))
    print("\n".join([*scenarios, "", *by_reader(frame, names)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""A run in two Markdown tables: each scenario by each reader, and each reader by what it got wrong.

    python tools/measure/matrix.py RUN > docs/results/full.md

With `--tables` there is a row for each scenario, format and writer.

For runs that are too large to be looked at cell by cell; the report page has every cell.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools` and `tests`

from harness.core.records import FindingKind, VerdictKind
from harness.run import load_run
from tools.markdown_table import table

RowOf = Callable[[str], tuple[str, ...]]
"""What a variant's row is called."""
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


def rows_of(found: load_run.Run, *, tables: bool = False) -> RowOf:
    """Return what names a variant's row: its scenario, with `tables` format and writers too."""

    def row_of(name: str) -> tuple[str, ...]:
        of = found.variant(name)
        return (of.scenario, of.format, ", ".join(dict.fromkeys(of.writers)))[
            : None if tables else 1
        ]

    return row_of


def by_variants(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    undone: Mapping[tuple[str, ...], int],
    row_of: RowOf,
) -> Iterator[str]:
    """Yield each row's variants by each reader; `undone`: how many of its steps were not applied.

    They stand beside the ticks, which say nothing of cells that could not be asked.
    """
    rows, label = [], frame.variant.map(row_of)
    for row in sorted({*label, *undone}):
        of = frame[label == row]
        verdicts = (counts(of.verdict[of.reader == reader]) for reader in names)
        rows.append([*row, *verdicts, str(undone.get(row) or "")])
    heads = ["scenario", "format", "writer"][: len(rows[0]) - len(names) - 1]
    yield from table([*heads, *names.values(), "steps not applied"], rows)


def not_applied(found: load_run.Run, row_of: RowOf) -> Mapping[tuple[str, ...], int]:
    """Count each row's steps that the writer refused, or that were left out after one."""
    return Counter(row_of(each.variant) for each in found.failed_steps)


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
    parser.add_argument("--tables", action="store_true", help="a row for each format and writer")
    asked = parser.parse_args()
    found = load_run.load(asked.run.resolve())
    row_of = rows_of(found, tables=asked.tables)
    frame, names = found.to_frame(), short(tuple(each.reader for each in found.info.readers))
    variants = by_variants(frame, names, not_applied(found, row_of), row_of)
    print("\n".join([*variants, "", *by_reader(frame, names)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

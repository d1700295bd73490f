"""Runs in one Markdown table for each format: operations by readers, with all cells of these runs.

    python tools/measure/operations.py RUN ... > docs/results/operations.md

A place of a table has the cells that a reader was asked right after an operation was applied, of
every scenario, writer, setting and view: a tick where all are correct, else how many are what. A
reader's settings are taken together, so that a setting that reads by position stands there too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `tools`

from harness.core.records import VerdictKind
from harness.plan import controls
from harness.run import load_run
from harness.run.load_run import WRITE, Run
from tools.markdown_table import table
from tools.measure.matrix import counts

KEPT = ["format", "operation", "reader", "verdict"]


def main() -> None:
    """Print the tables of some runs."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("runs", type=Path, nargs="+", help="the folders of judged runs")
    runs = [cells(load_run.load(each.resolve())) for each in options.parse_args().runs]
    print("\n".join(page(pd.concat(runs, ignore_index=True))))


def cells(run: Run) -> pd.DataFrame:
    """Return what readers answered in a run after steps that were applied; no control's cells."""
    frame = run.to_frame()
    undone = {(each.variant, each.step) for each in run.failed_steps}
    places = zip(frame.variant, frame.step, strict=True)
    applied = pd.Series([each not in undone for each in places], frame.index)
    asked = applied & (frame.view != WRITE) & (frame.scenario != controls.SCENARIO)
    readers = frame.reader.astype(str).str.partition("{")[0]
    found: pd.DataFrame = frame.assign(reader=readers).loc[asked, KEPT].astype(str)
    return found


def page(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a table for each format, and before it how many cells there are."""
    for name, of in frame.groupby("format", sort=True):
        yield from (f"## {name}", "", f"{len(of):,} cells.", "", *of_format(of), "")


def of_format(frame: pd.DataFrame) -> Iterator[str]:
    """Yield a row for each operation, with a place for each reader."""
    readers, operations = sorted(set(frame.reader)), sorted(set(frame.operation))
    rows = [[f"`{each}`", *_places(frame[frame.operation == each], readers)] for each in operations]
    return table(["operation", *(f"`{each}`" for each in readers)], rows)


def _places(frame: pd.DataFrame, readers: Sequence[str]) -> Iterator[str]:
    for reader in readers:
        found = frame.verdict[frame.reader == reader]
        right = int((found == VerdictKind.CORRECT).sum())
        told = counts(found)
        yield f"{told} of {len(found):,}" if told and right < len(found) else told


if __name__ == "__main__":
    main()

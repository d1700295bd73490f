"""Which files hold a row now: what a reader that merges them all comes across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import slices
from harness.model.simulation.written_columns import columns_step
from harness.model.truth import History


def lying(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """Return for each key's text the steps whose columns the files of its newest slices have.

    Raises:
        LayoutError: a file's instant was made by no step.

    """
    found: dict[str, tuple[int, ...]] = {}
    prefix = f"{history[0].table.key}:"
    for base, logs in slices(files, steps):
        for fact in (*((base,) if base else ()), *logs):
            for key in fact.keys:
                text = key.removeprefix(prefix)
                found[text] = (*found.get(text, ()), columns_step(history, fact, steps))
    return found

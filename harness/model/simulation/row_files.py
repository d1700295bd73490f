"""Which files hold a row now: what a reader that merges them all comes across."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.model import partition_paths
from harness.model.file_facts import FileFact
from harness.model.simulation.column_resolution import columns_step, slices
from harness.model.truth import History


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file that holds a row."""

    step: int
    """The step whose columns it has."""
    file: FileFact

    def stored_as(self, path: str) -> frozenset[str]:
        """Return what the file, or the name of its folder, may call a column or a part of one.

        A physical name that a table with column mapping gave stands in the place of the column's
        own (Delta transaction log protocol, "Column Mapping").
        """
        if not self.file.stored_names:
            return frozenset({path})
        head, dot, rest = path.partition(".")
        names = (name for name, _ in self.file.columns)
        stored = dict(zip(names, self.file.stored_names, strict=True)).get(head)
        if stored is not None:
            return frozenset({f"{stored}{dot}{rest}"})
        levels = partition_paths.folder_of(self.file.path).split("/")
        return frozenset(partition_paths.unescaped(level.partition("=")[0]) for level in levels)


def lying(
    history: History, files: Sequence[FileFact], steps: Mapping[str, int]
) -> dict[str, tuple[RowFile, ...]]:
    """Return for each key's text the files of its newest slices that hold it.

    Raises:
        LayoutError: a file's instant was made by no step.

    """
    result: dict[str, tuple[RowFile, ...]] = {}
    prefix = f"{history[0].table.key}:"
    for base, logs in slices(files, steps):
        for fact in (*((base,) if base else ()), *logs):
            own = RowFile(columns_step(history, fact, steps), fact)
            for key in fact.keys:
                text = key.removeprefix(prefix)
                result[text] = (*result.get(text, ()), own)
    return result

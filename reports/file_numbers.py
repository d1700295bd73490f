"""The files of a table state, numbered so that sentences and lists can speak of them shortly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.model.file_facts import FileFact


@dataclass(frozen=True, slots=True)
class NumberedFiles:
    """Files, the oldest first: the place of each is its number."""

    facts: tuple[FileFact, ...]

    def name(self, fact: FileFact | None) -> str:
        """Return what a file is called; nothing for one that is not among them."""
        same = (f"#{at}" for at, numbered in enumerate(self.facts, start=1) if numbered is fact)
        return next(same, "")

    def names(self, path: str) -> str:
        """Return what a path is called; a log file has a number for each of its blocks."""
        return " or ".join(self.name(fact) for fact in self.facts if fact.path == path)


def number_files(files: Sequence[FileFact], steps: Mapping[str, int]) -> NumberedFiles:
    """Number files by the step that made their instant, then by file group."""
    order = sorted(files, key=lambda fact: (steps.get(fact.instant, 0), fact.file_group))
    return NumberedFiles(tuple(order))

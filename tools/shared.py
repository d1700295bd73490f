"""What several programs need: a cache that shares the engines of the usual one; Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.cache import Cache

SHARED: Final = ("artifacts", "jre", "unpacked")


@dataclass(frozen=True, slots=True)
class Cost:
    seconds: float
    cpu: float
    """Of all processes together."""

    def times(self, other: Cost) -> str:
        ratios = self.seconds / other.seconds, self.cpu / other.cpu
        return "{:.2f} times as long ({:.2f} by processor seconds)".format(*ratios)


def with_engines(cache: Path) -> Path:
    """Make a cache with its own table states and answers, or what is missing of it; return it."""
    Cache(cache).claim()
    for name in SHARED:
        with suppress(FileExistsError):
            (cache / name).symlink_to(Cache.default().root / name)
    return cache


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"


def crossed(head: str, cells: Mapping[tuple[str, str], str], columns: Iterable[str]) -> str:
    """Return a table of what stands at rows and columns, the rows in the order of their names."""
    names = list(columns)
    rows = sorted({row for row, _ in cells})
    texts = ((f"`{row}`", *(cells.get((row, name), "") for name in names)) for row in rows)
    return "\n".join(table((head, *(f"`{name}`" for name in names)), texts))

"""Adding to a file of records: each is there as soon as it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import naming
from harness.record import Record, dump


@contextmanager
def adding(path: Path) -> Iterator[Callable[[Iterable[Record]], None]]:
    """Give what adds records to a file; a failure to write them names it."""
    with naming(path):
        lines = path.open("a", encoding="utf-8")

    def add(records: Iterable[Record]) -> None:
        with naming(path):
            lines.writelines(dump(record) + "\n" for record in records)
            lines.flush()

    try:
        yield add
    finally:
        with naming(path):  # what could not be written is tried once more
            lines.close()

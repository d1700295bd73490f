"""Records as they lie on disk: a line of JSON for each.

A whole file is complete or not there; one that is added to has each record as soon as it has come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from pydantic import TypeAdapter

from harness.core.atomic_write import atomic_write
from harness.core.counting import counted
from harness.core.errors import naming
from harness.core.records import Answer, Part, StateRecord, Verdict

Record = TypeVar("Record", StateRecord, Answer, Verdict)

_ADAPTERS: Final[dict[type, TypeAdapter[object]]] = {
    kind: TypeAdapter(kind) for kind in (StateRecord, Answer, Verdict)
}


def dump(record: Record) -> str:
    """Return the one line of JSON that holds a record."""
    return _ADAPTERS[type(record)].dump_json(record, by_alias=True).decode()


def parse(kind: type[Record], line: str | bytes) -> Record:
    """Read back a record.

    Raises:
        ValueError: the line is not such a record, or an answer that contradicts itself.

    """
    record = _ADAPTERS[kind].validate_json(line)
    if isinstance(record, Answer):
        _check_table(record.case, record)
        for part in record.parts:
            _check_table(f"{record.case}, {part.column} asked alone", part)
    return record  # type: ignore[return-value]


def _check_table(where: str, answer: Answer | Part) -> None:
    """Refuse rows that are not of the columns, and texts of cells that are not there."""
    width, height = len(answer.columns), len(answer.rows)
    for number, row in enumerate(answer.rows, start=1):
        if len(row) != width:
            widths = f"{counted(len(row), 'value')} for {counted(width, 'column')}"
            raise ValueError(f"{where}: row {number} has {widths}")
    for row_at, column, _ in answer.raw:
        if not (0 <= row_at < height and 0 <= column < width):
            raise ValueError(f"{where}: raw names a cell that is not there, {row_at}, {column}")


def write_all(path: Path, records: Iterable[Record]) -> None:
    """Write records to a file, complete or not at all."""
    with atomic_write(path) as part, part.open("w", encoding="utf-8") as lines:
        lines.writelines(dump(record) + "\n" for record in records)


def _not_known(_line: bytes) -> None:
    """Return nothing: each line is read."""


def read_all(
    path: Path, kind: type[Record], known: Callable[[bytes], Record | None] = _not_known
) -> Iterator[Record]:
    """Read the records of a file; a last line cut off by a death is left out.

    `known`: returns the record of a line that need not be read.
    """
    if not path.exists():
        return
    # As bytes: the cut may go through a character.
    with path.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield known(line) or parse(kind, line)


@contextmanager
def adding(path: Path) -> Iterator[Callable[[Iterable[Record]], None]]:
    """Yield what adds records to a file; a failure to write them names it."""
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

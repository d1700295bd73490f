"""Records as they lie on disk: a line of JSON for each.

A run may have a million cells, and few of their answers are looked at after they were judged: a
`RecordFile` finds in one pass where each record lies, and reads one when it is asked for.
"""

import json
import os
import re
import sys
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, overload

from pydantic import TypeAdapter

from harness.core.atomic_write import atomic_write, naming
from harness.core.records import Answer, Part, StateRecord, Verdict
from harness.core.texts import counted

Record = TypeVar("Record", StateRecord, Answer, Verdict)

_ADAPTERS: Final[dict[type, TypeAdapter[object]]] = {
    kind: TypeAdapter(kind) for kind in (StateRecord, Answer, Verdict)
}


def dump(record: Record) -> str:
    return _ADAPTERS[type(record)].dump_json(record, by_alias=True).decode()


def parse(kind: type[Record], line: str | bytes) -> Record:
    """Read back a record; ValueError: it is none, or contradicts itself."""
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
    with writing(path) as write:
        for record in records:
            write(record)


@contextmanager
def writing(path: Path) -> Iterator[Callable[[Record], None]]:
    """Yield what writes a record to a file, which is there only when all are."""
    with atomic_write(path) as part, part.open("w", encoding="utf-8") as lines:

        def write(record: Record) -> None:
            lines.write(dump(record) + "\n")

        yield write


def read_all(
    path: Path, kind: type[Record], known: Callable[[bytes], Record | None] = lambda _: None
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


CACHED_RECORDS: Final[Mapping[type, int]] = {StateRecord: 4_000, Answer: 20_000, Verdict: 20_000}
"""So many of the records read last are kept: all of a small run, and some 150 MB of a big one."""
_BLOCK: Final = 1 << 20
_NAME: Final = re.compile(rb'\{"case":("(?:[^"\\]|\\.)*")')

Key = TypeVar("Key")
Value = TypeVar("Value")


def case_of(line: bytes) -> str:
    """Return the case that a line is about, of which no more is read; empty if not as we write."""
    head = _NAME.match(line)
    return sys.intern(json.loads(head[1])) if head else ""  # verdicts have the same as answers


class RecordFile(Sequence[Record]):
    """The whole lines of a file as it is now: what is added later is not in it."""

    def __init__(
        self, path: Path, kind: type[Record], failed: Callable[[int, ValueError], Exception]
    ) -> None:
        """Find the lines; `failed` returns what to raise for one that is no record, by number."""
        self._kind: type[Record] = kind
        self._failed = failed
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if path.exists() else -1
        if self._file >= 0:
            # It stays open: another file may come to be where this one was.
            weakref.finalize(self, os.close, self._file)
        self._starts = array("Q", _starts(self._file))
        self._cached: Callable[[int], Record] = lru_cache(maxsize=CACHED_RECORDS[kind])(self._read)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Record]: ...

    def __getitem__(self, at: int | slice) -> Record | Sequence[Record]:
        if isinstance(at, slice):
            return tuple(map(self._cached, range(len(self))[at]))
        return self._cached(range(len(self))[at])

    def cases(self) -> Iterator[str]:
        for at in range(len(self)):
            # One that is not as we write it is read to see whether it is a record.
            yield case_of(self.line(at)) or getattr(self[at], "case", "")

    def copy(self, path: Path, cases: Iterable[str]) -> None:
        """Copy the last record of each of these cases to a file, which may be this one."""
        at = {case: number for number, case in enumerate(self.cases())}
        with atomic_write(path) as part, part.open("wb") as out:
            out.writelines(self.line(at[case]) for case in cases if case in at)

    def containing(self, text: bytes) -> Iterator[Record]:
        return (self[at] for at in range(len(self)) if text in self.line(at))

    def line(self, at: int) -> bytes:
        start, end = self._starts[at], self._starts[at + 1]
        return os.pread(self._file, end - start, start)

    def _read(self, at: int) -> Record:
        try:
            return parse(self._kind, self.line(at))
        except ValueError as problem:
            raise self._failed(at + 1, problem) from problem


def _starts(file: int) -> Iterator[int]:
    """Yield where each whole line begins, and where the last one ends."""
    yield 0
    at = 0
    while file >= 0 and (block := os.pread(file, _BLOCK, at)):
        yield from (at + newline.end() for newline in re.finditer(b"\n", block))
        at += len(block)


class ByKey(Mapping[Key, Value], Generic[Key, Value]):
    """The records of a sequence by their keys; the last one of a key counts."""

    def __init__(self, records: Sequence[Value], keys: Callable[[], Iterable[Key]]) -> None:
        """`keys`: gives one for each of the records; it is not called before a key is asked for."""
        self.records = records
        self._keys = keys

    @cached_property
    def number_of(self) -> Mapping[Key, int]:
        return {key: at for at, key in enumerate(self._keys())}

    def __getitem__(self, key: Key) -> Value:
        return self.records[self.number_of[key]]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.number_of)

    def __len__(self) -> int:
        return len(self.number_of)

    def __contains__(self, key: object) -> bool:
        return key in self.number_of


MANY_CELLS: Final = 20_000
"""Of more cells than these, what is read and judged is made to take less memory."""


def sharing(cells: int) -> Callable[[Verdict], Verdict]:
    """Return what makes so many verdicts smaller, where they are many: that takes time."""
    return VerdictParts() if cells > MANY_CELLS else lambda verdict: verdict


class VerdictParts:
    """Verdicts that share what a variant's have in common, so that a million fit into memory."""

    def __init__(self) -> None:
        self._variant = ""
        self._values: dict[str, Any] = {}

    def __call__(self, verdict: Verdict) -> Verdict:
        if verdict.variant != self._variant:
            self._variant = verdict.variant
            self._values.clear()
        return replace(verdict, **self._fields(verdict))

    def _fields(self, record: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
        return {field.name: self._shared(getattr(record, field.name)) for field in fields(record)}

    def _shared(self, value: Any) -> Any:  # noqa: ANN401 - what a field holds
        if type(value) is str:
            return sys.intern(value)
        if is_dataclass(value) and not isinstance(value, type):
            value = replace(value, **self._fields(value))
        elif isinstance(value, tuple) and any(is_dataclass(v) or type(v) is tuple for v in value):
            value = tuple(map(self._shared, value))
        # By its text: equal numbers of several types are values of their own.
        return self._values.setdefault(repr(value), value)

"""A file of records that stays on disk: a record is read when it is asked for.

A run may have a million cells, and few of their answers are looked at after they were judged. Where
a record lies is found out in one pass; those read last are kept.
"""

from __future__ import annotations

import json
import os
import re
import sys
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, Generic, TypeVar, overload

from harness.core import jsonl
from harness.core.atomic_write import atomic_write
from harness.core.jsonl import Record
from harness.core.records import Answer, Expected, Finding, StateRecord, Verdict

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
        """Find the lines; `path` may be missing.

        Args:
            path: the file.
            kind: what its lines hold.
            failed: returns what to raise for a line that is no such record, by its number.

        """
        self._kind: type[Record] = kind
        self._failed = failed
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if path.exists() else -1
        if self._file >= 0:
            # It stays open: another file may come to be where this one was.
            weakref.finalize(self, os.close, self._file)
        self._starts = array("Q", _starts(self._file))
        self._cached: Callable[[int], Record] = lru_cache(maxsize=CACHED_RECORDS[kind])(self._read)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> Record: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Record]: ...

    def __getitem__(self, at: int | slice) -> Record | Sequence[Record]:
        """Return a record, or some; raise what `failed` gives for a line that is none."""
        if isinstance(at, slice):
            return tuple(map(self._cached, range(len(self))[at]))
        return self._cached(range(len(self))[at])

    def cases(self) -> Iterator[str]:
        """Yield the case of each record, of which no more is read."""
        for at in range(len(self)):
            # One that is not as we write it is read to see whether it is a record.
            yield case_of(self.line(at)) or getattr(self[at], "case", "")

    def copy(self, path: Path, cases: Iterable[str]) -> None:
        """Write the records of these cases to a file, the last of each; complete or not at all.

        Their lines are copied, and may be those of the same file.
        """
        at = {case: number for number, case in enumerate(self.cases())}
        with atomic_write(path) as part, part.open("wb") as out:
            out.writelines(self.line(at[case]) for case in cases if case in at)

    def containing(self, text: bytes) -> Iterator[Record]:
        """Yield the records whose lines have a text in them; the others are not read."""
        return (self[at] for at in range(len(self)) if text in self.line(at))

    def line(self, at: int) -> bytes:
        """Return the line of a record, which is not read."""
        start, end = self._starts[at], self._starts[at + 1]
        return os.pread(self._file, end - start, start)

    def _read(self, at: int) -> Record:
        try:
            return jsonl.parse(self._kind, self.line(at))
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
        """The number of the record of each key."""
        return {key: at for at, key in enumerate(self._keys())}

    def __getitem__(self, key: Key) -> Value:
        """Return the record of a key."""
        return self.records[self.number_of[key]]

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys."""
        return iter(self.number_of)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self.number_of)

    def __contains__(self, key: object) -> bool:
        """Return whether there is a record of a key, which is not read."""
        return key in self.number_of


Shared = TypeVar("Shared")


class VerdictParts:
    """Verdicts with what they have in common held once; those of a variant come after each other.

    Of a million verdicts nothing else would fit into memory. Only what one variant has is shared:
    tables of several are seldom alike, and what is looked up stays small.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._variant = ""
        self._values: dict[str, object] = {}

    def __call__(self, verdict: Verdict) -> Verdict:
        """Return the same verdict."""
        if verdict.variant != self._variant:
            self._variant = verdict.variant
            self._values.clear()
        return replace(
            verdict,
            case=sys.intern(verdict.case),
            scenario=sys.intern(verdict.scenario),
            variant=sys.intern(verdict.variant),
            reader=sys.intern(verdict.reader),
            query=sys.intern(verdict.query),
            because=sys.intern(verdict.because),
            sql=self._one(verdict.sql),
            findings=self._all_of(verdict.findings),
            reproduces=self._one(verdict.reproduces),
            expected=self._table(verdict.expected),
            normalised=self._one(verdict.normalised),
        )

    def _one(self, value: Shared) -> Shared:
        # By its text: equal numbers of several types are values of their own.
        return self._values.setdefault(repr(value), value)  # type: ignore[return-value]

    def _all_of(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return self._one(tuple(map(self._finding, findings)))

    def _finding(self, finding: Finding) -> Finding:
        witnesses = tuple(map(self._one, finding.places))
        columns, witness = self._one(finding.columns), self._one(finding.witness)
        return self._one(replace(finding, columns=columns, witness=witness, places=witnesses))

    def _table(self, table: Expected | None) -> Expected | None:
        if table is None:
            return None
        rows = tuple(map(self._one, table.rows))
        return self._one(replace(table, columns=self._one(table.columns), rows=rows))

"""Questions about tables of a version that their reader is declared not to know: one is sent first.

Of each reader, format and version the first question is the probe. Where the server refuses it, the
others are not sent and their answers name it; where it gives rows, all are sent. Where it gives no
answer at all, the next one is the probe. A refusal or rows that were kept count like new ones.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.artifacts import declared_support
from harness.core.records import Answer
from harness.read.questions import Asked

Pair = tuple[str, str, str]
"""A reader, a format, and a table version that it is declared not to know."""
ANSWERED = ""
"""Stands for the case of a refused probe where one was answered."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """What became of questions that wait to be sent."""

    due: list[Asked] = field(default_factory=list)
    held: list[Asked] = field(default_factory=list)
    """Those that wait for what becomes of a probe."""
    spared: list[Answer] = field(default_factory=list)
    """The answers to those that are not sent."""


@dataclass(frozen=True, slots=True)
class Probes:
    """What became of the probes of a run; for several threads."""

    _found: dict[Pair, str] = field(default_factory=dict)
    """The case of the refused probe, or `ANSWERED`."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def told(self, asked: Asked, answer: Answer) -> None:
        """Take the answer to any question; of a pair the first one that tells stands."""
        answered = answer.has_rows
        if (pair := _pair(asked)) and (answered or answer.refusal):
            case = ANSWERED if answered else answer.case
            with self._lock:
                self._found.setdefault(pair, case)

    def sift(self, waiting: Sequence[Asked]) -> Sifted:
        """Return which questions are to be sent now; no probe may be under way."""
        sifted, probes = Sifted(), set[Pair]()
        with self._lock:
            found = dict(self._found)
        for each in waiting:
            pair = _pair(each)
            case = found.get(pair) if pair else None
            if case:
                sifted.spared.append(_spared(each, case))
            elif pair in probes:
                sifted.held.append(each)
            else:
                sifted.due.append(each)
                if pair and case is None:
                    probes.add(pair)
        return sifted


def _pair(asked: Asked) -> Pair | None:
    reader, version = str(asked.reader), asked.state.frozen.table_version
    family = asked.question.format.family
    told = declared_support.declared(reader, family, version)
    return (reader, asked.question.format.name, version) if told else None


def _spared(asked: Asked, probe: str) -> Answer:
    why = f"it was not sent, for the server refused {probe}"
    return Answer(asked.cell.case, "", question=asked.question.query, void=why, probe=probe)

"""Questions about tables of a version that their reader is declared not to know: one is sent first.

Of each reader, format and version the first question is the probe. Where the server refuses it, the
others are not sent and their answers name it; where it gives rows, all are sent. Where it gives no
answer at all, the next one is the probe. A refusal or rows that were kept count like new ones.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.artifacts import distributions
from harness.core.records import Answer
from harness.read.questions import CellQuestion

ProbeKey = tuple[str, str, str]
"""A reader, a format, and a table version that it is declared not to know."""
ANSWERED = ""
"""Stands for the case of a refused probe where one was answered."""


@dataclass(frozen=True, slots=True)
class ProbeDecision:
    """Which of the waiting questions are sent, and which are not."""

    due: list[CellQuestion] = field(default_factory=list)
    waiting: list[CellQuestion] = field(default_factory=list)
    """Those that wait until the answer to a probe is there."""
    unsent: list[Answer] = field(default_factory=list)
    """The answers to those that are not sent."""


@dataclass(frozen=True, slots=True)
class Probes:
    """What became of the probes of a run; for several threads."""

    _outcomes: dict[ProbeKey, str] = field(default_factory=dict)
    """The case of the refused probe, or `ANSWERED`."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, question: CellQuestion, answer: Answer) -> None:
        """Note the answer to any question; the first one that has rows or is a refusal counts."""
        answered = answer.has_rows
        if (key := _key(question)) and (answered or answer.refusal):
            case = ANSWERED if answered else answer.case
            with self._lock:
                self._outcomes.setdefault(key, case)

    def decide(self, waiting: Sequence[CellQuestion]) -> ProbeDecision:
        """Return which questions are to be sent now; no probe may be under way."""
        decision, probes = ProbeDecision(), set[ProbeKey]()
        with self._lock:
            outcomes = dict(self._outcomes)
        for question in waiting:
            key = _key(question)
            case = outcomes.get(key) if key else None
            if case:
                decision.unsent.append(_unsent(question, case))
            elif key in probes:
                decision.waiting.append(question)
            else:
                decision.due.append(question)
                if key and case is None:
                    probes.add(key)
        return decision


def _key(question: CellQuestion) -> ProbeKey | None:
    reader, version = str(question.reader), question.state.frozen.table_version
    family = question.question.format.family
    unknown = distributions.declared_unknown(reader, family, version)
    return (reader, question.question.format.name, version) if unknown else None


def _unsent(question: CellQuestion, probe: str) -> Answer:
    why = f"it was not sent, for the server refused {probe}"
    return Answer(question.cell.case, "", question=question.question.query, void=why, probe=probe)

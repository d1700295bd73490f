"""What to do about an answer that is not right: settings that help, and the next commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.core.records import Responsible, Verdict, VerdictKind
from harness.scenario.cells import parse_reader


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence, and the command of `harness` that does it."""

    text: str
    verb: str = ""

    def command(self, case: str) -> str:
        """Return the command for a case, as a shell takes it; empty where there is none."""
        return f"harness {self.verb} {shlex.quote(case)}" if self.verb else ""


def advice(verdict: Verdict, question: Iterable[Verdict]) -> tuple[Advice, ...]:
    """Return what helps, and how to find out more; nothing where nothing is wrong or refused.

    `question`: what every reader made of the same question. Where no reader is to blame, nothing
    is said of its settings.
    """
    if verdict.verdict not in {VerdictKind.WRONG, VerdictKind.REFUSED}:
        return ()
    responsible = {finding.responsible for finding in verdict.findings} or {None}
    readers = (
        Advice(_settings(tuple(_same_engine(verdict, question)))),
        Advice("Try its other settings: which help here, and what each breaks elsewhere", "remedy"),
    )
    smallest = Advice("Get the smallest scenario and SQL script that still show it", "reproduce")
    return (*(readers if responsible & {Responsible.READER, None} else ()), smallest)


def _same_engine(verdict: Verdict, question: Iterable[Verdict]) -> Iterable[Verdict]:
    engine = parse_reader(verdict.reader).distribution
    for other in question:
        if other.reader != verdict.reader and parse_reader(other.reader).distribution == engine:
            yield other


def _settings(others: Sequence[Verdict]) -> str:
    """Return what the same engine answered with other settings."""
    if not others:
        return "This engine was not asked this with any other settings."
    right = [other.reader for other in others if other.verdict is VerdictKind.CORRECT]
    if right:
        return f"With other settings this engine gets it right: {'; '.join(right)}."
    names = "; ".join(other.reader for other in others)
    return f"This engine does not get it right with its other settings either: {names}."

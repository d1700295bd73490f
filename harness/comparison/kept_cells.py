"""What of a judged run is kept for its history: a line for each cell. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from harness.comparison.cell_pairs import every_verdict, key_of
from harness.comparison.verdict_change import places
from harness.core.records import Answer, Part, Verdict, VerdictKind
from harness.run import causes
from harness.run.kept_run import KeptCell, digest, digest_number
from harness.run.load_run import Run

LONGEST: Final = 200
"""Why a cell is unknown may hold the end of a server's log."""
_DATABASE: Final = re.compile(r"\bs_[0-9a-f]{16}\b")
"""Named after the state of the table, which is kept by itself."""


def kept_cells(run: Run) -> Iterator[KeptCell]:
    """Yield what is kept of each cell of a run, and of each step."""
    for verdict in every_verdict(run):
        variant, step, reader, view, query = key_of(verdict)
        answer = run.answers.get(verdict.case)
        yield KeptCell(
            variant, step, reader, view, query, verdict.verdict,
            symptom=_symptom(verdict, answer),
            places=frozenset(digest(repr(place)) for place in places(verdict)),
            asked=digest_number(_DATABASE.sub("", verdict.sql)),
            answered=digest_number(_said(answer)) if answer else 0,
        )  # fmt: skip


def _symptom(verdict: Verdict, answer: Answer | None) -> str:
    if verdict.verdict is VerdictKind.CORRECT:
        return ""
    if verdict.verdict is VerdictKind.WRONG:
        return ", ".join(dict.fromkeys(str(each.kind) for each in verdict.findings))
    if verdict.verdict is VerdictKind.REFUSED:
        return causes.meaning(answer.refusal if answer else None)
    return verdict.because.partition("\n")[0][:LONGEST]


def _said(answer: Answer) -> str:
    """Return what a reader said, whatever the order of the rows; empty if it said nothing."""
    told = answer.refusal or answer.columns
    return repr([_table(answer), *map(_table, answer.parts)]) if told else ""


def _table(told: Answer | Part) -> tuple[object, ...]:
    rows = sorted(map(repr, told.rows))
    return told.columns, rows, told.refusal and told.refusal.kind, isinstance(told, Part)

"""What reports say of an answer: refusals, logs, read strategies, metastores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.core.records import Answer, Refusal, Verdict
from harness.reports.words import short
from harness.run.run_info import RunInfo

NAMED: Final = 3
"""So many read strategies are listed where several give an answer."""
LITTLE: Final = "gives the same answer, but an answer this small proves nothing"
"""About the only read strategy that gives a count, or an answer without rows."""
LINE: Final = 240
"""Characters of a refusal in a sentence, and of a line of a server's log."""


def answered_text(verdict: Verdict) -> str:
    """Return that a reader answered what it is declared not to know; empty where it did not."""
    return f"declared unsupported ({verdict.disclaimed}), but answered" * bool(verdict.disclaimed)


def refusal_text(refusal: Refusal, longest: int = LINE) -> str:
    """Return a refusal in one line; a long message leaves half of it to its cause."""
    code = f" ({refusal.code})" if refusal.code else ""
    text = f"{refusal.kind}{code}: {refusal.message}"
    if refusal.cause in refusal.message and len(text) <= longest:
        return short(text, longest)
    cause = f"; cause: {refusal.cause}" if refusal.cause else ""
    rest = max(longest - len(cause), longest // 2)
    return short(short(text, rest) + cause, longest)


def log_text(answer: Answer | None) -> str:
    """Return the end of the server's log after the last try at what is unknown; empty without one.

    As many lines as the record holds, each cut.
    """
    if answer is None or not answer.unknown or not answer.attempts:
        return ""
    lines = answer.attempts[-1].log.splitlines()
    shown = [f"  {short(line, LINE)}" for line in lines if line.strip()]
    return "\n".join(["the end of the server's log:", *shown]) if shown else ""


def mapping_text(reproduces: tuple[str, ...], claimed: str) -> str:
    """Return the read strategy that gives the same answer; only a claimed one is a diagnosis."""
    if not reproduces:
        return ""
    if claimed:
        return f"reads {claimed}"
    if len(reproduces) == 1:
        return f"none is claimed: {reproduces[0]} {LITTLE}"
    if len(reproduces) > NAMED:
        return f"{len(reproduces)} read strategies give the same answer, so none is claimed"
    return f"none is claimed: the same answer comes from {'; '.join(reproduces)}"


def metastore_lines(info: RunInfo) -> Iterator[str]:
    """Say through which metastore the readers asked; nothing where it is the usual one."""
    if info.metastore is None:
        return
    older = info.metastore.upgraded_from
    made = f", whose database {older} had made with the tables in it" if older else ""
    yield f"all asked through {info.metastore.distribution}{made}"
    yield from (f"{name}: {fidelity}" for name, fidelity in info.metastore.fidelity.items())

"""The scoreboard: how many cells of each reader have which verdict, defaults first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from harness.core.records import VerdictKind
from harness.reports import summary
from harness.reports.words import VERDICTS
from harness.run.causes import by_default
from harness.run.load_run import Run


@dataclass(frozen=True, slots=True)
class Score:
    """What the answers of one reader are."""

    reader: str
    by_default: bool
    """Whether nobody chose a setting otherwise than the engine has it by itself."""
    ours: str
    """What the harness sets otherwise all the same; empty where it sets nothing."""
    counts: Mapping[VerdictKind, int]
    """In the order of the words: right first."""


def scoreboard(run: Run) -> tuple[Score, ...]:
    """Return the scores: readers by default first, else in the order of the plan."""
    counts = Counter((verdict.reader, verdict.verdict) for verdict in run.verdicts)
    scores = [
        Score(
            reader,
            by_default(run, reader),
            _ours(run, reader),
            {kind: counts[reader, kind] for kind in VERDICTS},
        )
        for reader in summary.readers(run)
    ]
    return tuple(sorted(scores, key=lambda score: not score.by_default))


def _ours(run: Run, reader: str) -> str:
    known = run.readers.get(reader)
    unlike = known.unlike if known and known.unlike else ()
    return ", ".join(f"{unlike_.setting}={unlike_.has}" for unlike_ in unlike if not unlike_.named)

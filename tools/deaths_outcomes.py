"""What came of the runs of `deaths.py`: kept in a log, run by run, and told as a table."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.core import jsonl
from harness.core.records import Verdict
from harness.run import load_run
from tools.deaths_kinds import SHARES, DeathKind

FILE: Final = "deaths.jsonl"
LATE: Final = "too late"
"""The run was over before the blow fell: nothing was struck."""
WENT_ON: Final = "went on by itself"
RESUMED: Final = "resumed"
BEGUN: Final = "begun again"
DIFFERS: Final = "differs"
SURVIVED: Final = "survived"
LEFT_OVER: Final = "left over"
BROKEN: Final = "broken"
FAILED: Final = (DIFFERS, SURVIVED, LEFT_OVER, BROKEN)
COLUMNS: Final = {
    WENT_ON: "went on by itself",
    RESUMED: "resumed",
    BEGUN: "begun again",
    DIFFERS: "verdicts differ",
    SURVIVED: "process or port survived",
    LEFT_OVER: "something left over",
    BROKEN: "could not be finished",
    LATE: "not struck, not counted",
}
"""How an outcome begins, and what the table calls it."""


def verdicts(folder: Path) -> dict[str, str]:
    """Return what a run says of each case, without what no two runs share: instants, files, times.

    The text begins with the kind of the verdict.
    """
    return {
        verdict.case: "; ".join([verdict.verdict, *verdict.reproduces, *_findings(verdict)])
        for verdict in jsonl.read_all(folder / load_run.VERDICTS, Verdict)
    }


def _findings(verdict: Verdict) -> list[str]:
    return [
        f"{finding.kind}: {', '.join(finding.columns)} by {finding.responsible}"
        f" ({len(finding.places)})"
        for finding in verdict.findings
    ]


@dataclass(frozen=True, slots=True)
class OutcomeLog:
    """The runs of one seed in a folder."""

    folder: Path
    seed: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def done(self) -> dict[int, str]:
        """Return what came of the runs that were done, by their numbers."""
        return {record["number"]: record["outcome"] for record in self._records()}

    def goes(self, number: int) -> int:
        """Return how often a run was noted; again only where nothing was struck."""
        return sum(record["number"] == number for record in self._records())

    def note(self, number: int, kind: DeathKind, outcome: str, seconds: float) -> None:
        """Tell of a run, and keep it."""
        facts = {"number": number, "kind": kind.name, "outcome": outcome, "seed": self.seed}
        with self._lock, (self.folder / FILE).open("a", encoding="utf-8") as log:
            print(f"{number:4} {kind.name}: {outcome}, {seconds:.0f} s", flush=True)
            log.write(json.dumps({**facts, "seconds": round(seconds)}) + "\n")

    def _records(self) -> list[dict[str, Any]]:
        path = self.folder / FILE
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [any_ for any_ in map(json.loads, lines) if any_["seed"] == self.seed]


def due(kinds: Mapping[int, DeathKind], done: Mapping[int, str]) -> dict[int, DeathKind]:
    """Return the runs that are left: those not done, and those in which nothing was struck."""
    return {number: kind for number, kind in kinds.items() if done.get(number, LATE) == LATE}


def table(outcomes: Sequence[tuple[DeathKind, str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table: what was struck, and what became of it."""
    yield f"| what was struck | runs | {' | '.join(COLUMNS.values())} |"
    yield f"| --- |{' ---: |' * (1 + len(COLUMNS))}"
    for struck in dict.fromkeys(kind.struck for kind in SHARES):
        matching = [outcome for record, outcome in outcomes if record.struck == struck]
        if matching:
            yield _row(struck, matching)
    yield _row("all", [outcome for _, outcome in outcomes])


def _row(name: str, outcomes: Sequence[str]) -> str:
    counts = [sum(outcome.startswith(column) for outcome in outcomes) for column in COLUMNS]
    return f"| {name} | {' | '.join(map(str, (_struck(outcomes), *counts)))} |"


def _struck(outcomes: Sequence[str]) -> int:
    return sum(outcome != LATE for outcome in outcomes)


def total(outcomes: Sequence[str], planned: int) -> str:
    """Return how many of the planned runs struck something, and how many of these failed."""
    failed = sum(outcome in FAILED for outcome in outcomes)
    return f"{_struck(outcomes)} of {planned} runs struck something; {failed} of these failed."

"""What programs of `tools/measure` noted, as evidence for claims.

One that kills pipelines (`pipelines.py`, `streamer.py`) notes a line for each batch, one that
writes frames with other columns (`frame_changes.py`) a line for each frame and reader. What is
published of them stands beside the results, as `docs/results/pipelines.jsonl`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.claim_evidence import FrameChanges, PipelineBatches, Standing
from tools.measure.frame_changes import RIGHT, WRITTEN

RESULTS: Final = Path(__file__).parents[1] / "docs" / "results"
AGREES: Final = "checkpoint and rows agree"
NONE: Final = "the batch was over, and its checkpoint is not there"
OTHERWISE: Final = "rows are not of the checkpoint"
REFUSED: Final = "refused"
READ: Final = "written, and read rightly"
NOT_READ: Final = "written, and not read rightly"


@dataclass(frozen=True, slots=True)
class NotedPart:
    """What is noted of one part of a claim."""

    of: PipelineBatches | FrameChanges
    came: Counter[str]
    writers: tuple[str, ...]
    """Those of whom anything is noted."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """What the claim allows."""
        return self.of.expected if isinstance(self.of, FrameChanges) else (AGREES,)

    @property
    def standing(self) -> Standing:
        """Whether each of them ended as is claimed."""
        if not self.came:
            return Standing.NOT_EXECUTED
        return Standing.AGREES if set(self.came) <= set(self.allowed) else Standing.DIFFERS


def measured(of: PipelineBatches | FrameChanges, results: Path = RESULTS) -> NotedPart:
    """Return what is noted of what a claim asks for."""
    frames = isinstance(of, FrameChanges)
    lines = _lines(results / ("frames.jsonl" if frames else "pipelines.jsonl"))
    own = [each for each in lines if each["writer"] in of.writers]
    if isinstance(of, FrameChanges) and of.changes:
        own = [each for each in own if each["change"] in of.changes]
    writers = tuple(dict.fromkeys(str(each["writer"]) for each in own))
    return NotedPart(of, Counter(map(_frame if frames else _batch, own)), writers)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_file():
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _batch(line: dict[str, Any]) -> str:
    """Return what came of a batch: one that nobody killed must have its checkpoint there."""
    if line["wrong"]:
        return OTHERWISE
    return AGREES if line["committed"] or line["killed"] else NONE


def _frame(line: dict[str, Any]) -> str:
    """Return what came of a frame, for one reader."""
    if line["wrote"] != WRITTEN:
        return REFUSED
    return READ if line["shown"] == RIGHT else NOT_READ

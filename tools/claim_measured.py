"""What programs of `tools/measure` noted, as evidence for claims.

One that kills pipelines (`pipelines.py`, `streamer.py`) notes a line for each batch, one that
writes frames with other columns (`frame_changes.py`) a line for each frame and reader, one that
sends mutations (`mutations.py`) a line for each batch. What is published of them stands beside the
results, as `docs/results/pipelines.jsonl`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.claim_evidence import Standing
from tools.measure.frame_changes import RIGHT, WRITTEN
from tools.measured_evidence import FrameChanges, Measured, MutationBatches, PipelineBatches

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

    of: Measured
    came: Counter[str]
    writers: tuple[str, ...]
    """Those of whom anything is noted."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """What the claim allows."""
        return (AGREES,) if isinstance(self.of, PipelineBatches) else self.of.expected

    @property
    def standing(self) -> Standing:
        """Whether each of them ended as is claimed."""
        if not self.came:
            return Standing.NOT_EXECUTED
        return Standing.AGREES if set(self.came) <= set(self.allowed) else Standing.DIFFERS


def measured(of: Measured, results: Path = RESULTS) -> NotedPart:
    """Return what is noted of what a claim asks for."""
    file, came = NOTED[type(of)]
    own = [each for each in _lines(results / file) if of.has(each)]
    writers = tuple(dict.fromkeys(str(each["writer"]) for each in own))
    return NotedPart(of, Counter(map(came, own)), writers)


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


def _mutations(line: dict[str, Any]) -> str:
    """Return what came of a batch: what was thrown first, what the listener was told, the rows."""
    thrown, lost = ([each["kind"] for each in line[of]] for of in ("thrown", "lost"))
    told = [thrown[0] if thrown else "nothing is thrown"]
    told += [f"the listener is told {each}" for each in lost]
    seen = f"{line['shown']} is seen"
    told.append("nothing of it is seen" if line["shown"] == line["before"] else seen)
    return "; ".join((*told, *(f"{each} is seen at last" for each in line["then"])))


NOTED: Final[Mapping[type[Measured], tuple[str, Callable[[dict[str, Any]], str]]]] = {
    PipelineBatches: ("pipelines.jsonl", _batch),
    FrameChanges: ("frames.jsonl", _frame),
    MutationBatches: ("mutations.jsonl", _mutations),
}
"""Where what is noted of each is published, and what came of a line of it."""

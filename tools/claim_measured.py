"""What a program that kills pipelines noted, as evidence for claims of them.

Such a program (`tools/measure/pipelines.py`, `streamer.py`) notes a line for each batch; what is
published of them stands beside the results, as `docs/results/pipelines.jsonl`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.claim_evidence import PipelineBatches, Standing

NOTED: Final = Path(__file__).parents[1] / "docs" / "results" / "pipelines.jsonl"
AGREES: Final = "checkpoint and rows agree"
NONE: Final = "the batch was over, and its checkpoint is not there"
OTHERWISE: Final = "rows are not of the checkpoint"


@dataclass(frozen=True, slots=True)
class Batches:
    """What is noted of some batches."""

    of: PipelineBatches
    came: Counter[str]
    writers: tuple[str, ...]
    """Those that carried out any."""

    @property
    def standing(self) -> Standing:
        """Whether each of them ended as is claimed."""
        if not self.came:
            return Standing.NOT_EXECUTED
        return Standing.AGREES if set(self.came) == {AGREES} else Standing.DIFFERS


def batches(measured: PipelineBatches, file: Path = NOTED) -> Batches:
    """Return what a file says of the batches that a claim asks for."""
    own = [each for each in _lines(file) if each["writer"] in measured.writers]
    writers = tuple(dict.fromkeys(str(each["writer"]) for each in own))
    return Batches(measured, Counter(map(_came, own)), writers)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_file():
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def _came(line: dict[str, Any]) -> str:
    """Return what came of a batch: one that nobody killed must have its checkpoint there."""
    if line["wrong"]:
        return OTHERWISE
    return AGREES if line["committed"] or line["killed"] else NONE

"""Hive's Streaming Mutation API: a process of `mutate.groovy` sends one batch."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core.records import Refusal
from harness.runtime import hive_launcher
from harness.runtime.process import Command, ProcessProblem, finished, log_tail

PROGRAM: Final = Path(__file__).with_name("mutate.groovy")
TOOL: Final = "mutation"
"""The setting of a Hive that writes which names the distribution of the program's library."""


def has_library(writer: Distribution) -> bool:
    return bool(writer.settings.get(TOOL))


def needed(writers: Iterable[Distribution]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(writer.text(TOOL) for writer in writers if has_library(writer)))


@dataclass(frozen=True, slots=True)
class MutationProgram:
    installation: Installation
    metastore: str
    folder: Path

    def run(self, request: Mapping[str, object], timeout_s: float) -> Refusal | None:
        """Send a batch; return what the library threw. ProcessProblem: it said nothing in time."""
        folder = Path(tempfile.mkdtemp(prefix="mutation-", dir=self.folder))
        asked, reply, log = folder / "request.json", folder / "reply.json", folder / "program.log"
        asked.write_text(json.dumps({**request, "metastore": self.metastore}), encoding="utf-8")
        main = self.installation.distribution.text("main"), str(PROGRAM), str(asked), str(reply)
        command = hive_launcher.command(self.installation, folder, main)
        finished(Command(command, folder, log), timeout_s)
        if not reply.is_file():
            raise ProcessProblem(
                "the program of mutations ended and said nothing", log_tail(log, 20)
            )
        return _refusal(json.loads(reply.read_text(encoding="utf-8")))


def _refusal(reply: Mapping[str, object]) -> Refusal | None:
    thrown = reply.get("error")
    if not isinstance(thrown, list):
        return None
    first, last = thrown[0], thrown[-1]
    cause = f"{last['kind']}: {last['message']}" if len(thrown) > 1 else ""
    return Refusal(first["kind"], first["message"], cause=cause)

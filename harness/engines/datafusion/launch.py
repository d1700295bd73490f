"""Start the worker that holds DataFusion (`datafusion.worker`)."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.engines.api import NoAnswerError, RefusedError
from harness.engines.datafusion import worker
from harness.runtime.api import Surroundings

START_S: Final = 60.0
"""How long the start may take; 1 s on a calm machine."""
WORKER: Final = "worker.py"


@dataclass(frozen=True, slots=True)
class DataFusionProgram:
    """The worker; see `runtime.api.Program`."""

    distribution: Distribution
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    log: str = "datafusion.log"
    ready_s: float = START_S
    not_yet: tuple[type[Exception], ...] = (OSError, NoAnswerError, RefusedError)

    def files(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - it needs nothing
        """Return the worker, so that it runs without the packages beside its own source."""
        return {WORKER: Path(worker.__file__).read_text(encoding="utf-8")}

    def environment(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - as above
        """Return what the worker is told."""
        return {worker.TOKEN: self.token}

    def class_path(self, installation: Installation) -> Sequence[Path]:  # noqa: ARG002 - no Java
        """Return nothing."""
        return ()

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        """Return the command line: this Python, without what is installed for it (`-S`)."""
        program = (sys.executable, "-I", "-S", str(around.conf / WORKER))
        return (*program, str(installation.home), around.host, str(around.port))

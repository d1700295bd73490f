"""Start the worker that holds an engine of Python (`python_worker`)."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.engines import python_worker
from harness.engines.api import NoAnswerError, RefusedError
from harness.runtime.api import Surroundings

START_S: Final = 60.0
"""How long the start may take; 1 s on a calm machine."""
WORKER: Final = "worker.py"
SHARED: Final = (
    "harness.engines.arrow_values",
    "harness.engines.python_session",
    "harness.engines.python_worker",
)
"""The modules that the answers of every engine of Python go through."""


@dataclass(frozen=True, slots=True)
class PythonProgram:
    """The worker; see `runtime.api.Program`."""

    distribution: Distribution
    answers: Path
    """The source of what the engine does itself."""
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    ready_s: float = START_S
    not_yet: tuple[type[Exception], ...] = (OSError, NoAnswerError, RefusedError)

    @property
    def log(self) -> str:
        """The name of its log file."""
        return f"{self.distribution.engine}.log"

    def files(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - it needs nothing
        """Return the worker, so that it runs without the packages beside its own source."""
        own = {WORKER: Path(python_worker.__file__), f"{python_worker.ANSWERS}.py": self.answers}
        return {name: path.read_text(encoding="utf-8") for name, path in own.items()}

    def environment(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - as above
        """Return what the worker is told."""
        return {python_worker.TOKEN: self.token}

    def class_path(self, installation: Installation) -> Sequence[Path]:  # noqa: ARG002 - no Java
        """Return nothing."""
        return ()

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        """Return the command line: this Python, without what is installed for it (`-S`)."""
        program = (sys.executable, "-I", "-S", str(around.conf / WORKER))
        return (*program, str(installation.home), around.host, str(around.port))

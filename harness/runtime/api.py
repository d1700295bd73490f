"""What an engine says of its server, and what a runtime makes of it.

An engine says *what* runs (`Program`); a runtime says *how* (`Runtime`): as a process of this
machine, or in a container of an image. What an engine asks is the same over both.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation

T = TypeVar("T")


class Running(Protocol):
    """A program that was started: a process or a container."""

    @property
    def log(self) -> Path:
        """The file that takes all that it writes."""

    def alive(self) -> bool:
        """Return whether it still runs."""

    def log_tail(self, lines: int = ...) -> str:
        """Return the last lines of its log."""

    def log_size(self) -> int:
        """Return the length of its log in bytes."""

    def log_since(self, start: int) -> str:
        """Return all of its log from `start` bytes on."""

    def peak_memory_mb(self) -> int:
        """Return the most resident memory seen of it and what it started, in MiB."""

    def threads(self) -> int:
        """Return how many threads it has; 0 where nobody can tell."""

    def cpu_s(self) -> float:
        """Return the processor seconds that it and what it started have used; 0 once it ended."""

    def stop(self, grace_s: float = ...) -> None:
        """End it and whatever it started."""

    def wait(self, timeout_s: float) -> int:
        """Return its exit code once it has ended by itself.

        Raises TimeoutError: it has not within `timeout_s`.
        """


class RunsElsewhere:
    """A `Running` that somebody else has started: nothing is known of it but that it is there."""

    log = Path(os.devnull)

    def alive(self) -> bool:
        return True

    def log_tail(self, lines: int = 0) -> str:
        return ""

    def log_size(self) -> int:
        return 0

    def log_since(self, start: int) -> str:
        return ""

    def peak_memory_mb(self) -> int:
        return 0

    def threads(self) -> int:
        return 0

    def cpu_s(self) -> float:
        return 0.0

    def stop(self, grace_s: float = 0) -> None:
        """Do nothing: it is not ours."""

    def wait(self, timeout_s: float) -> int:
        raise TimeoutError


@dataclass(frozen=True, slots=True)
class Served:
    """A server that is one program; what servers add is how they are reached."""

    running: Running

    def alive(self) -> bool:
        return self.running.alive()

    def exhausted(self) -> bool:
        return False

    def log_tail(self) -> str:
        return self.running.log_tail()

    def peak_memory_mb(self) -> int:
        return self.running.peak_memory_mb()


@dataclass(frozen=True, slots=True)
class MetastoreUris:
    """How a metastore is reached: `thrift://host:port`."""

    host: str
    network: str = ""
    """From containers; empty where they cannot."""
    database: str = ""
    """By JDBC, for a HiveServer2 that compacts tables; empty where nobody can open it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a server runs, as its configuration has to say it."""

    host: str
    port: int
    metastore: str
    """The URI of the metastore; empty for the metastore itself."""
    folder: Path
    conf: Path
    front: str
    """The class path of what must be found before an engine's own jars, such as a bundle."""
    installation: Installation | None = None
    """What a process is made of; None in a container, whose image has all of it."""
    jvm: tuple[str, ...] = ()


class Program(Protocol):
    """What an engine runs, whatever runs it."""

    @property
    def distribution(self) -> Distribution:
        """Which engine, in which version."""

    def files(self, around: Surroundings) -> Mapping[str, str]:
        """Return its configuration: texts by path in the folder of configuration."""

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        """Return variables, secrets included."""

    @property
    def log(self) -> str:
        """The name of its log file."""

    @property
    def ready_s(self) -> float:
        """How long a start may take."""

    @property
    def not_yet(self) -> tuple[type[Exception], ...]:
        """What a question raises as long as it is not ready."""

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        """Return the command of a process; it may link what it needs into its own folder."""

    def class_path(self, installation: Installation) -> Sequence[Path]:
        """Return the jars, and folders of jars, of which its Java loads classes first."""


def nothing(_: object) -> None:
    """Do nothing before a server is stopped."""


class Runtime(Protocol):
    """How servers of one distribution are run."""

    @property
    def distribution(self) -> Distribution:
        """Which engine, in which version."""

    @property
    def inside(self) -> str:
        """Return how containers reach its servers, `host:port`; empty where they cannot."""

    def start(
        self,
        program: Program,
        metastore: MetastoreUris | None,
        folder: Path,
        ready: Callable[[Running, int], T],
        end: Callable[[T], None] = nothing,
    ) -> AbstractContextManager[T]:
        """Start a program in an empty folder, ask it until it is ready, and stop it at the end.

        `ready` gets what runs and the port on loopback and returns what the context yields; it
        raises one of `program.not_yet` until a real question is answered. `end` lets it end by
        itself before it is stopped. Raises EnvironmentProblem: it did not get ready; the message
        holds the end of its log.
        """

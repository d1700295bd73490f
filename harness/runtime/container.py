"""A container that runs, looked at as a process is."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harness.runtime import log_file
from harness.runtime.process import GRACE_S, LOG_LINES, LOOK_S

if TYPE_CHECKING:
    from docker.models.containers import Container as DockerContainer

_MIB: Final = 20


class Container:
    """A container that was started; see `api.Running`."""

    def __init__(self, container: DockerContainer, log: Path, greedy: str = "") -> None:
        """Follow what it writes.

        Args:
            container: the one that was started.
            log: a file of ours that takes what it writes, also after it was removed.
            greedy: the log's last line if it took more memory than it may.

        """
        self._container = container
        self._log = log
        self._greedy = greedy
        self._peak_mb = 0
        self._told: tuple[float, dict[str, Any]] = 0.0, {}
        self._ended = threading.Event()
        self._writer = threading.Thread(target=self._follow, daemon=True)
        self._writer.start()

    @property
    def log(self) -> Path:
        """The file that takes all that it writes."""
        return self._log

    def alive(self) -> bool:
        """Return whether it still runs; and note its memory, which nobody can tell afterwards."""
        from docker.errors import DockerException  # noqa: PLC0415

        self.peak_memory_mb()
        with suppress(DockerException, OSError):
            self._container.reload()
            if self._container.status in {"running", "created", "paused"}:
                return True
        self._ended.set()
        return False

    def published(self, port: int) -> int | None:
        """Return the port of this machine at which one of its own is reached; None: at none."""
        found = self._container.ports.get(f"{port}/tcp")
        return int(found[0]["HostPort"]) if found else None

    def log_tail(self, lines: int = LOG_LINES) -> str:
        """Return the last lines of its log; of one that has ended, all is there."""
        if self._ended.is_set():
            self._writer.join(GRACE_S)
        return log_file.tail(self._log, lines)

    def log_size(self) -> int:
        """Return the length of its log in bytes."""
        return log_file.size(self._log)

    def log_since(self, start: int) -> str:
        """Return all of its log from `start` bytes on."""
        return log_file.since(self._log, start)

    def peak_memory_mb(self) -> int:
        """Return the most memory seen, in MiB, without pages of files."""
        memory = self._stats().get("memory_stats", {})
        pages = memory.get("stats", {}).get("inactive_file", 0)
        now = max(0, memory.get("usage", 0) - pages) >> _MIB
        self._peak_mb = max(self._peak_mb, now)
        return self._peak_mb

    def threads(self) -> int:
        """Return how many threads it has; 0 where nobody can tell."""
        return int(self._stats().get("pids_stats", {}).get("current", 0))

    def cpu_s(self) -> float:
        """Return the processor seconds that it has used; 0 once it ended."""
        used = self._stats().get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)
        return float(used / 1e9)

    def stop(self, grace_s: float = GRACE_S) -> None:
        """End it: SIGTERM, then SIGKILL; its log stays."""
        from docker.errors import DockerException  # noqa: PLC0415

        self.peak_memory_mb()
        with suppress(DockerException, OSError):
            self._container.stop(timeout=int(grace_s))
        self._writer.join(GRACE_S)

    def wait(self, timeout_s: float) -> int:
        """Return its exit code once it has ended by itself; TimeoutError: it has not."""
        import requests  # noqa: PLC0415
        from docker.errors import DockerException  # noqa: PLC0415

        try:
            return int(self._container.wait(timeout=timeout_s)["StatusCode"])
        except (requests.RequestException, DockerException) as late:
            raise TimeoutError(f"not over within {timeout_s:.0f} s") from late

    def _stats(self) -> dict[str, Any]:
        """Return what the daemon knows of its use of the machine, asked once a second at most."""
        from docker.errors import DockerException  # noqa: PLC0415

        now = time.monotonic()
        if now - self._told[0] > LOOK_S:
            self._told = now, {}
            with suppress(DockerException, OSError):
                found: Any = self._container.stats(stream=False, one_shot=True)
                self._told = now, found
        return self._told[1]

    def _follow(self) -> None:
        from docker.errors import DockerException  # noqa: PLC0415

        with suppress(DockerException, OSError), self._log.open("ab", buffering=0) as file:
            for piece in self._container.logs(stream=True, follow=True):
                file.write(piece)
            self._container.reload()
            if self._container.attrs["State"]["OOMKilled"]:
                file.write(f"{self._greedy}\n".encode())

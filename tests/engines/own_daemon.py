"""A Docker daemon of a test's own, which it may stop; root starts it."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon, process
from harness.runtime.process import wait_until

READY_S = 120.0


class OwnDaemon:
    """A daemon that can be stopped and started again, with what it had."""

    def __init__(self, folder: Path) -> None:
        """`folder`: short, since the name of a socket is."""
        self.host = f"unix://{folder}/s"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it unless it runs, and wait until it answers; `DOCKER_HOST` is to name it."""
        if self._process is not None:
            return
        places = [f"--{each}-root={self._folder}/{each}" for each in ("data", "exec")]
        # Another daemon's rules are left alone; without a bridge it would remove the other's.
        rest = [f"--pidfile={self._folder}/pid", f"--host={self.host}", "--iptables=false"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["dockerd", *places, *rest, "--shutdown-timeout=1"],  # noqa: S607
                stdout=log,
                stderr=log,
            )
        wait_until(
            docker_daemon.describe,
            self,
            timeout_s=READY_S,
            what="dockerd",
            not_yet=(EnvironmentProblem,),
        )

    def alive(self) -> bool:
        """Return whether it runs."""
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines: int = 40) -> str:
        """Return the last lines of its log."""
        return process.log_tail(self._folder / "log", lines)

    def stop(self) -> None:
        """Stop it, and with it its containers."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            self._process.wait(READY_S)
            self._process = None


def missing() -> str:
    """Say what is missing for a daemon; empty: nothing."""
    if os.getuid() != 0:
        return "only root starts a Docker daemon"
    return "" if shutil.which("dockerd") else "dockerd is not there"

"""End what a harness started when the harness itself is gone, however that happened.

`python -I -S watchdog.py` reads a pipe of which only the harness holds the other end: `+GROUP` is a
process group to look after, `-GROUP` one that has ended. At the end of the input every group that
is left gets SIGKILL: also what the children that `parent_guard` reaches started. It imports nothing
of the harness.
"""

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress


class Watchdog:
    """The harness's end of the pipe; the process is started with the first group."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Leave a group alone from now on: it has ended, and its number may be given again."""
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._process is None:
                self._process = start("-I", "-S", __file__)
                atexit.register(end, self._process)
            pipe = self._process.stdin
            # Should somebody have ended it, the parent-death signal is left.
            if pipe is not None:
                with suppress(OSError):
                    os.write(pipe.fileno(), line.encode())


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a Python program that outlives this one and waits for the end of its input."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """Let such a program come to its end, and wait for it."""
    if process.stdin is not None:
        process.stdin.close()
    process.wait()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop such a program, as there is nothing left for it to do."""
    process.kill()
    process.communicate()


def _remaining_groups(lines: Iterable[str]) -> set[int]:
    """Return the groups that were named and not taken back. Pure.

    >>> _remaining_groups(["+7", "+8", "-7"])
    {8}
    """
    groups: set[int] = set()
    for line in lines:
        number = int(line[1:])
        (groups.add if line.startswith("+") else groups.discard)(number)
    return groups


def main() -> None:
    """Wait for the end of the harness, then end what is left of it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for group in _remaining_groups(sys.stdin):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()

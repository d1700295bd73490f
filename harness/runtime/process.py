"""Processes that the harness starts: in a session of their own, logged, and ended by their pid."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeVar

import psutil

from harness.core.errors import EnvironmentProblem
from harness.runtime import parent_guard
from harness.runtime.watchdog import Watchdog

_TAIL_BYTES: Final = 64 * 1024
_CAUSE: Final = "Caused by: "
_CAUSES: Final = 5


def log_tail(path: Path, lines: int) -> str:
    """Return the last lines of a text file, at most 64 KiB; empty when there is no such file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _log_excerpt(text: str, lines: int) -> str:
    r"""Return the last lines of a log, and before them the last causes that stand above these.

    Guice, by which Trino puts itself together, ends with lists of class names, the causes above.

    >>> _log_excerpt("Caused by: x: y, at a, Caused by: x: y, at b, end".replace(", ", chr(10)), 1)
    'Caused by: x: y\n…\nend'
    """
    result = text.splitlines()
    above = (line for line in result[:-lines] if line.startswith(_CAUSE))
    causes = list(dict.fromkeys(above))[-_CAUSES:]
    return "\n".join([*causes, *(["…"] if causes else []), *result[-lines:]])


LOG_LINES: Final = 40
LOOK_S: Final = 1.0
"""How often memory is looked at: finding a process's children takes longer than some queries."""
GRACE_S: Final = 10.0

_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR")
SET: Final = {
    "TZ": "UTC",
    # A JVM that ran out of memory goes on half broken; ended, it is seen to be gone.
    "JAVA_TOOL_OPTIONS": "-XX:+ExitOnOutOfMemoryError",
}
"""Variables that every server gets, in whichever runtime."""

# The kernel's parent-death signal follows the *thread* that started the child (prctl(2)), so all
# children are started by one thread that lives as long as this process.
_starter: Final = ThreadPoolExecutor(1, thread_name_prefix="process-starter")
_watchdog: Final = Watchdog()


@dataclass(frozen=True, slots=True)
class Command:
    arguments: tuple[str, ...]
    folder: Path
    """Its working folder; must exist."""
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside the few that are passed on."""


class Logged:
    """What writes to a log, which may be gone; see `api.Running`."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def log_tail(self, lines: int = LOG_LINES) -> str:
        return log_tail(self.log, lines)

    def log_size(self) -> int:
        with suppress(FileNotFoundError):
            return self.log.stat().st_size
        return 0

    def log_since(self, start: int) -> str:
        with suppress(FileNotFoundError), self.log.open("rb") as file:
            file.seek(start)
            return file.read().decode("utf-8", errors="replace")
        return ""


class Process(Logged):
    """A process that runs or has ended. Made by `running`."""

    def __init__(self, child: subprocess.Popen[bytes], log: Path) -> None:
        """`child`: leader of a session of its own."""
        super().__init__(log)
        self._child = child
        self._peak_mb = 0
        self._looked = 0.0

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        return self._child.poll()

    def alive(self) -> bool:
        """Whether it still runs; and note its memory, which nobody can tell once it ended."""
        self.peak_memory_mb()
        return self.exit_code is None

    def peak_memory_mb(self) -> int:
        """Return the most resident memory seen of it and what it started, in MiB.

        After its end what was seen last. The children are looked for once a second at most, but for
        a process that had no memory yet: between its fork and its exec the kernel counts none.
        """
        now = time.monotonic()
        if not self._peak_mb or now - self._looked > LOOK_S:
            self._looked = now
            self._peak_mb = max(self._peak_mb, sum(map(_peak_mb, self.family())))
        return self._peak_mb

    def family(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            local = psutil.Process(self.pid)
            return [local, *local.children(recursive=True)]
        return []

    def threads(self) -> int:
        with suppress(psutil.Error):
            return psutil.Process(self.pid).num_threads()
        return 0

    def cpu_s(self) -> float:
        used = 0.0
        for process in self.family():
            with suppress(psutil.Error):
                times = process.cpu_times()
                used += times.user + times.system
        return used

    def stop(self, grace_s: float = GRACE_S) -> None:
        """End it and whatever it started: SIGTERM, then SIGKILL for what is left of its group.

        Without time to end by itself it gets SIGKILL alone.
        """
        self._looked = 0.0
        self.peak_memory_mb()
        if grace_s and self.alive():
            self._signal_group(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(grace_s)
        self._signal_group(signal.SIGKILL)
        self._child.wait()
        _watchdog.forget(self.pid)

    def wait(self, timeout_s: float) -> int:
        try:
            return self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"not over within {timeout_s:.0f} s") from None

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)


@dataclass(eq=False)
class ProcessProblem(EnvironmentProblem):
    """A process that was started is of no use."""

    what: str
    log: str = ""

    def __str__(self) -> str:
        return f"{self.what}; the end of its log:\n{self.log}" if self.log else self.what


@contextmanager
def running(command: Command) -> Iterator[Process]:
    """Run a process with all that it starts; it is stopped on the way out, or dies with us.

    It gets a small environment, in UTC: none of the user's tokens, proxies and JVM options.
    """
    if shutil.which(command.arguments[0]) is None:
        raise EnvironmentProblem(f"{command.arguments[0]} is not a program that can be started")
    with command.log.open("ab") as log:
        child = _starter.submit(_popen, command, log.fileno()).result()
    process = Process(child, command.log)
    threading.Thread(target=_end_the_rest, args=(child.pid,), daemon=True).start()
    try:
        yield process
    finally:
        process.stop()


def finished(command: Command, timeout_s: float) -> int:
    """Run a program to its end; ProcessProblem: it takes longer than `timeout_s`."""
    with running(command) as process:
        try:
            return process.wait(timeout_s)
        except TimeoutError as late:
            raise ProcessProblem(f"{command.arguments[0]}: {late}", process.log_tail()) from None


def _popen(command: Command, log: int) -> subprocess.Popen[bytes]:
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    guard = (sys.executable, "-I", "-S", parent_guard.__file__, str(os.getpid()))
    child = subprocess.Popen(
        [*guard, *command.arguments],
        cwd=command.folder,
        env={**passed_on, **SET, **command.environment},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    _watchdog.watch(child.pid)
    return child


def _end_the_rest(leader: int) -> None:
    """Wait for the end of a process and end what is left of its group.

    A child that Java was just starting can wait for ever, with a server's connections open.
    """
    with suppress(ChildProcessError):  # its exit code has been taken already
        os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _peak_mb(process: psutil.Process) -> int:
    # Not memory_info(): psutil gives the size of now, the kernel keeps the highest.
    with suppress(OSError):
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace")
        result = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(next(result, "0")) // 1024
    return 0


LOOPBACK: Final = "127.0.0.1"
ATTEMPTS: Final = 3

Started = TypeVar("Started")


class PortTakenProblem(ProcessProblem):
    """A server ended because somebody else took its port between the choice and the start."""


def free_port() -> int:
    """Return a TCP port that nobody listens on at this moment.

    Nothing keeps it free: start servers through `on_free_port`, which chooses again.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as chosen:
        chosen.bind((LOOPBACK, 0))
        port: int = chosen.getsockname()[1]
        return port


@contextmanager
def on_free_port(start: Callable[[int], AbstractContextManager[Started]]) -> Iterator[Started]:
    """Run what `start(port)` gives on a free port; on another one if the first was taken."""
    with ExitStack() as stack:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                started = stack.enter_context(start(free_port()))
                break
            except PortTakenProblem:
                if attempt == ATTEMPTS:
                    raise
        yield started


POLL_S: Final = 0.1
_LOOKED_AT: Final = 2000
_SHOWN: Final = 40
"""So many lines of the log of a process that ended are searched for its reason, and shown."""
_PORT_TAKEN: Final = ("Address already in use", "java.net.BindException", "Failed to bind")

_CONFIGURATION: Final = re.compile(r"Error: (Configuration property .+)")
"""What servers of the Trino family end their log with where they do not take a property."""

T = TypeVar("T")


class EndedProblem(ProcessProblem):
    """A process ended before it was ready; another start may well succeed."""


class StartingProcess(Protocol):
    """What `wait_until` looks at while it waits."""

    def alive(self) -> bool:
        """Return whether it still runs."""

    def log_tail(self, lines: int = _SHOWN) -> str:
        """Return the last lines of its log."""


def until(condition: Callable[[], bool], timeout_s: float) -> bool:
    """Wait for a condition; return whether it came true in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def wait_until(
    check: Callable[[], T],
    process: StartingProcess,
    *,
    timeout_s: float,
    what: str,
    not_yet: tuple[type[Exception], ...],
) -> T:
    """Call `check`, a real query, until it raises none of `not_yet`; return what it gave.

    Raises a ProcessProblem with the end of the log: PortTakenProblem, EndedProblem, or `timeout_s`
    passed.
    """
    results, reason = list[T](), ""

    def ready() -> bool:
        nonlocal reason
        try:
            results.append(check())
        except not_yet as problem:
            reason = str(problem)
        if not (results or process.alive()):
            raise ended(what, process)
        return bool(results)

    if not until(ready, timeout_s):
        late = f"{what} did not get ready within {timeout_s:.0f} s ({reason})"
        raise ProcessProblem(late, process.log_tail())
    return results[0]


def ended(what: str, process: StartingProcess) -> ProcessProblem:
    log = process.log_tail(_LOOKED_AT)
    if result := dict.fromkeys(_CONFIGURATION.findall(log)):
        return ProcessProblem(f"{what} does not take its configuration: {' '.join(result)}")
    kind = PortTakenProblem if any(sign in log for sign in _PORT_TAKEN) else EndedProblem
    return kind(f"{what} ended before it was ready", _log_excerpt(log, _SHOWN))

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.core.errors import EnvironmentProblem
from harness.runtime.process import Command, Process, ProcessProblem, finished, running, wait_until

READ_FOREVER = "import sys; print('up', flush=True); import signal; signal.pause()"


class NotYetError(Exception):
    pass


def python(tmp_path: Path, script: str, **environment: str) -> Command:
    return Command((sys.executable, "-c", script), tmp_path, tmp_path / "log", environment)


def check_log(process: Process, text: str) -> None:
    if text not in process.log_tail():
        raise NotYetError(f"{text} is not in the log")


def ready(process: Process, text: str = "up") -> None:
    wait_until(
        lambda: check_log(process, text), process, timeout_s=60, what="it", not_yet=(NotYetError,)
    )


def test_a_process_runs_until_the_block_ends(tmp_path: Path) -> None:
    with running(python(tmp_path, READ_FOREVER)) as process:
        ready(process)
        assert process.alive()
        assert process.peak_memory_mb() > 0
        # A group of its own: Ctrl-C on the terminal is not meant for it.
        assert os.getpgid(process.pid) == process.pid != os.getpgid(0)
    assert not process.alive()
    assert process.exit_code == -signal.SIGTERM
    assert process.peak_memory_mb() > 0


def test_the_end_of_a_log_and_all_since_then_are_read(tmp_path: Path) -> None:
    command = python(tmp_path, "print('two', end='', flush=True)")
    command.log.write_text("".join(f"line {number}\n" for number in range(20_000)))
    before = command.log.stat().st_size
    with running(command) as process:
        assert process.wait(timeout_s=60) == 0
        assert process.log_tail(2) == "line 19999\ntwo"
        assert process.log_since(before) == "two"
        assert process.log_since(process.log_size()) == ""
        command.log.unlink()
        assert (process.log_tail(), process.log_size(), process.log_since(0)) == ("", 0, "")


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + READ_FOREVER
    with running(python(tmp_path, deaf)) as process:
        ready(process)
        process.stop(grace_s=0.05)
        assert process.exit_code == -signal.SIGKILL


def test_what_a_process_started_ends_with_it(tmp_path: Path) -> None:
    nested = (
        "import subprocess, sys; "
        f"child = subprocess.Popen([sys.executable, '-c', {READ_FOREVER!r}]); "
        "print('child', child.pid, flush=True); child.wait()"
    )
    with running(python(tmp_path, nested)) as process:
        ready(process)
        child = psutil.Process(int(process.log_tail().split()[1]))
        assert child.is_running()
    gone, alive = psutil.wait_procs([child], timeout=60)
    assert (gone, alive) == ([child], [])


def test_what_a_killed_process_had_started_lets_go_of_its_connections(tmp_path: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    nested = (
        "import socket, subprocess, sys; "
        f"line = socket.create_connection(('127.0.0.1', {listener.getsockname()[1]})); "
        f"keeps = [sys.executable, '-c', {READ_FOREVER!r}]; "
        "subprocess.Popen(keeps, pass_fds=[line.fileno()]).wait()"
    )
    with running(python(tmp_path, nested)) as process:
        ready(process)
        line, _ = listener.accept()
        os.kill(process.pid, signal.SIGKILL)
        line.settimeout(60)
        assert line.recv(1) == b""
    line.close()
    listener.close()


def test_a_program_that_is_over_tells_its_exit_code_and_a_slow_one_is_ended(
    tmp_path: Path,
) -> None:
    assert finished(python(tmp_path, "raise SystemExit(7)"), 60) == 7
    with pytest.raises(ProcessProblem, match="not over within 0 s"):
        finished(python(tmp_path, READ_FOREVER), 0)


def test_a_process_gets_few_variables_and_works_in_utc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dx=y")
    show = "import os; print(sorted(os.environ.items())); print('up', flush=True)"
    with running(python(tmp_path, show, EXTRA="1")) as process:
        ready(process)
        names = process.log_tail()
    assert "secret" not in names
    assert "-Dx=y" not in names
    assert "('TZ', 'UTC')" in names
    # A JVM without memory ends, and is not asked on half broken.
    assert "('JAVA_TOOL_OPTIONS', '-XX:+ExitOnOutOfMemoryError')" in names
    assert "('EXTRA', '1')" in names


def test_a_program_that_is_not_there_is_a_problem_of_the_environment(tmp_path: Path) -> None:
    command = Command((str(tmp_path / "java"),), tmp_path, tmp_path / "log")
    with pytest.raises(EnvironmentProblem, match=r"/java is not a program"), running(command):
        pass


def test_a_process_and_what_it_started_die_with_the_harness_even_when_that_is_killed(
    tmp_path: Path,
) -> None:
    nested = (
        "import os, signal, subprocess, sys; "
        f"child = subprocess.Popen([sys.executable, '-c', {READ_FOREVER!r}]); "
        "child.send_signal(signal.SIGSTOP); print(os.getpid(), child.pid, flush=True); "
        "signal.pause()"
    )
    parent = (
        "import signal, sys; from pathlib import Path; "
        "from harness.runtime.process import Command, running\n"
        f"folder = Path({str(tmp_path)!r})\n"
        f"command = Command((sys.executable, '-c', {nested!r}), folder, folder / 'log')\n"
        "with running(command):\n"
        "    while not (found := (folder / 'log').read_text().strip()): pass\n"
        "    print(found, flush=True)\n"
        "    signal.pause()\n"
    )
    harness = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE)
    assert harness.stdout is not None
    started = [psutil.Process(int(number)) for number in harness.stdout.readline().split()]
    harness.kill()
    harness.wait()
    harness.stdout.close()
    gone, alive = psutil.wait_procs(started, timeout=60)
    assert (len(gone), alive) == (2, [])

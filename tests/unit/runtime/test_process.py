import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import jinja2
import psutil
import pytest

from harness.core.errors import EnvironmentProblem
from harness.runtime import process as processes
from harness.runtime import template, work_folders
from harness.runtime.process import (
    ATTEMPTS,
    LOOPBACK,
    Command,
    EndedProblem,
    PortTakenProblem,
    Process,
    ProcessProblem,
    StartingProcess,
    finished,
    free_port,
    on_free_port,
    running,
    wait_until,
)

READ_FOREVER = "import sys; print('up', flush=True); import signal; signal.pause()"


class NotYetError(Exception):
    pass


def python(tmp_path: Path, script: str, **environment: str) -> Command:
    return Command((sys.executable, "-c", script), tmp_path, tmp_path / "log", environment)


def waited(check: Callable[[], str], process: StartingProcess, timeout_s: float = 60) -> str:
    not_yet = (NotYetError, ConnectionError)
    return wait_until(check, process, timeout_s=timeout_s, what="it", not_yet=not_yet)


def ready(process: Process) -> None:
    waited(lambda: "up" if "up" in process.log_tail() else never(), process)


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


def test_a_program_that_is_over_tells_its_exit_code_a_slow_one_is_ended(tmp_path: Path) -> None:
    assert finished(python(tmp_path, "raise SystemExit(7)"), 60) == 7
    with pytest.raises(ProcessProblem, match="not over within 0 s"):
        finished(python(tmp_path, READ_FOREVER), 0)
    with pytest.raises(EnvironmentProblem, match=r"/java is not a program"):
        finished(Command((str(tmp_path / "java"),), tmp_path, tmp_path / "log"), 60)


def test_a_process_gets_few_variables_and_works_in_utc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dx=y")
    show = "import os, signal; print(sorted(os.environ.items())); print('up', flush=True)"
    with running(python(tmp_path, f"{show}; signal.pause()", EXTRA="1")) as process:
        ready(process)
        names = process.log_tail()
    assert "secret" not in names
    assert "-Dx=y" not in names
    assert "('TZ', 'UTC')" in names
    # A JVM without memory ends, and is not asked on half broken.
    assert "('JAVA_TOOL_OPTIONS', '-XX:+ExitOnOutOfMemoryError')" in names
    assert "('EXTRA', '1')" in names


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


@dataclass
class Simulated:
    log: str = ""
    runs: bool = True

    def alive(self) -> bool:
        return self.runs

    def log_tail(self, lines: int = 3) -> str:
        return "\n".join(self.log.splitlines()[-lines:])


def never() -> str:
    raise NotYetError("it loads classes")


def test_what_the_first_check_that_succeeds_gave_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "POLL_S", 0)
    left = ["up", "", ""]
    assert waited(lambda: left.pop() or never(), Simulated()) == "up"
    assert left == []


def test_waiting_for_a_process_that_ended_tells_the_end_of_its_log() -> None:
    with pytest.raises(EndedProblem, match=r"it ended before it was ready(.|\n)*no memory"):
        waited(never, Simulated("no memory", runs=False))


def test_waiting_for_a_process_that_is_silent_ends_with_the_last_reason() -> None:
    with pytest.raises(ProcessProblem, match=r"within 0 s \(it loads classes\)(.|\n)*slow") as late:
        waited(never, Simulated("slow"), timeout_s=0)
    assert not isinstance(late.value, EndedProblem)  # another start would be as slow
    assert late.value.log == "slow"


def test_the_reason_is_found_and_shown_where_the_log_ends_with_much_else() -> None:
    log = "\n".join(["Caused by: BindException: Address already in use", *["Net: sun.nio"] * 200])
    with pytest.raises(PortTakenProblem, match=r"Caused by: BindException") as taken:
        waited(never, Simulated(log, runs=False))
    assert str(taken.value).count("Net") == 40


def test_an_unexpected_error_of_a_check_is_not_waited_out() -> None:
    with pytest.raises(ZeroDivisionError):
        waited(lambda: str(1 // 0), Simulated())


def test_a_property_that_a_server_does_not_know_is_all_that_is_reported() -> None:
    message = "Configuration property 'hudi.x' was not used. Did you mean to use 'hudi.y'?"
    errors = f"1) Error: {message}\n"
    log = f"{errors}\n1 error\nException: Configuration errors:\n{errors}\tat a"
    with pytest.raises(ProcessProblem) as problem:
        waited(never, Simulated(log, runs=False))
    assert str(problem.value) == f"it does not take its configuration: {message}"


def test_it_is_given_up_when_every_port_was_taken() -> None:
    tried: list[int] = []

    def start(port: int) -> AbstractContextManager[int]:
        tried.append(port)
        raise PortTakenProblem(f"{port} is in use")

    with pytest.raises(PortTakenProblem), on_free_port(start):
        pass
    assert len(tried) == ATTEMPTS


SERVES = (
    "import socket, sys, signal; server = socket.socket(); "
    "server.bind(('127.0.0.1', int(sys.argv[1]))); server.listen(); signal.pause()"
)


def test_a_real_server_whose_port_somebody_took_is_started_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        taken, free = other.getsockname()[1], free_port()
        chosen = iter([taken, taken, free])
        monkeypatch.setattr(processes, "free_port", lambda: next(chosen))

        @contextmanager
        def start(port: int) -> Iterator[int]:
            arguments = (sys.executable, "-c", SERVES, str(port))
            with running(Command(arguments, tmp_path, tmp_path / f"{port}.log")) as process:
                waited(lambda: answered(process, port), process)
                yield port

        with on_free_port(start) as port:
            assert port == free
    assert "Address already in use" in (tmp_path / f"{taken}.log").read_text()


def answered(process: Process, port: int) -> str:
    """Connect to the process, and to nobody else who listens there."""
    connections = psutil.Process(process.pid).net_connections()
    if not any(connection.laddr.port == port for connection in connections):
        raise ConnectionRefusedError(port)
    return "up"


def test_values_in_an_xml_template_are_escaped() -> None:
    values = {"host": "h", "database": "/a & b/<derby>", "warehouse": "w", "properties": {}}
    text = template.render("metastore", "hive-site.xml", values)
    root = ET.fromstring(text)  # noqa: S314 - our own template
    properties = {element.findtext("name"): element.findtext("value") for element in root}
    url = properties["javax.jdo.option.ConnectionURL"]
    assert url == "jdbc:derby:;databaseName=/a & b/<derby>"


def test_a_missing_value_is_an_error_and_not_empty() -> None:
    with pytest.raises(jinja2.UndefinedError, match="warehouse"):
        template.render("metastore", "hive-site.xml", {"database": "d"})


def test_a_new_folder_has_the_first_number_that_is_free(tmp_path: Path) -> None:
    names = [
        work_folders.numbered(tmp_path / "engines", name).name for name in ("hive", "hive", "spark")
    ]
    assert names == ["hive-0", "hive-1", "spark-0"]
    assert work_folders.numbered(tmp_path, "table", iter([3])).name == "table-3"


def test_a_folder_that_somebody_else_just_made_is_left_to_him(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hive-0").mkdir()
    monkeypatch.setattr(Path, "exists", lambda _: False)  # nobody saw it come
    assert work_folders.numbered(tmp_path, "hive").name == "hive-1"

"""Start a Spark JVM in a process of its own (`spark.worker`), for `spark.session` to speak to."""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import psutil

from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem, HarnessError
from harness.engines.spark.conf import session_conf
from harness.engines.spark.session import OPEN_S, Spark, SparkRefusal, SparkSilent
from harness.engines.spark.worker import TOKEN
from harness.runtime import jvm_cds
from harness.runtime.jvm_cds import ClassArchive
from harness.runtime.ports import LOOPBACK
from harness.runtime.process import Command, Process, running
from harness.runtime.readiness import POLL_S, EndedProblem, NotReadyProblem

START_S: Final = 180.0
"""How long the JVM and its first session may take; 8 s on a calm machine."""
LOG: Final = "spark.log"


@contextmanager
def spark(installation: Installation, metastore_uri: str, folder: Path) -> Iterator[Spark]:
    """Run a JVM of a Spark distribution; it is ended on the way out.

    `folder` is empty and the process's own; its log lies there.

    Raises:
        EndedProblem: the process ended before it was ready; with the end of its log.
        NotReadyProblem: it did not start in time; with the end of its log.

    """
    _check_version(installation)
    archive = jvm_cds.of(installation, _class_path(installation))
    token = secrets.token_hex(16)
    conf = session_conf(installation, metastore_uri, folder, archive.options)
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server((LOOPBACK, 0)))
        command = _command(installation, folder, server.getsockname()[1], token)
        process = stack.enter_context(running(command))
        connection = stack.enter_context(_accept(server, token, process))
        found = Spark(process, connection)
        stack.callback(found.end)
        _start(found, conf)
        yield found
        _keep(archive, process, installation)


def _class_path(installation: Installation) -> tuple[Path, ...]:
    found = find_spec("pyspark")
    places = found.submodule_search_locations if found else None
    return (*installation.jars("front"), *(Path(each) / "jars" for each in places or ()))


def _keep(archive: ClassArchive, process: Process, installation: Installation) -> None:
    """Let the archive be made of the worker's Java."""
    with suppress(psutil.Error):
        family = psutil.Process(process.pid).children(recursive=True)
        for each in family:
            if each.name() == "java":
                archive.keep(process, installation, each.pid)


def _check_version(installation: Installation) -> None:
    wanted, found = installation.distribution.text("pyspark"), metadata.version("pyspark")
    if wanted != found:
        raise EnvironmentProblem(
            f"{installation.distribution.name} needs PySpark {wanted}, this Python environment "
            f"has {found}; make one with the versions of requirements.lock"
        )


def _command(installation: Installation, folder: Path, port: int, token: str) -> Command:
    environment = {
        TOKEN: token,
        "JAVA_HOME": str(installation.java_home),
        "SPARK_LOCAL_IP": LOOPBACK,
        # Nobody else's configuration. It stands on the class path, which archives of classes
        # belong to: so no folder of this run's, and nothing that there is.
        "SPARK_CONF_DIR": os.devnull,
        "PYSPARK_PYTHON": sys.executable,
    }
    arguments = (sys.executable, "-m", "harness.engines.spark.worker", str(port))
    return Command(arguments, folder, folder / LOG, environment)


def _accept(server: socket.socket, token: str, process: Process) -> socket.socket:
    """Wait for the worker; anything else that connects does not know the token."""
    server.settimeout(POLL_S)
    deadline = time.monotonic() + START_S
    while process.alive() and time.monotonic() < deadline:
        try:
            connection, _ = server.accept()
        except TimeoutError:
            continue
        connection.settimeout(OPEN_S)
        with suppress(TimeoutError):
            if secrets.compare_digest(_first_line(connection), token):
                connection.settimeout(None)
                return connection
        connection.close()
    kind = NotReadyProblem if process.alive() else EndedProblem
    raise kind("Spark did not start", process.log_tail())


def _first_line(connection: socket.socket) -> str:
    line = b""
    while not line.endswith(b"\n") and (byte := connection.recv(1)):
        line += byte
    return line.decode(errors="replace").strip()


def _start(found: Spark, conf: Mapping[str, str]) -> None:
    try:
        found.ask(START_S, do="start", conf=dict(conf))
    except (SparkSilent, SparkRefusal, HarnessError) as problem:
        kind = NotReadyProblem if found.alive() else EndedProblem
        raise kind(f"Spark did not start: {problem}", found.log_tail()) from None

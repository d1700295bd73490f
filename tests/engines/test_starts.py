"""Starts that come to nothing, of every engine that reads: no memory, no end, a port in use."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness import engines
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.engines.hive import engine as hive
from harness.engines.spark import engine as spark
from harness.engines.spark import launch
from harness.engines.trino import engine as trino
from harness.runtime import process
from harness.runtime.metastore import Metastore
from harness.runtime.process_runtime import ProcessRuntime
from tests.engines.everyone import Installed

pytestmark = [pytest.mark.engines, pytest.mark.alone]

BY_DAY = {"hive-3.1.3", "spark-3.5.8-hudi-1.0.2", "trino-476"}
"""One for each code that starts an engine; the others are left to the night."""


def started(*names: str) -> list[pytest.ParameterSet]:
    return [
        pytest.param(name, marks=() if name in BY_DAY else pytest.mark.nightly) for name in names
    ]


READERS = started(
    "hive-2.3.10",
    "hive-3.1.3",
    "hive-3.1.3-iceberg-1.4.3",
    "hive-4.0.1",
    "prestodb-0.283",
    "prestosql-350",
    "spark-3.5.8-hudi-1.0.2",
    "spark-3.5.8-hudi-1.2.0",
    "spark-3.5.8-iceberg-1.10.1",
    "trino-368",
    "trino-476",
    "trino-483",
)
ON_A_PORT = ("hive-3.1.3", "prestosql-350", "trino-476")
"""Those that are told their port, which the same code picks for all; Spark's is picked by a process
of the harness's own."""
TINY_MB = 24
SOON_S = 4.0
LOOK_S = 0.02
"""Far less than any of them takes to get ready; looking without a pause takes a whole processor."""


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, installed: Installed) -> Installation:
    return installed(request.param)


@pytest.fixture
def family() -> Iterator[list[psutil.Process]]:
    """The processes that this one had before; afterwards it has no others."""
    before = psutil.Process().children(recursive=True)
    yield before
    assert [
        child for child in psutil.Process().children(recursive=True) if child not in before
    ] == []


def starts(
    reader: Installation, metastore: Metastore, folder: Path, progress: Progress, match: str
) -> None:
    engine = engines.load(reader.distribution.engine)
    with (
        pytest.raises(EnvironmentProblem, match=match),
        engine.serve(ProcessRuntime(reader), metastore.uris, folder, progress),
    ):
        pass


@pytest.mark.usefixtures("family")
def test_an_engine_without_enough_memory_ends_and_says_so(
    reader: Installation, metastore: Metastore, progress: Progress, tmp_path: Path
) -> None:
    tiny = replace(reader, distribution=replace(reader.distribution, heap_mb=TINY_MB))
    starts(tiny, metastore, tmp_path, progress, r"(?i)OutOfMemory|memory|heap")


@contextmanager
def stopping_what_starts(before: list[psutil.Process]) -> Iterator[list[psutil.Process]]:
    """Stop every Java process that begins, as soon as it is there: it will never be ready."""
    stopped: list[psutil.Process] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    if child not in before and child not in stopped and child.name() == "java":
                        child.send_signal(signal.SIGSTOP)
                        stopped.append(child)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield stopped
    finally:
        over.set()
        thread.join()


def test_an_engine_that_never_gets_ready_is_given_up_and_ended(
    reader: Installation,
    metastore: Metastore,
    family: list[psutil.Process],
    progress: Progress,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (hive, spark, trino):
        monkeypatch.setattr(module, "READY_S", SOON_S)
    # What makes archives of classes is Java too: it would be stopped, and waited for.
    reader = replace(reader, archives=None)
    monkeypatch.setattr(launch, "START_S", SOON_S)
    with stopping_what_starts(family) as stopped:
        starts(reader, metastore, tmp_path, progress, r"did not (get ready within 4 s|start)")
    assert len(stopped) >= 1
    assert psutil.wait_procs(stopped, timeout=60)[1] == []


@pytest.mark.parametrize(
    "name",
    [
        "spark-3.5.8-hudi-1.0.2",  # which ends by itself before it is stopped
        pytest.param("hive-3.1.3", marks=pytest.mark.nightly),
        pytest.param("trino-476", marks=pytest.mark.nightly),
    ],
)
def test_the_second_start_leaves_an_archive_of_its_classes(
    name: str, installed: Installed, metastore: Metastore, progress: Progress, tmp_path: Path
) -> None:
    reader = replace(installed(name), archives=tmp_path / "archives")
    engine, made = engines.load(reader.distribution.engine), []
    for number in "12":
        (folder := tmp_path / number).mkdir()
        with engine.serve(ProcessRuntime(reader), metastore.uris, folder, progress):
            pass
        made.append(len([*(tmp_path / "archives").glob(f"{name}-*.jsa")]))
    assert made == [0, 1]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ON_A_PORT)
def test_a_port_in_use_is_left_and_another_one_taken(
    name: str,
    installed: Installed,
    metastore: Metastore,
    progress: Progress,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = installed(name)
    engine = engines.load(reader.distribution.engine)
    with closing(socket.create_server((process.LOOPBACK, 0))) as taken:
        others = iter([taken.getsockname()[1]])
        free = process.free_port
        monkeypatch.setattr(process, "free_port", lambda: next(others, None) or free())
        with engine.serve(ProcessRuntime(reader), metastore.uris, tmp_path, progress) as server:
            assert next(others, None) is None, "the port in use was tried"
            with closing(server.connect({})) as connection:
                assert connection.run("select 1", timeout_s=60).rows == ((1,),)

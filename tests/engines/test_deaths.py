"""Deaths of the harness and of a server: the run is gone on with, and the verdicts are the same.

`tools/deaths.py` does the same at random moments, hundreds of times.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.artifacts.cache import Cache
from harness.core.progress import Progress
from harness.engines.api import NoAnswerError
from harness.read import TIMEOUT_S
from harness.read.questions import load_engine
from harness.runtime.metastore import Metastore
from harness.runtime.process_runtime import ProcessRuntime
from tests.engines.everyone import GREEDY, Installed
from tests.engines.until import until as until_true

pytestmark = [pytest.mark.engines, pytest.mark.alone]
nightly = pytest.mark.nightly

SCENARIOS = Path(__file__).parents[2] / "tools" / "deaths_scenarios"
READER = "hive-3.1.3"
GOOD = 0
"""The status of this run: both its readers are right about a column that moves."""
INTERRUPTED = 130
FILL_THE_HEAP = (
    ("spark-3.5.8-hudi-1.0.2", "select length(repeat('x', 2000000000)) n"),
    ("prestodb-0.283", GREEDY),
)
"""By engine that ends for lack of memory (because every JVM is told to), a query that takes more
than its heap; the machine's memory is not touched."""


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "harness", "run", "--run-dir", str(folder), "--json", *options]


def planned(folder: Path) -> list[str]:
    return command(folder, str(SCENARIOS), "--profile", "deaths", "-k", READER, "--fresh")


@contextmanager
def started(
    folder: Path, *options: str, cache: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "HARNESS_CACHE": str(cache or Cache.default().root)}
    with subprocess.Popen(
        [*planned(folder), *options], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process


def until(process: subprocess.Popen[str], text: str = "", **expected: object) -> None:
    """Read events until one has all `expected` values and a text that begins with `text`."""
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if expected.items() <= event.items() and str(event.get("text", "")).startswith(text):
            return
    raise AssertionError(f"the run ended without {expected}")


def family(process: subprocess.Popen[str]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def all_end(processes: list[psutil.Process]) -> bool:
    return psutil.wait_procs(processes, timeout=60)[1] == []


def verdicts(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) | {"seconds": 0, "reused": False} for line in lines]


def resume(folder: Path, cache: Path | None = None) -> tuple[int, dict[str, Any]]:
    environment = {**os.environ, "HARNESS_CACHE": str(cache or Cache.default().root)}
    done = subprocess.run(
        command(folder, "--resume"), capture_output=True, text=True, check=False, env=environment
    )
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("deaths") / "undisturbed"
    done = subprocess.run(planned(folder), capture_output=True, text=True, check=False)
    assert done.returncode == GOOD, done.stderr
    return verdicts(folder)


def test_a_harness_that_is_killed_leaves_nothing_running_and_its_run_is_gone_on_with(
    undisturbed: list[dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with started(folder) as process:
        until(process, event="progress", by="hive-3.1.3")
        children = family(process)
        assert len(children) >= 2
        process.kill()
    assert all_end(children)
    status, end = resume(folder)
    assert (status, end["event"], end["status"]) == (GOOD, "end", GOOD)
    assert verdicts(folder) == undisturbed
    assert not [path for path in (folder / "engines").glob("*/*") if path.is_dir()]


@nightly
@pytest.mark.parametrize(
    ("who", "number"),
    [
        pytest.param("hive-3.1.3-0", signal.SIGKILL, id="hive-killed"),
        pytest.param("hive-3.1.3-0", signal.SIGSTOP, id="hive-hangs"),
        pytest.param("metastore-0", signal.SIGKILL, id="metastore-killed"),
        pytest.param("metastore-0", signal.SIGSTOP, id="metastore-hangs"),
    ],
)
def test_a_server_that_is_lost_is_started_again_and_the_run_goes_on(
    undisturbed: list[dict[str, Any]], tmp_path: Path, who: str, number: signal.Signals
) -> None:
    folder = tmp_path / "run"
    with started(folder, "--timeout", "15") as process:
        until(process, event="progress", by="hive-3.1.3")
        (server,) = [child for child in family(process) if child.cwd().endswith(who)]
        server.send_signal(number)
        until(process, event="end", status=GOOD)
    assert verdicts(folder) == undisturbed


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 143)]
)
@nightly
def test_an_interruption_ends_the_run_and_says_how_to_go_on(
    undisturbed: list[dict[str, Any]], tmp_path: Path, number: signal.Signals, status: int
) -> None:
    folder = tmp_path / "run"
    with started(folder) as process:
        until(process, event="progress", by="hive-3.1.3")
        children = family(process)
        process.send_signal(number)
        assert process.stdout is not None
        end = json.loads(process.stdout.read().splitlines()[-1])
    assert process.returncode == status
    assert f"harness run --resume --run-dir {folder}" in end["problem"]
    assert all_end(children)
    assert resume(folder)[0] == GOOD
    assert verdicts(folder) == undisturbed


@nightly
@pytest.mark.parametrize(("name", "filling"), FILL_THE_HEAP)
def test_a_query_that_fills_the_heap_gets_no_answer_and_ends_the_engine(
    name: str,
    filling: str,
    installed: Installed,
    metastore: Metastore,
    progress: Progress,
    tmp_path: Path,
) -> None:
    runtime, engine = ProcessRuntime(installed(name)), load_engine(name)
    with engine.serve(runtime, metastore.uris, tmp_path, progress) as server:
        with closing(server.connect({})) as session, pytest.raises(NoAnswerError):
            session.run(filling, timeout_s=TIMEOUT_S)
        until_true(lambda: not server.alive(), "it goes on")
        assert "java.lang.OutOfMemoryError" in server.log_tail()

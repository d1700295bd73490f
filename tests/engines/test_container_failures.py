"""Failures of containers and of the daemon: what is reported, and that nothing is left."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.runtime import docker_daemon
from harness.runtime.api import Running
from harness.runtime.container_network import ContainerNetwork
from harness.runtime.process import EndedProblem
from tests.engines.tiny_container import FOREVER, containers, runtime, start
from tests.engines.until import until

pytestmark = [pytest.mark.engines, pytest.mark.docker, pytest.mark.usefixtures("docker")]

READY = f"trap 'exit 0' TERM; touch $FOLDER/ready; {FOREVER}"
FILL = "tail /dev/zero"
"""A line without an end, which is kept in memory."""
USER = 12345


@pytest.fixture
def network() -> Iterator[ContainerNetwork]:
    container_network = ContainerNetwork()
    yield container_network
    container_network.close()


def ends(running: Running) -> None:
    until(lambda: not running.alive(), "the container still runs")


def test_one_that_ends_at_once_shows_its_log(network: ContainerNetwork, tmp_path: Path) -> None:
    with (
        pytest.raises(EndedProblem, match=r"tiny .* ended before it was ready") as problem,
        start(runtime(network), "echo it is broken >&2; exit 3", tmp_path),
    ):
        pass
    assert problem.value.log == "it is broken"
    assert containers(network) == []


def test_too_little_memory_is_reported_with_the_limit_before_it_is_ready_and_later(
    network: ContainerNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.runtime.image.BESIDE_HEAP_MB", 16)
    message = "tiny took more memory than its container may have, 32 MiB: a heap of 16 MiB"
    with (
        pytest.raises(EndedProblem, match=message),
        start(runtime(network), f"exec {FILL}", tmp_path),
    ):
        pass
    later = "touch $FOLDER/ready; while [ -e $FOLDER/ready ]; do sleep 0.1; done; exec"
    with start(runtime(network), f"{later} {FILL}", tmp_path) as running:
        (tmp_path / "ready").unlink()
        ends(running)
        assert message in running.log_tail()


@pytest.mark.parametrize("how", ["kill", "remove"])
def test_one_that_somebody_ends_is_seen_to_be_gone(
    network: ContainerNetwork, tmp_path: Path, how: str
) -> None:
    with start(runtime(network), f"echo begun; {READY}", tmp_path) as running:
        with closing(docker_daemon.client()) as client:
            (result,) = map(client.containers.get, containers(network))
            result.kill() if how == "kill" else result.remove(force=True)
        ends(running)
        assert running.log_tail() == "begun"
    assert containers(network) == []


@pytest.fixture
def folder_of_user() -> Iterator[Path]:
    """A folder of somebody who is not root, whom root may stand for."""
    if os.getuid() != 0:
        pytest.skip("only root can stand for somebody else")
    path = Path(tempfile.mkdtemp(dir="/var/tmp"))
    os.chown(path, USER, USER)
    yield path
    shutil.rmtree(path)


def test_whoever_runs_it_has_a_name_inside_and_can_remove_what_it_wrote(
    network: ContainerNetwork, folder_of_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of_user / "engine"
    folder.mkdir()
    os.chown(folder, USER, USER)
    monkeypatch.setattr(os, "getuid", lambda: USER)
    monkeypatch.setattr(os, "getgid", lambda: USER)
    write = "touch /srv/file; mkdir $FOLDER/table; echo 1 > $FOLDER/table/file"
    text = f"id -un; id -gn; {write}; {READY}"
    with start(runtime(network), text, folder) as running:
        until(lambda: running.log_size() > 0, "it said nothing")
    assert running.log_tail() == "harness\nharness"
    for path, mode in ((folder / "table", 0o755), (folder / "table/file", 0o644)):
        assert (path.stat().st_uid, path.stat().st_mode & 0o777) == (USER, mode)
    subprocess.run(["/bin/rm", "-r", str(folder / "table")], check=True, user=USER, group=USER)

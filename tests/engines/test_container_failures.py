"""Containers that fail, and a daemon that does: what people are told, and that nothing is left."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.artifacts.cache import Cache
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.runtime import docker_daemon, image_choice
from harness.runtime.api import Running
from harness.runtime.container_network import ContainerNetwork
from harness.runtime.image_choice import PREFIX
from harness.runtime.process import EndedProblem
from tests.engines import own_daemon, tiny_container
from tests.engines.own_daemon import OwnDaemon
from tests.engines.tiny_container import BASE, FOREVER, containers, runtime, start
from tests.engines.until import until

pytestmark = [pytest.mark.engines, pytest.mark.docker, pytest.mark.usefixtures("docker")]

READY = f"trap 'exit 0' TERM; touch $FOLDER/ready; {FOREVER}"
FILL = "tail /dev/zero"
"""A line without an end, which is kept in memory."""
USER = 12345
LEFT_OPEN = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture
def network() -> Iterator[ContainerNetwork]:
    found = ContainerNetwork()
    yield found
    found.close()


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


def test_one_that_cannot_be_started_is_told(network: ContainerNetwork, tmp_path: Path) -> None:
    with (
        pytest.raises(EnvironmentProblem, match=f"start a container of {BASE}: .*/nowhere"),
        start(runtime(network, "/nowhere"), READY, tmp_path),
    ):
        pass
    assert containers(network) == []


def test_an_image_that_is_gone_is_told(network: ContainerNetwork, tmp_path: Path) -> None:
    gone = runtime(network, reference="127.0.0.1:1/gone:1")
    with (
        pytest.raises(EnvironmentProblem, match=r"start a container of 127.0.0.1:1/gone:1: "),
        start(gone, READY, tmp_path),
    ):
        pass


def test_too_little_memory_is_told_with_the_limit_before_it_is_ready_and_later(
    network: ContainerNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.runtime.image.BESIDE_HEAP_MB", 16)
    told = "tiny took more memory than its container may have, 32 MiB: a heap of 16 MiB"
    with pytest.raises(EndedProblem, match=told), start(runtime(network), f"exec {FILL}", tmp_path):
        pass
    later = "touch $FOLDER/ready; while [ -e $FOLDER/ready ]; do sleep 0.1; done; exec"
    with start(runtime(network), f"{later} {FILL}", tmp_path) as running:
        (tmp_path / "ready").unlink()
        ends(running)
        assert told in running.log_tail()


def test_a_machine_with_less_memory_than_a_container_may_take_is_told_before_any_start(
    network: ContainerNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = docker_daemon.describe().memory_mb
    monkeypatch.setattr("harness.runtime.image.BESIDE_HEAP_MB", has)
    with (
        pytest.raises(EnvironmentProblem, match=f"may take {has + 16} MiB .* has {has} MiB"),
        start(runtime(network), READY, tmp_path),
    ):
        pass


@pytest.mark.parametrize("how", ["kill", "remove"])
def test_one_that_somebody_ends_is_seen_to_be_gone(
    network: ContainerNetwork, tmp_path: Path, how: str
) -> None:
    with start(runtime(network), f"echo begun; {READY}", tmp_path) as running:
        with closing(docker_daemon.client()) as client:
            (found,) = map(client.containers.get, containers(network))
            found.kill() if how == "kill" else found.remove(force=True)
        ends(running)
        assert running.log_tail() == "begun"
    assert containers(network) == []


def test_an_image_for_other_machines_is_told_before_any_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "other.example/trinodb/trino:476"
    tiny_container.load_image(name, "s390x")
    monkeypatch.setenv(PREFIX, "other.example/")
    monkeypatch.setattr(image_choice, "_chosen", {})
    with pytest.raises(EnvironmentProblem, match=f"{name} is for s390x, and .* machine is"):
        image_choice.choose(tiny_container.TRINO, Cache(tmp_path), Progress())
    with closing(docker_daemon.client()) as client:
        client.images.remove(name)


@pytest.fixture
def folder_of_user() -> Iterator[Path]:
    """A folder of somebody who is not root, whom root may stand for."""
    if os.getuid() != 0:
        pytest.skip("only root can stand for somebody else")
    found = Path(tempfile.mkdtemp(dir="/var/tmp"))
    os.chown(found, USER, USER)
    yield found
    shutil.rmtree(found)


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


@pytest.fixture(scope="module")
def image(docker: None) -> bytes:
    """The image of scripts, to be loaded elsewhere."""
    with closing(docker_daemon.client()) as client:
        return b"".join(client.images.get(BASE).save(named=BASE))


@pytest.fixture(scope="module")
def own(docker: None) -> Iterator[OwnDaemon]:
    """A daemon that tests may stop."""
    if why := own_daemon.missing():
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    found = OwnDaemon(folder)
    yield found
    found.stop()
    shutil.rmtree(folder)


@pytest.fixture
def daemon(own: OwnDaemon, image: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnDaemon]:
    """That daemon, with the image of scripts; it is the one that the harness asks."""
    monkeypatch.setenv("DOCKER_HOST", own.host)
    own.start()
    with closing(docker_daemon.client()) as client:
        client.api.timeout = 600
        if docker_daemon.local(client, BASE) is None:
            client.images.load(image)
    yield own
    gc.collect()  # docker's client leaves a socket open at which nobody answers: see LEFT_OPEN


@LEFT_OPEN
def test_a_daemon_that_is_restarted_takes_a_server_with_it_and_the_next_one_runs(
    daemon: OwnDaemon, network: ContainerNetwork, tmp_path: Path
) -> None:
    with start(runtime(network), READY, tmp_path) as running:
        daemon.stop()
        ends(running)
        with (
            pytest.raises(EnvironmentProblem, match="no Docker daemon"),
            start(runtime(network), READY, tmp_path),
        ):
            pass
        daemon.start()
        assert not running.alive()
    (tmp_path / "ready").unlink()
    with start(runtime(network), READY, tmp_path) as again:
        assert again.alive()
    network.close()
    assert containers(network) == []


@LEFT_OPEN
def test_what_is_left_while_the_daemon_is_away_goes_at_the_end(
    daemon: OwnDaemon, network: ContainerNetwork, tmp_path: Path
) -> None:
    with start(runtime(network), READY, tmp_path):
        daemon.stop()
    daemon.start()
    assert len(containers(network)) == 1
    network.close()
    assert containers(network) == []

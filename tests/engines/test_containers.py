"""Engines in containers: the same answers as by processes, and nothing that is left behind."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.core.runtime_names import AT, CONTAINER
from harness.runtime import container_network, docker_daemon
from tests.engines.ci_run import Finished, run
from tests.engines.container_owners import owners_of
from tests.engines.until import until

pytestmark = [
    *(pytest.mark.engines, pytest.mark.alone, pytest.mark.docker),
    pytest.mark.usefixtures("docker"),
]

SUFFIX = f"{AT}{CONTAINER}"
SCENARIOS = Path(__file__).parents[2] / "tools" / "deaths_scenarios"
READER = "hive-3.1.3"


@pytest.fixture(scope="module")
def contained(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("contained") / "ci"
    return run(folder, "--fresh", "--runtime", CONTAINER)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The same by processes; what the cache has of an earlier run is not asked again."""
    return run(tmp_path_factory.mktemp("processes") / "ci")


def judged(finished: Finished) -> Mapping[str, object]:
    return {
        verdict["case"].replace(SUFFIX, ""): (
            verdict["verdict"],
            verdict["reproduces"],
            [
                (finding["kind"], finding["party"], places(finding))
                for finding in verdict["findings"]
            ],
        )
        for verdict in finished.verdicts
    }


def places(finding: Mapping[str, Any]) -> list[Mapping[str, object]]:
    """Return the wrong places without the names of files, which no two writings have alike."""
    return [{k: v for k, v in place.items() if k != "file"} for place in finding["places"]]


def test_cell_for_cell_the_verdicts_are_those_of_processes(
    contained: Finished, processes: Finished
) -> None:
    assert contained.status == processes.status, contained.output
    by_process, by_container = judged(processes), judged(contained)
    assert by_container.keys() == by_process.keys()
    unlike = [case for case, verdict in by_process.items() if by_container[case] != verdict]
    assert unlike == []


def published(process: int) -> list[str]:
    with closing(docker_daemon.client()) as client:
        labels = [f"{container_network.OWNER}={name}" for name in owners_of(process)]
        every = [e for label in labels for e in client.containers.list(filters={"label": label})]
    ports = (
        addresses
        for container in every
        for addresses in container.attrs["NetworkSettings"]["Ports"].values()
    )
    return [one["HostIp"] for port in ports for one in port or ()]


def test_a_harness_that_is_killed_leaves_nothing_and_publishes_on_loopback_alone(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "harness", "run", "--profile", "first", "--fresh"]
    options = ["--runtime", CONTAINER, "--run-dir", str(tmp_path / "run")]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as started:
        until(lambda: bool(published(started.pid)), "no container was started")
        hosts = set(published(started.pid))
        os.kill(started.pid, signal.SIGKILL)
    assert hosts == {"127.0.0.1"}
    until(lambda: not owners_of(started.pid), "containers were left")


def small_run(folder: Path, *options: str) -> list[str]:
    command = [sys.executable, "-m", "harness", "run", str(SCENARIOS), "--profile", "deaths"]
    return [*command, "-k", READER, "--fresh", "--json", "--run-dir", str(folder), *options]


def kill_server(folder: Path) -> None:
    with closing(docker_daemon.client()) as client:
        every = client.containers.list(filters={"label": container_network.OWNER})
        (result,) = [
            container
            for container in every
            if any(one["Source"] == str(folder) for one in container.attrs["Mounts"])
        ]
        result.kill()


def test_a_container_that_is_killed_is_started_again_and_the_verdicts_are_the_same(
    tmp_path: Path,
) -> None:
    by_process, folder = tmp_path / "process", tmp_path / "container"
    undisturbed = subprocess.run(small_run(by_process), capture_output=True, text=True, check=False)
    server = folder / "engines" / f"{READER}{SUFFIX}"
    with subprocess.Popen(
        small_run(folder, "--runtime", CONTAINER), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        events = map(json.loads, process.stdout)
        next(
            event
            for event in events
            if (event["event"], event.get("by")) == ("progress", server.name)
        )
        kill_server(server.with_name(f"{server.name}-0"))
        *_, end = events
    assert (end["event"], process.returncode) == ("end", undisturbed.returncode)
    assert judged(Finished(folder, 0, "")) == judged(Finished(by_process, 0, ""))
    assert server.with_name(f"{server.name}-1").exists(), "it was started once more"
    assert owners_of(process.pid) == set()

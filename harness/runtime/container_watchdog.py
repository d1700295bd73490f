"""Remove containers and networks by their label, and do so when the harness that made them is gone.

`python -m harness.runtime.container_watchdog OWNER` waits for the end of its standard input, a pipe
of which only the harness holds the other end, and then removes what is labelled with OWNER.
"""

from __future__ import annotations

import signal
import sys
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from harness.core.errors import EnvironmentProblem
from harness.runtime import docker_daemon

if TYPE_CHECKING:
    from docker import DockerClient

OWNER: Final = "lake-table-harness.owner"
"""The label that says by which harness something was made."""
LATE_S: Final = 30.0
"""So long the daemon may take for what it was asked last: it goes on though nobody waits."""
LOOK_S: Final = 1.0


def owners() -> set[str]:
    """Return who made what is there.

    Raises:
        EnvironmentProblem: no daemon answers.

    """
    with closing(docker_daemon.client()) as client, docker_daemon.asked("list containers"):
        every = [
            *(each.labels for each in client.containers.list(all=True, filters={"label": OWNER})),
            *(each.attrs["Labels"] for each in client.networks.list(filters={"label": OWNER})),
        ]
        return {labels[OWNER] for labels in every}


def remove(owner: str) -> None:
    """Remove all that is labelled with an owner; what is being removed already is left.

    So is all of it where the daemon is away: the next harness sweeps.
    """
    with (
        suppress(EnvironmentProblem),
        closing(docker_daemon.client()) as client,
        docker_daemon.asked("remove what a harness left"),
    ):
        _remove(client, f"{OWNER}={owner}")


def _remove(client: DockerClient, label: str) -> None:
    from docker.errors import DockerException  # noqa: PLC0415

    for container in client.containers.list(all=True, filters={"label": label}):
        with suppress(DockerException):
            container.remove(force=True, v=True)
    for network in client.networks.list(filters={"label": label}):
        with suppress(DockerException):
            network.remove()


def main() -> None:
    """Wait for the end of the harness, then remove what it left, and what comes to be later."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.read()
    until = time.monotonic() + LATE_S
    while time.monotonic() < until:
        remove(sys.argv[1])
        time.sleep(LOOK_S)


if __name__ == "__main__":
    main()

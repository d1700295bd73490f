"""A shell script as a server in a container: what a runtime does, without an engine."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from pathlib import Path

from harness.artifacts import distributions
from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.runtime import docker_daemon
from harness.runtime.api import Running, Surroundings
from harness.runtime.container_network import OWNER, ContainerNetwork
from harness.runtime.container_runtime import ContainerRuntime
from harness.runtime.image import ImageContract
from harness.runtime.image_choice import ContainerImage

BASE = "debian:bookworm-slim"
"""What the images of engines are built on."""
TRINO = distributions.load("trino-476@container")
TINY = replace(TRINO, name="tiny", heap_mb=16)
FOREVER = "while :; do sleep 0.1; done"


class NotYetError(Exception):
    """The script has not said that it is ready."""


@dataclass(frozen=True)
class Script:
    """A server that is a shell script; `$FOLDER` is its own, where the file `ready` says so."""

    text: str
    distribution: Distribution = TINY
    log: str = "tiny.log"
    ready_s: float = 120.0
    not_yet: tuple[type[Exception], ...] = (NotYetError,)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        return {"run.sh": self.text}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {"FOLDER": str(around.folder)}

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        raise NotImplementedError

    def class_path(self, installation: Installation) -> Sequence[Path]:
        raise NotImplementedError


def runtime(network: ContainerNetwork, *command: str, reference: str = BASE) -> ContainerRuntime:
    """Return how scripts are run; `command`: another one than that of the script."""
    contract = ImageContract(
        "tiny", "1", port=8080, configuration="/opt/tiny",
        command=list(command or ("sh", "/opt/tiny/run.sh")), writable=["/srv"],
    )  # fmt: skip
    return ContainerRuntime(TINY, ContainerImage(reference, "", contract, reference), network)


def start(how: ContainerRuntime, text: str, folder: Path) -> AbstractContextManager[Running]:
    return how.start(Script(text), None, folder, _ready(folder))


def _ready(folder: Path) -> Callable[[Running, int], Running]:
    def ask(running: Running, port: int) -> Running:
        assert port > 0
        if not (folder / "ready").exists():
            raise NotYetError
        return running

    return ask


def containers(network: ContainerNetwork) -> list[str]:
    """Return the ids of the containers of a network, ended ones included."""
    with closing(docker_daemon.client()) as client:
        results = client.containers.list(all=True, filters={"label": f"{OWNER}={network.owner}"})
        return [str(container.id) for container in results]

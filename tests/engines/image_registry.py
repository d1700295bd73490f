"""A registry of images on loopback, which serves images of ours under the official names."""

import io
import json
import shutil
import tarfile
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.runtime import docker_daemon
from harness.runtime.process import LOOPBACK, Command, Process, on_free_port, running, wait_until

PROGRAM = "docker-registry"
READY_S = 60.0
TIMEOUT_S = 600


@dataclass(frozen=True)
class Registry:
    address: str
    process: Process

    @property
    def prefix(self) -> str:
        return f"{self.address}/"

    def push(self, image: str, name: str) -> str:
        """Push an image of this machine under another name; return its digest there."""
        repository, _, tag = name.rpartition(":")
        address = f"{self.prefix}{repository}"
        with closing(docker_daemon.client()) as client:
            client.api.timeout = TIMEOUT_S
            client.images.get(image).tag(address, tag)
            lines = client.images.push(address, tag, stream=True, decode=True)
            results = [line["aux"]["Digest"] for line in lines if "aux" in line]
            client.images.remove(f"{address}:{tag}", noprune=True)
        return str(results[-1])


@contextmanager
def serving(folder: Path) -> Iterator[Registry]:
    with on_free_port(partial(_started, folder)) as result:
        yield result


def missing() -> str:
    return "" if shutil.which(PROGRAM) else f"{PROGRAM} is not there; Debian has it"


@contextmanager
def _started(folder: Path, port: int) -> Iterator[Registry]:
    address = f"{LOOPBACK}:{port}"
    settings = {
        "version": "0.1",
        "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
        "http": {"addr": address},
    }
    file = folder / "registry.yml"
    file.write_text(json.dumps(settings), encoding="utf-8")
    command = Command((PROGRAM, "serve", str(file)), folder, folder / "registry.log")
    with running(command) as process:
        wait_until(
            partial(_answers, address), process, timeout_s=READY_S, what=PROGRAM, not_yet=(OSError,)
        )
        yield Registry(address, process)


def _answers(address: str) -> None:
    with urllib.request.urlopen(f"http://{address}/v2/") as answer:
        assert answer.status == 200


def tiny_image(text: str) -> str:
    """Make an image that holds one file, and nothing that runs; return its id."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        entry = tarfile.TarInfo("text")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text.encode()))
    with closing(docker_daemon.client()) as client:
        output = client.api.import_image_from_data(made.getvalue())
        return str(json.loads(output.splitlines()[-1])["status"])

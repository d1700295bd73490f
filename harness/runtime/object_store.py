"""An object store of table states: it serves a folder, read-only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.artifacts.object_storage import BUCKET
from harness.runtime import template
from harness.runtime.api import Running, Runtime, Served, Surroundings
from harness.runtime.hive_launcher import joined
from harness.runtime.ports import LOOPBACK

READY_S: Final = 60.0
"""How long a start may take; 2 s on an idle machine."""
ANSWER_S: Final = 10.0
TEMPLATES: Final = "object-store"
_CONF: Final = "s3proxy.conf"


@dataclass(frozen=True, slots=True)
class ObjectStore(Served):
    """A store that answers."""

    url: str
    bucket: Path
    """The folder whose files are its objects."""


@dataclass(frozen=True, slots=True)
class ObjectStoreProgram:
    """S3Proxy; see `runtime.api.Program`."""

    distribution: Distribution
    buckets: Path
    """The folder whose folders are its buckets."""
    log: str = "s3proxy.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (OSError,)  # as are all of `requests`

    def files(self, around: Surroundings) -> Mapping[str, str]:
        """Return its configuration."""
        values = {"host": around.host, "port": around.port, "folder": self.buckets}
        return {_CONF: template.render(TEMPLATES, _CONF, values)}

    def environment(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - of the contract
        """Return none: all is in its files."""
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        """Return where its classes are."""
        return installation.jars("lib")

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        """Return the command line."""
        return (
            *(str(installation.java), *self.distribution.java_options, *around.jvm),
            f"-Djava.io.tmpdir={around.folder / 'tmp'}",
            *("-cp", joined(self.class_path(installation)), self.distribution.text("main")),
            *("--properties", str(around.conf / _CONF)),
        )


def serve(runtime: Runtime, folder: Path) -> AbstractContextManager[ObjectStore]:
    """Run a store with an empty bucket, for as long as the context lasts.

    `folder`: empty and the store's own.

    Raises:
        EnvironmentProblem: it did not get ready; the message holds the end of its log.

    """
    bucket = folder / "buckets" / BUCKET
    bucket.mkdir(parents=True)
    program = ObjectStoreProgram(runtime.distribution, bucket.parent, ready_s=READY_S)

    def ready(running: Running, port: int) -> ObjectStore:
        import requests  # noqa: PLC0415 - few runs have a store

        url = f"http://{LOOPBACK}:{port}"
        requests.head(f"{url}/{BUCKET}", timeout=ANSWER_S).raise_for_status()
        return ObjectStore(running, url, bucket)

    return runtime.start(program, None, folder, ready)

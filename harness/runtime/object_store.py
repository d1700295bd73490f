"""An object store of tables: it serves a folder."""

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
from harness.runtime.process import LOOPBACK

READY_S: Final = 60.0
"""How long a start may take; 2 s on an idle machine."""
ANSWER_S: Final = 10.0
TEMPLATES: Final = "object-store"
_CONF: Final = "s3proxy.conf"


@dataclass(frozen=True, slots=True)
class ObjectStore(Served):
    url: str
    bucket: Path


@dataclass(frozen=True, slots=True)
class ObjectStoreProgram:
    """S3Proxy; see `runtime.api.Program`."""

    distribution: Distribution
    buckets: Path
    writable: bool = False
    log: str = "s3proxy.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (OSError,)  # as are all of `requests`

    def files(self, around: Surroundings) -> Mapping[str, str]:
        values = {
            "host": around.host,
            "port": around.port,
            "folder": self.buckets,
            "read_only": str(not self.writable).lower(),
        }
        return {_CONF: template.render(TEMPLATES, _CONF, values)}

    def environment(self, around: Surroundings) -> Mapping[str, str]:
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return installation.jars("lib")

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        return (
            *(str(installation.java), *self.distribution.java_options, *around.jvm),
            f"-Djava.io.tmpdir={around.folder / 'tmp'}",
            *("-cp", joined(self.class_path(installation)), self.distribution.text("main")),
            *("--properties", str(around.conf / _CONF)),
        )


def serve(
    runtime: Runtime, folder: Path, written: Path | None = None
) -> AbstractContextManager[ObjectStore]:
    """Run a store in an empty folder; `written`: a bucket that all may write, not an empty one."""
    bucket, writable = written or folder / "buckets" / BUCKET, written is not None
    bucket.mkdir(parents=True, exist_ok=writable)
    program = ObjectStoreProgram(runtime.distribution, bucket.parent, writable, ready_s=READY_S)

    def ready(running: Running, port: int) -> ObjectStore:
        import requests  # noqa: PLC0415 - few runs have a store

        url = f"http://{LOOPBACK}:{port}"
        requests.head(f"{url}/{bucket.name}", timeout=ANSWER_S).raise_for_status()
        return ObjectStore(running, url, bucket)

    return runtime.start(program, None, folder, ready)

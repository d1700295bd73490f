"""Run a server as a process of this machine, out of what was fetched."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.runtime import hive_launcher, jvm_cds
from harness.runtime.api import MetastoreUris, Program, Running, Surroundings, nothing
from harness.runtime.process import LOOPBACK, Command, on_free_port, running, wait_until

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProcessRuntime:
    """Servers of an installation; see `api.Runtime`."""

    installation: Installation

    @property
    def distribution(self) -> Distribution:
        return self.installation.distribution

    @property
    def inside(self) -> str:
        return ""

    def start(
        self,
        program: Program,
        metastore: MetastoreUris | None,
        folder: Path,
        ready: Callable[[Running, int], T],
        end: Callable[[T], None] = nothing,
    ) -> AbstractContextManager[T]:
        (folder / "tmp").mkdir(exist_ok=True)
        uri, installation = metastore.host if metastore else "", self.installation

        @contextmanager
        def on_port(port: int) -> Iterator[T]:
            archive = jvm_cds.archive_for(installation, program.class_path(installation))
            conf, front = folder / "conf", hive_launcher.joined(installation.jars("front"))
            around = Surroundings(
                LOOPBACK, port, uri, folder, conf, front, installation, archive.options
            )
            write(program.files(around), conf)
            arguments = program.command(installation, around)
            log, environment = folder / program.log, program.environment(around)
            with running(Command(arguments, folder, log, environment)) as process:
                server = wait_until(
                    lambda: ready(process, port),
                    process,
                    timeout_s=program.ready_s,
                    what=program.distribution.name,
                    not_yet=program.not_yet,
                )
                try:
                    yield server
                    archive.keep(process, installation)
                finally:
                    end(server)

        return on_free_port(on_port)


def write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

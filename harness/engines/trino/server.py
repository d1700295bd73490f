"""Run a server of the Trino family as a process: its configuration, start, readiness, stop.

What differs from one version to the next is data in the distribution's `settings`: `main`,
`client_headers`, `plugins`, `config`, and what `trino_catalogs` says of catalogs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core import tolerances
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.engines import metastore_check
from harness.engines.api import Connection, NoAnswerError, ReaderSettings, RefusedError
from harness.engines.trino import connector_catalogs, startup
from harness.engines.trino.connector_catalogs import Catalogs
from harness.runtime import jvm_cds, template
from harness.runtime.ports import LOOPBACK, on_free_port
from harness.runtime.process import Command, Served, running
from harness.runtime.readiness import wait_until

TEMPLATES: Final = "trino"
READY_S: Final = 300.0
"""How long a start may take: 10 to 20 s on an idle machine, minutes were seen on a busy one."""
READY_QUERY_S: Final = 30.0
_QUICK: Final = ("-XX:MetaspaceSize=512m",)
"""Java begins with 21 MB for classes, and collects all garbage each time that it needs more."""


@dataclass(frozen=True, slots=True)
class TrinoServer(Served):
    """A running server."""

    port: int
    distribution: Distribution

    def connect(self, settings: ReaderSettings) -> Connection:
        """Open a session. `settings` choose the catalog, which stands in the SQL.

        Raises:
            NoAnswerError: the server cannot be reached.

        """
        del settings
        # Imported here: the client library is not needed to plan, judge or report.
        from harness.engines.trino.client import TrinoConnection  # noqa: PLC0415

        headers = self.distribution.text("client_headers")
        declared = tolerances.of(self.distribution.name)
        session = TrinoConnection(LOOPBACK, self.port, headers, declared)
        try:
            session.confirm(connector_catalogs.connectors(self.distribution))
        except NoAnswerError:
            session.close()
            raise
        return session


@contextmanager
def serve(
    installation: Installation,
    metastore_uri: str,
    folder: Path,
    progress: Progress,
    catalogs: Catalogs,
) -> Iterator[TrinoServer]:
    """Run a server in `folder` with these catalogs, ready when it reads a table.

    Raises:
        EnvironmentProblem: it did not get ready; the message holds the end of its log.

    """
    name = installation.distribution.name
    progress.note(f"start {name}")
    for catalog, values in catalogs.items():
        _write_catalog(folder / "catalog", catalog, values)
    _link_plugins(installation, folder / "plugin")
    (folder / "tmp").mkdir()
    table = startup.make(metastore_uri, folder / "ready")

    def start(port: int) -> AbstractContextManager[TrinoServer]:
        left = first_questions(catalogs, table)

        def ready(server: TrinoServer) -> None:
            with metastore_check.metastore_first(metastore_uri):
                _ask(server, left)

        return _started(installation, folder, port, ready)

    with on_free_port(start) as server:
        progress.note(f"{name} answers on port {server.port}")
        yield server


@contextmanager
def _started(
    installation: Installation, folder: Path, port: int, ready: Callable[[TrinoServer], None]
) -> Iterator[TrinoServer]:
    distribution = installation.distribution
    values = {
        "address": LOOPBACK,
        "port": port,
        "plugins": folder / "plugin",
        "catalogs": folder / "catalog",
        "properties": distribution.options("config"),
    }
    config = template.write(TEMPLATES, "config.properties", values, folder)
    archive = jvm_cds.of(installation, class_path(installation))
    arguments = command_line(installation, folder, config, archive.options)
    command = Command(arguments, folder, folder / "server.log")
    with running(command) as process:
        server = TrinoServer(process, port, distribution)
        wait_until(
            lambda: ready(server),
            process,
            timeout_s=READY_S,
            what=distribution.name,
            not_yet=(NoAnswerError, RefusedError),
        )
        yield server
        archive.keep(process, installation)


def first_questions(catalogs: Iterable[str], table: str) -> list[str]:
    """Return what a new server must answer: schemas through each catalog, and a table."""
    schemas = (f'show schemas from "{catalog}"' for catalog in catalogs)
    return [*schemas, startup.query(connector_catalogs.READY, table)]


def _ask(server: TrinoServer, left: list[str]) -> None:
    """Ask what is left, and take from it what was answered: once is enough of each."""
    with closing(server.connect({})) as session:
        while left:
            session.ask(left[0], timeout_s=READY_QUERY_S)
            del left[0]


def command_line(
    installation: Installation, folder: Path, config: Path, jvm: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the command line; the servers need no launcher. `jvm`: options beside its own.

    Raises:
        EnvironmentProblem: the distribution has no server tree.

    """
    patches, jars = class_path(installation)[:-1], class_path(installation)[-1] / "*"
    found = os.pathsep.join(map(str, (*patches, jars)))
    return (
        *(str(installation.java), *installation.distribution.java_options, *_QUICK, *jvm),
        *(f"-Djava.io.tmpdir={folder / 'tmp'}", f"-Dconfig={config}"),
        *("-cp", found, installation.distribution.text("main")),
    )


def class_path(installation: Installation) -> tuple[Path, ...]:
    """Return the folders of the class path: of patched classes, if there are any, and of jars.

    Raises:
        EnvironmentProblem: the distribution has no server tree.

    """
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no server archive")
    patches = (installation.patches,) if installation.patches else ()
    return (*patches, installation.home / "lib")


def _write_catalog(catalogs: Path, name: str, values: Mapping[str, object]) -> None:
    catalogs.mkdir(exist_ok=True)
    text = template.render(TEMPLATES, "catalog.properties", values)
    (catalogs / f"{name}.properties").write_text(text, encoding="utf-8")


def _link_plugins(installation: Installation, plugins: Path) -> None:
    """Show the server only the plugins that are needed; each one more costs start-up and memory."""
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no server archive")
    plugins.mkdir()
    for name in installation.distribution.texts("plugins"):
        (plugins / name).symlink_to(installation.home / "plugin" / name)

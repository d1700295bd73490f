"""Run a server of the Trino family as a process: its configuration, start, readiness, stop.

What differs from one version to the next is data in the distribution's `settings`: `main`,
`client_headers`, `plugins`, `config`, and what `connector_catalogs` says of catalogs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from uuid import uuid4

from harness.artifacts.distribution import Distribution
from harness.artifacts.fetch import Installation
from harness.core import tolerances
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.engines import engine_support
from harness.engines.api import Connection, NoAnswerError, Question, ReaderSettings, RefusedError
from harness.engines.trino import connector_catalogs
from harness.engines.trino.connector_catalogs import Catalogs
from harness.runtime import metastore_client, template
from harness.runtime.api import MetastoreUris, Running, Runtime, Served, Surroundings
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.metastore_objects import parquet_entry
from harness.runtime.process import LOOPBACK

DATABASE: Final = "harness_ready"
"""Of a table that a new server must be able to read before it counts as ready."""


def make_ready_table(metastore_uri: str, folder: Path) -> str:
    """Make a Hive Parquet table of one row in the new `folder`; gives its name in DATABASE.

    It stays in the metastore, which is the run's own. A Trino 476 that answers `select 1` and
    `show schemas from hive` can still refuse every table for some seconds with NO_NODES_AVAILABLE,
    until its coordinator has noticed (it looks every 5 s) that its own worker has the catalogs.

    Raises EnvironmentProblem: the metastore does not answer, or refuses the table.
    """
    # Imported here: it takes a while, and planning, judging and reporting do without.
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    folder.mkdir()
    parquet.write_table(pa.table({"id": [1]}), folder / "one.parquet")
    name = f"t_{uuid4().hex}"
    try:
        with metastore_client.connect(metastore_uri) as client:
            client.register(DATABASE, [parquet_entry(name, [("id", "bigint")])], str(folder))
    except CatalogRefusedError as refused:
        raise EnvironmentProblem(f"the metastore at {metastore_uri}: {refused}") from refused
    return name


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
    statement: Callable[[ReaderSettings, Question], tuple[str, str]]
    """Returns the catalog that a question is about, by the reader's settings, and the SQL."""

    def connect(self, settings: ReaderSettings) -> Connection:
        # Imported here: the client library is not needed to plan, judge or report.
        from harness.engines.trino.client import TrinoConnection  # noqa: PLC0415

        headers = self.distribution.text("client_headers")
        declared = tolerances.declared_for(self.distribution.name)
        statement = partial(self.statement, settings)
        session = TrinoConnection((LOOPBACK, self.port), headers, declared, statement)
        try:
            session.confirm(connector_catalogs.connectors(self.distribution))
        except NoAnswerError:
            session.close()
            raise
        return session


@dataclass(frozen=True, slots=True)
class TrinoProgram:
    """A server with some catalogs; see `runtime.api.Program`."""

    distribution: Distribution
    catalogs: Callable[[str], Catalogs]
    """Given the URI of the metastore, returns the values of each catalog."""
    log: str = "server.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (NoAnswerError, RefusedError)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        local = around.installation is not None
        values = {
            "address": around.host,
            "port": around.port,
            "plugins": around.folder / "plugin" if local else "",
            "catalogs": around.conf / "catalog",
            "properties": self.distribution.options("config"),
        }
        files = {"config.properties": template.render(TEMPLATES, "config.properties", values)}
        for name, catalog in self.catalogs(around.metastore).items():
            text = template.render(TEMPLATES, "catalog.properties", catalog)
            files[f"catalog/{name}.properties"] = text
        return files

    def environment(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - of the contract
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        return class_path(installation)

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        _link_plugins(installation, around.folder / "plugin")
        config = around.conf / "config.properties"
        return command_line(installation, around.folder, config, around.jvm)


@contextmanager
def serve(
    runtime: Runtime,
    metastore: MetastoreUris,
    folder: Path,
    progress: Progress,
    catalogs: Callable[[str], Catalogs],
    statement: Callable[[ReaderSettings, Question], tuple[str, str]],
) -> Iterator[TrinoServer]:
    """Run a server in `folder`, ready when it reads a table.

    `catalogs`: given the URI of the metastore, returns the values of each catalog.

    Raises EnvironmentProblem: it did not get ready; the message holds the end of its log.
    """
    distribution = runtime.distribution
    progress.note(f"start {distribution.name}")
    program = TrinoProgram(distribution, catalogs, ready_s=READY_S)
    table = make_ready_table(metastore.host, folder / "ready")
    names = tuple(catalogs(metastore.host))
    left: dict[Running, list[str]] = {}

    def ready(running: Running, port: int) -> TrinoServer:
        server = TrinoServer(running, port, distribution, statement)
        questions = left.setdefault(running, first_questions(names, table))
        with engine_support.metastore_first(metastore.host):
            _ask(server, questions)
        return server

    with runtime.start(program, metastore, folder, ready) as server:
        progress.note(f"{distribution.name} answers on port {server.port}")
        yield server


def first_questions(catalogs: Iterable[str], table: str) -> list[str]:
    """Return what a new server must answer: schemas through each catalog, and a table."""
    schemas = (f'show schemas from "{catalog}"' for catalog in catalogs)
    return [*schemas, f'select id from "{connector_catalogs.READY}"."{DATABASE}"."{table}"']


def _ask(server: TrinoServer, left: list[str]) -> None:
    """Ask what is left, and take from it what was answered: once is enough of each."""
    with closing(server.connect({})) as session:
        while left:
            session.run(left[0], timeout_s=READY_QUERY_S)
            del left[0]


def command_line(
    installation: Installation, folder: Path, config: Path, jvm: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the command line; the servers need no launcher. `jvm`: options beside its own.

    Raises EnvironmentProblem: the distribution has no server tree.
    """
    patches, jars = class_path(installation)[:-1], class_path(installation)[-1] / "*"
    class_path_text = os.pathsep.join(map(str, (*patches, jars)))
    return (
        *(str(installation.java), *installation.distribution.java_options, *_QUICK, *jvm),
        *(f"-Djava.io.tmpdir={folder / 'tmp'}", f"-Dconfig={config}"),
        *("-cp", class_path_text, installation.distribution.text("main")),
    )


def class_path(installation: Installation) -> tuple[Path, ...]:
    """Return the folders of the class path: of patched classes, if there are any, and of jars.

    Raises EnvironmentProblem: the distribution has no server tree.
    """
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no server archive")
    patches = (installation.patches,) if installation.patches else ()
    return (*patches, installation.home / "lib")


def _link_plugins(installation: Installation, plugins: Path) -> None:
    """Show the server only the plugins that are needed; each one more costs start-up and memory."""
    plugins.mkdir(exist_ok=True)  # from a start that did not get its port
    for name in installation.distribution.texts("plugins"):
        if not (plugins / name).is_symlink():
            (plugins / name).symlink_to(class_path(installation)[-1].parent / "plugin" / name)

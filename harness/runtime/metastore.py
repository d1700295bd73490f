"""The Hive metastore that all engines of a run share: Derby, thrown away at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts import distributions
from harness.artifacts.cache import Cache
from harness.artifacts.distribution import Distribution
from harness.artifacts.distributions import digest_of
from harness.artifacts.fetch import Installation
from harness.core import runtime_names
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.core.runtime_names import CONTAINER, PROCESS, S3
from harness.runtime import hive_launcher, memory, metastore_client, template
from harness.runtime.api import MetastoreUris, Running, Runtime, Served, Surroundings
from harness.runtime.log_file import tail
from harness.runtime.metastore_client import CatalogRefusedError
from harness.runtime.object_store import ObjectStore
from harness.runtime.ports import LOOPBACK
from harness.runtime.process import Command, ProcessProblem, finished

DISTRIBUTION: Final = "hive-metastore-3.1.3"
"""The one metastore for all engines: what every one of them was seen to read through."""
READY_S: Final = 180.0
"""How long it may take to answer; 4 s on an idle machine."""

SCHEMA_S: Final = 300.0

WAREHOUSE: Final = "warehouse"
LOG: Final = "hive-log4j2.properties"
"""Hive looks for a file of this name."""
_TEMPLATES: Final = "metastore"
_DERBY: Final = ("-Dderby.system.durability=test", "-Dderby.stream.error.file=/dev/null")
"""No waiting for the disk (the database does not outlive the run), and no log of Derby's own."""


def distribution_for(names: Iterable[str]) -> str:
    """Return the metastore that these distributions can reach.

    From a container no process on loopback is reached; a container's port is published there. One
    that knows tables of an object store knows those of the disk as well.
    """
    found = [distributions.load(name) for name in names]
    if any(each.warehouse for each in found):
        return runtime_names.in_runtime(DISTRIBUTION, S3)
    contained = any(each.runtime == CONTAINER for each in found)
    return runtime_names.in_runtime(DISTRIBUTION, CONTAINER if contained else PROCESS)


@dataclass(frozen=True, slots=True)
class Metastore(Served):
    """A metastore that answers."""

    uris: MetastoreUris
    warehouse: Path
    """Folder of databases and tables that are created without a location."""
    store: ObjectStore | None = None
    """What serves tables of an object store, where some are there."""

    @property
    def bucket(self) -> Path | None:
        """The folder that is served as objects; None where there is none."""
        return self.store.bucket if self.store else None

    def alive(self) -> bool:
        """Return whether it still runs, and the object store."""
        return self.running.alive() and (self.store is None or self.store.alive())

    @property
    def uri(self) -> str:
        """How it is reached from this machine: `thrift://127.0.0.1:port`."""
        return self.uris.host


@dataclass(frozen=True, slots=True)
class MetastoreProgram:
    """The metastore; see `runtime.api.Program`."""

    distribution: Distribution
    log: str = "metastore.log"
    ready_s: float = READY_S
    not_yet: tuple[type[Exception], ...] = (EnvironmentProblem, CatalogRefusedError)

    def files(self, around: Surroundings) -> Mapping[str, str]:
        """Return its configuration."""
        values = {
            "database": around.folder / "derby",
            "warehouse": around.folder / WAREHOUSE,
            "properties": self.distribution.options_if_any("site"),
        }
        return {
            "hive-site.xml": template.render(_TEMPLATES, "hive-site.xml", values),
            LOG: template.render(_TEMPLATES, LOG, {"level": "WARN"}),
        }

    def environment(self, around: Surroundings) -> Mapping[str, str]:  # noqa: ARG002 - of the contract
        """Return none: all is in its files."""
        return {}

    def class_path(self, installation: Installation) -> Sequence[Path]:
        """Return where its classes are."""
        return installation.jars("loader")

    def command(self, installation: Installation, around: Surroundings) -> tuple[str, ...]:
        """Return the command line."""
        log4j = f"-Dlog4j.configurationFile={around.conf / LOG}"
        tmp = f"-Djava.io.tmpdir={around.folder / 'tmp'}"
        main = (installation.distribution.text("main"), "-p", str(around.port))
        own = (*_DERBY, tmp, log4j, *around.jvm)
        return hive_launcher.command(installation, around.conf, main, own)


def serve(
    runtime: Runtime, prepared: Path | None, folder: Path
) -> AbstractContextManager[Metastore]:
    """Run a metastore with nothing in it but the database `default`.

    Args:
        runtime: how it runs.
        prepared: the empty database that it starts from, see `schema`; None where it makes its own.
        folder: empty and its own: configuration, Derby's files, `metastore.log`, and the warehouse.

    Raises:
        EnvironmentProblem: it did not get ready; the message holds the end of its log.

    """
    memory.check(runtime.distribution)
    if prepared:
        shutil.copytree(prepared, folder / "derby", ignore=shutil.ignore_patterns("*.lck"))
    (folder / WAREHOUSE).mkdir()

    def ready(running: Running, port: int) -> Metastore:
        uri = f"thrift://{LOOPBACK}:{port}"
        _ask(uri)
        uris = MetastoreUris(uri, f"thrift://{runtime.inside}" if runtime.inside else "")
        return Metastore(running, uris, folder / WAREHOUSE)

    program = MetastoreProgram(runtime.distribution, ready_s=READY_S)
    return runtime.start(program, None, folder, ready)


def _ask(uri: str) -> None:
    with metastore_client.connect(uri) as found:
        found.entries("default")


def schema(installation: Installation, cache: Cache, progress: Progress) -> Path:
    """Return the folder of an empty metastore database, made once and then only copied.

    Raises:
        ProcessProblem: Hive's SQL cannot be loaded.

    """
    script = _script(installation)
    key = digest_of([script.read_text(encoding="utf-8"), installation.distribution.name])
    prepared = cache.tree(key)
    with cache.lock(prepared):
        if not prepared.is_dir():
            progress.note(f"prepare the metastore's database → {prepared}")
            with cache.workspace(prepared) as work:
                made = work / "derby"
                _load(installation, script, made)
                made.rename(prepared)
    return prepared


def _script(installation: Installation) -> Path:
    if installation.home is None:
        raise EnvironmentProblem(f"{installation.distribution.name} has no schema archive")
    return installation.home / installation.distribution.text("schema_sql")


def _load(installation: Installation, script: Path, database: Path) -> None:
    """Run the SQL with Derby's own program; Hive's schematool needs a library it does not bring."""
    jars = (*installation.jars("schema"), *installation.jars("lib"))
    derby = [jar for jar in jars if jar.name.startswith("derby")]
    arguments = [
        *(str(installation.java), "-Xmx256m", *_DERBY, "-cp", hive_launcher.joined(derby)),
        f"-Dij.database=jdbc:derby:;databaseName={database};create=true",
        *(installation.distribution.text("schema_main"), str(script)),
    ]
    log = database.parent / "ij.log"
    status = finished(Command(tuple(arguments), database.parent, log), SCHEMA_S)
    if status or "ERROR" in log.read_text(encoding="utf-8", errors="replace"):
        raise ProcessProblem(f"{script.name} cannot be loaded into Derby", tail(log, 20))

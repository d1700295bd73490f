"""The Hive metastore that all engines of a run share: Derby, thrown away at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.artifacts.cache import Cache
from harness.artifacts.distributions import digest_of
from harness.artifacts.fetch import Installation
from harness.core.errors import EnvironmentProblem
from harness.core.progress import Progress
from harness.runtime import hive_launcher, jvm_cds, memory, metastore_client, template
from harness.runtime.log_file import tail
from harness.runtime.ports import LOOPBACK, on_free_port
from harness.runtime.process import Command, ProcessProblem, Served, finished, running
from harness.runtime.readiness import wait_until

DISTRIBUTION: Final = "hive-metastore-3.1.3"
"""The one metastore for all engines: what every one of them was seen to read through."""
READY_S: Final = 180.0
"""How long it may take to answer; 4 s on an idle machine."""

SCHEMA_S: Final = 300.0

_TEMPLATES: Final = "metastore"
_DERBY: Final = ("-Dderby.system.durability=test", "-Dderby.stream.error.file=/dev/null")
"""No waiting for the disk (the database does not outlive the run), and no log of Derby's own."""


@dataclass(frozen=True, slots=True)
class Metastore(Served):
    """A metastore that answers."""

    uri: str
    """`thrift://127.0.0.1:port`"""
    warehouse: Path
    """Folder of databases and tables that are created without a location."""


@contextmanager
def serve(
    installation: Installation, cache: Cache, folder: Path, progress: Progress
) -> Iterator[Metastore]:
    """Run a metastore with nothing in it but the database `default`.

    `folder` is empty and its own: configuration, Derby's files, `metastore.log`, and the
    warehouse. `cache` keeps the empty database that runs start from.

    Raises:
        EnvironmentProblem: it did not get ready; the message holds the end of its log.

    """
    memory.check(installation.distribution)
    prepared = schema(installation, cache, progress)
    database = folder / "derby"
    shutil.copytree(prepared, database, ignore=shutil.ignore_patterns("*.lck"))
    conf = folder / "conf"
    warehouse = folder / "warehouse"
    for needed in (warehouse, folder / "tmp"):
        needed.mkdir()
    values = {"database": database, "warehouse": warehouse}
    template.write(_TEMPLATES, "hive-site.xml", values, conf)
    template.write(_TEMPLATES, "log4j2.properties", {"level": "WARN"}, conf)

    def start(port: int) -> AbstractContextManager[Metastore]:
        return _started(installation, folder, warehouse, port)

    with on_free_port(start) as metastore:
        yield metastore


@contextmanager
def _started(
    installation: Installation, folder: Path, warehouse: Path, port: int
) -> Iterator[Metastore]:
    conf = folder / "conf"
    main = (installation.distribution.text("main"), "-p", str(port))
    log4j = f"-Dlog4j.configurationFile={conf / 'log4j2.properties'}"
    tmp = f"-Djava.io.tmpdir={folder / 'tmp'}"
    archive = jvm_cds.of(installation, installation.jars("loader"))
    jvm = (*_DERBY, tmp, log4j, *archive.options)
    arguments = hive_launcher.command(installation, conf, main, jvm)
    uri = f"thrift://{LOOPBACK}:{port}"
    with running(Command(arguments, folder, folder / "metastore.log")) as process:
        wait_until(
            lambda: _ask(uri),
            process,
            timeout_s=READY_S,
            what=f"the metastore ({installation.distribution.name})",
            not_yet=(EnvironmentProblem, metastore_client.CatalogRefusedError),
        )
        yield Metastore(process, uri, warehouse)
        archive.keep(process, installation)


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
